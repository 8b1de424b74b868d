"""What was counted here beside what a provider reported."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

# A correction follows the newest calls, so that a provider's change of tokenizer is soon known.
NEWEST = 50
OFF = 0.10


@dataclass(frozen=True, kw_only=True)
class Counted:
    """One call: tokens of the prompt as counted here and as reported, and how many of those came from a cache."""

    counted: int
    reported: int
    cached: int | None = None

    @property
    def ratio(self) -> float:
        return self.reported / self.counted

    @property
    def is_off(self) -> bool:
        # Of what was reported: that is what is paid for, and what a window holds.
        return abs(self.counted - self.reported) > OFF * self.reported


def correction(calls: Sequence[Counted]) -> float | None:
    """By what a count is to be multiplied to come near the provider's: the median of the newest; newest first."""
    return median(call.ratio for call in calls[:NEWEST]) if calls else None


def off_share(calls: Sequence[Counted]) -> float | None:
    """Share of the calls that were counted wrong by more than is allowed; None where there are none."""
    return sum(call.is_off for call in calls) / len(calls) if calls else None


def cached_share(calls: Sequence[Counted]) -> float | None:
    """Of the tokens of those calls whose provider says what came from its cache."""
    told = [(call.cached, call.reported) for call in calls if call.cached is not None]
    return sum(cached for cached, _ in told) / sum(reported for _, reported in told) if told else None
