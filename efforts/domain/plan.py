"""The context plan: what one model call is sent, what is left out, and why."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from .budget import Budget
from .conversation import CurrentTurn, OlderTurns, PastTurn
from .reasons import REMEDIES, SENTENCES, Reason
from .rendering import Recipe

# Raise it when the same inputs give another plan: verify_plans tells plans of other versions apart.
PLANNER_VERSION = "1"

Section = Literal["system", "constraint", "pin", "summary", "ambient", "expanded", "open", "active", "recall", "turn"]


@dataclass(frozen=True, kw_only=True)
class Layout:
    """The cuts of one call that the next one keeps, so that the prompt grows at its end.

    `first_kept` is a turn's number; large messages are cut up to the one with the id `cut_through`.
    """

    first_kept: int = 0
    cut_through: int = 0
    budget: int = 0

    def under(self, budget: int) -> Layout:
        """What of it still stands: all, or nothing once the budget is another."""
        # A larger budget must be able to bring turns back at once; a smaller one needs cuts of its own.
        return self if self.budget == budget else Layout()

    def to_json(self) -> dict[str, int]:
        return {"first_kept": self.first_kept, "cut_through": self.cut_through, "budget": self.budget}

    @classmethod
    def from_json(cls, value: Mapping[str, int]) -> Layout:
        return cls(**value)


@dataclass(frozen=True, kw_only=True)
class PlanInputs:
    """All that a plan depends on. `past` holds the newest turns, `older` the sum of all before them."""

    budget: Budget
    params: Mapping[str, Any]
    system_text: str
    tools: tuple[Mapping[str, Any], ...]
    past: tuple[PastTurn, ...]
    older: OlderTurns
    current: CurrentTurn
    ambient_window: int
    layout: Layout
    # The tokenizer comes in as a function, because this package must not import one.
    count: Callable[[str], int]
    cut_current: bool = False


@dataclass(frozen=True, kw_only=True)
class Item:
    """One candidate, or a run of turns with the same decision. `sha256` covers what it renders to."""

    section: Section
    title: str
    tokens: int
    reason: Reason
    included: bool
    turns: tuple[int, int] | None = None
    values: Mapping[str, Any] = field(default_factory=dict)
    sha256: str = ""

    @property
    def sentence(self) -> str:
        return SENTENCES[self.reason].format_map({"tokens": f"{self.tokens:,}", **self.values})

    @property
    def remedy(self) -> str:
        return REMEDIES.get(self.reason, "").format_map({"tokens": f"{self.tokens:,}", **self.values})

    def to_json(self) -> dict[str, Any]:
        return {
            "section": self.section,
            "title": self.title,
            "tokens": self.tokens,
            "reason": str(self.reason),
            "included": self.included,
            "turns": list(self.turns) if self.turns else None,
            "values": dict(self.values),
            "sha256": self.sha256,
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Item:
        turns = value["turns"]
        return cls(**{**value, "reason": Reason(value["reason"]), "turns": (turns[0], turns[1]) if turns else None})


@dataclass(frozen=True, kw_only=True)
class Plan:
    """Never over its budget: `tokens <= budget`, the rendered request counted."""

    items: tuple[Item, ...]
    sections: Mapping[str, int]
    recipe: Recipe
    params: Mapping[str, Any]
    fragments: Mapping[str, str]
    layout: Layout
    tokens: int
    budget: Budget
    request: dict[str, Any]
    request_sha256: str

    def body(self) -> dict[str, Any]:
        """What is stored: ids and hashes, no copies of text."""
        return {
            # Plans outlive this code: whoever changes the shape must go on reading the old one.
            "v": 1,
            "items": [item.to_json() for item in self.items],
            "sections": dict(self.sections),
            "recipe": self.recipe,
            "params": dict(self.params),
            "layout": self.layout.to_json(),
            "budget": {"setting": self.budget.setting, "window": self.budget.window, "reply": self.budget.reply},
        }


@dataclass(frozen=True)
class RequiredTooLarge(Exception):
    """What must be sent does not fit: nothing is sent, and `parts` says which part needs how many tokens."""

    parts: tuple[tuple[str, int], ...]
    budget: int

    @property
    def needed(self) -> int:
        return sum(tokens for _, tokens in self.parts)
