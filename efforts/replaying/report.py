"""What the replay of one file showed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from .conversations import Talk
from .playing import Call, Settings, play
from .prefix import Stability, shares, text_of
from .seed import seed_request


@dataclass(kw_only=True)
class Report:
    """`seed`: the same calls in the seeds' layout."""

    name: str
    conversations: int = 0
    calls: int = 0
    refused: int = 0
    over_budget: int = 0
    largest: int = 0
    product: Stability = field(default_factory=Stability)
    seed: Stability = field(default_factory=Stability)

    def add(self, calls: Sequence[Call]) -> None:
        sent = [(call, call.planned) for call in calls if call.planned]
        self.conversations += 1
        self.calls += len(calls)
        self.refused += len(calls) - len(sent)
        self.over_budget += sum(planned.tokens > planned.budget.effective for _, planned in sent)
        self.largest = max([self.largest, *(planned.tokens for _, planned in sent)])
        self.product.follow((text_of(planned.request), call.moved) for call, planned in sent)
        self.seed.follow((text_of(seed_request(planned.inputs)), call.moved) for call, planned in sent)

    def as_json(self) -> dict[str, Any]:
        facts = ("name", "conversations", "calls", "refused", "over_budget", "largest")
        return {
            **{fact: getattr(self, fact) for fact in facts},
            "unchanged_prefix": {
                whose: {"inside": shares(found.inside), "transitions": shares(found.moved)}
                for whose, found in (("product", self.product), ("seed_layout", self.seed))
            },
        }


def replayed(name: str, talks: Iterable[Talk], settings: Settings, tell: Callable[[Talk], object]) -> Report:
    report = Report(name=name)
    for talk in talks:
        report.add(list(play(talk, settings)))
        tell(talk)
    return report
