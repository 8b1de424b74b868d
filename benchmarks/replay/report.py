"""What the replay of conversations showed, call by call and in sum."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from statistics import mean
from typing import Any

from efforts.domain.prompt.plan import Plan

from .ceiling import Ceiling
from .conversations import Talk
from .playing import Call, Played, Settings, on_stage
from .prefix import Stability, shares, text_of, unchanged
from .seed import seed_request

# Beside the tokens sent: what else could have been.
BASELINES = ("naive", "effort_logs")


@dataclass(kw_only=True)
class Prefix:
    """How much of each request is the beginning of the next; `stability` in sum."""

    before: str = ""
    stability: Stability = field(default_factory=Stability)

    def follow(self, now: str, *, moved: bool) -> list[float] | None:
        """Shares of the request before, and of this."""
        before, self.before = self.before, now
        if not before:
            return None
        same = unchanged(before, now)
        self.stability.add(same / len(before), same / len(now), moved=moved)
        return [round(same / len(before), 3), round(same / len(now), 3)]


@dataclass(kw_only=True)
class Figures:
    """Of one conversation, or of all of a file. `states`: turns by how they ended; `tokens` of the calls sent."""

    turns: int = 0
    refused: int = 0
    over_budget: int = 0
    states: Counter[str] = field(default_factory=Counter)
    efforts: Counter[str] = field(default_factory=Counter)
    tokens: list[int] = field(default_factory=list)
    beside: dict[str, list[int]] = field(default_factory=lambda: {name: [] for name in BASELINES})
    product: Stability = field(default_factory=Stability)
    seed: Stability = field(default_factory=Stability)
    ceiling: Ceiling = field(default_factory=Ceiling)

    def add(self, played: Played) -> None:
        self.turns += 1
        self.refused += played.refused
        self.states[str(played.state)] += 1
        for call in played.calls:
            self.over_budget += call.planned.tokens > call.planned.budget.effective
            self.tokens.append(call.planned.tokens)
            for name, values in self.beside.items():
                values.append(getattr(call, name))

    def join(self, other: Figures) -> None:
        for name in ("turns", "refused", "over_budget"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.states += other.states
        self.efforts += other.efforts
        self.tokens += other.tokens
        for name, values in self.beside.items():
            values += other.beside[name]
        self.product.join(other.product)
        self.seed.join(other.seed)
        self.ceiling.join(other.ceiling)

    def as_json(self) -> dict[str, Any]:
        return {
            "turns": self.turns,
            "states": dict(sorted(self.states.items())),
            "calls": len(self.tokens),
            "refused": self.refused,
            "over_budget": self.over_budget,
            **course(self.tokens),
            **{name: {**course(values), "saved": saved(self.tokens, values)} for name, values in self.beside.items()},
            "unchanged_prefix": {
                whose: {"inside": shares(found.inside), "transitions": shares(found.moved)}
                for whose, found in (("product", self.product), ("seed_layout", self.seed))
            },
            "prefix_ceiling": self.ceiling.as_json(),
            "events": dict(sorted(self.efforts.items())),
        }


def course(tokens: Sequence[int]) -> dict[str, int]:
    if not tokens:
        return {"peak": 0, "trough": 0, "mean": 0, "cumulative": 0}
    return {"peak": max(tokens), "trough": min(tokens), "mean": round(mean(tokens)), "cumulative": sum(tokens)}


def saved(tokens: Sequence[int], instead: Sequence[int]) -> float | None:
    """The share of the sum that was not sent."""
    return round(1 - sum(tokens) / sum(instead), 3) if sum(instead) else None


@dataclass(kw_only=True)
class Conversation:
    id: str
    turns: list[dict[str, Any]] = field(default_factory=list)
    figures: Figures = field(default_factory=Figures)
    product: Prefix = field(default_factory=Prefix)
    seed: Prefix = field(default_factory=Prefix)
    before: Plan | None = None

    def add(self, played: Played) -> None:
        self.figures.add(played)
        row = {"turn": played.number, "session": played.session, "effort": played.effort, "state": str(played.state)}
        self.turns.append(
            {**row, **({"code": played.code} if played.code else {}), "calls": list(map(self.row_of, played.calls))}
        )

    def row_of(self, call: Call) -> dict[str, Any]:
        planned = call.planned
        before, self.before = self.before, planned
        moved = before is None or planned.inputs.epoch != before.inputs.epoch
        step = self.figures.ceiling.follow(before, planned) if before else None
        return {
            "tokens": planned.tokens,
            "sections": dict(planned.sections),
            **{name: getattr(call, name) for name in BASELINES},
            "moved": moved,
            "unchanged": self.product.follow(text_of(planned.request), moved=moved),
            "ceiling": round(step.could, 3) if step else None,
            "seed_unchanged": self.seed.follow(text_of(seed_request(planned.inputs)), moved=moved),
        }

    def end(self, told: dict[str, int]) -> None:
        self.figures.efforts.update(told)
        self.figures.product, self.figures.seed = self.product.stability, self.seed.stability

    def as_json(self) -> dict[str, Any]:
        return {"id": self.id, **self.figures.as_json(), "per_turn": self.turns}


@dataclass(kw_only=True)
class Report:
    name: str
    settings: Settings
    conversations: list[Conversation] = field(default_factory=list)

    @property
    def all(self) -> Figures:
        figures = Figures()
        for conversation in self.conversations:
            figures.join(conversation.figures)
        return figures

    @property
    def holds(self) -> bool:
        return not any(conversation.figures.over_budget for conversation in self.conversations)

    def play(self, talk: Talk, tell: Callable[[Played], object]) -> Conversation:
        conversation = Conversation(id=talk.id)
        with on_stage(talk, self.settings) as player:
            for played in player.play():
                conversation.add(played)
                tell(played)
            conversation.end(player.told())
        self.conversations.append(conversation)
        return conversation

    def as_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "all": self.all.as_json(),
            "conversations": [conversation.as_json() for conversation in self.conversations],
        }
