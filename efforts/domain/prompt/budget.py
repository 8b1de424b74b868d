"""How many tokens a prompt may have."""

from __future__ import annotations

from dataclasses import dataclass

DEFAULT_BUDGET = 16_000
# System text and tools take up to 1,500 of it; with less a conversation has no room to be one.
SMALLEST_BUDGET = 4_000
# Room that is kept for the reply where no limit is set; with one, that is kept. It is no limit itself.
REPLY_RESERVE = 2_048
# The model may count with another tokenizer than we do.
SAFETY = 256
LARGER_WINDOW = "Choose a model with a larger window."
LOWER_LIMIT = "Choose a model with a larger window, or set a lower reply limit."


class BudgetTooSmall(ValueError):
    """The setting, or what the model's window leaves, is under `SMALLEST_BUDGET`."""


@dataclass(frozen=True, kw_only=True)
class Budget:
    """`effective = min(setting, window - reply - safety)`, all in tokens."""

    setting: int
    window: int | None = None
    reply: int = REPLY_RESERVE
    safety: int = SAFETY

    @property
    def effective(self) -> int:
        room = self.setting if self.window is None else min(self.setting, self.window - self.reply - self.safety)
        if room < SMALLEST_BUDGET:
            raise BudgetTooSmall(self._too_small(room))
        return room

    @property
    def largest_setting(self) -> int | None:
        """What the setting could be raised to; None where the model's window is not known."""
        return None if self.window is None else self.window - self.reply - self.safety

    def raised_for(self, needed: int) -> int | None:
        """A setting with which `needed` tokens fit, and a little talk besides; None where the window has no room."""
        largest = self.largest_setting
        if largest is None:
            return rounded_up(needed)
        return min(rounded_up(needed), largest) if needed <= largest else None

    def _too_small(self, room: int) -> str:
        if self.setting < SMALLEST_BUDGET:
            return f"A budget of {self.setting:,} tokens is too small: {SMALLEST_BUDGET:,} is the least."
        least = (
            f"The model's window of {self.window:,} tokens leaves {max(room, 0):,} for the prompt after "
            f"{self.reply:,} for the reply and {self.safety:,} for safety; {SMALLEST_BUDGET:,} is the least."
        )
        return f"{least} {LOWER_LIMIT if self.reply > REPLY_RESERVE else LARGER_WINDOW}"


def rounded_up(tokens: int) -> int:
    """A budget that takes `tokens` and a little talk besides."""
    return (tokens + 2_000) // 1_000 * 1_000
