"""What the questions of a file showed, beside what others find in the same messages."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from benchmarks.replay import Talk

from .asking import Asked, Chosen, ask, staged
from .baselines import Fts5, Keywords
from .evidence import Target, Told
from .ranks import Table, distinct, figures, recall
from .remarks import overhear

PRODUCT = "product"
BASELINES: Mapping[str, Callable[[Mapping[str, str]], Fts5 | Keywords]] = {
    "fts5": Fts5,
    "fts5, every word": lambda texts: Fts5(texts, every_word=True),
    "seed's keywords": Keywords,
}


@dataclass(kw_only=True)
class Found:
    """What one method finds: messages; sessions, by the messages; and sessions as search_efforts has them."""

    messages: Table = field(default_factory=Table)
    sessions: Table = field(default_factory=Table)
    efforts: Table = field(default_factory=Table)

    def as_json(self) -> dict[str, Any]:
        tables = {"messages": self.messages, "sessions": self.sessions, "search_efforts": self.efforts}
        return {name: table.as_json() for name, table in tables.items() if table.rows}


@dataclass(kw_only=True)
class Fired:
    """How often recall brought something, and of those times how often it was right."""

    fired: Table = field(default_factory=Table)
    right: Table = field(default_factory=Table)

    def add(self, category: str, *, fired: bool, right: bool) -> None:
        self.fired.add(category, {"fired": float(fired)})
        if fired:
            self.right.add(category, {"right": float(right)})

    def as_json(self) -> dict[str, Any]:
        right = self.right.as_json()
        return {
            category: {"asked": row["questions"], "fired": row["fired"], "right": right.get(category, {}).get("right")}
            for category, row in self.fired.as_json().items()
        }


@dataclass(kw_only=True)
class Report:
    name: str
    chosen: Chosen
    conversations: int = 0
    messages: int = 0
    questions: int = 0
    over_budget: int = 0
    found: dict[str, Found] = field(default_factory=lambda: {name: Found() for name in (PRODUCT, *BASELINES)})
    in_prompt: Table = field(default_factory=Table)
    at_questions: Fired = field(default_factory=Fired)
    at_messages: Fired = field(default_factory=Fired)

    @property
    def holds(self) -> bool:
        return not self.over_budget

    def add(self, talk: Talk, ordinary: int) -> None:
        with staged(talk, self.chosen) as stage:
            self.conversations += 1
            self.messages += len(stage.told.texts)
            baselines = {name: method(stage.told.named) for name, method in BASELINES.items()}
            for question in talk.questions:
                if targets := stage.told.targets(question):
                    self.questions += 1
                    self.add_asked(ask(stage, question), stage.told, targets)
                    for name, method in baselines.items():
                        self.add_found(name, question.category, stage.told, targets, method.rank(question.text))
            for remark in overhear(stage, ordinary):
                self.at_messages.add(talk.source, fired=remark.fired, right=remark.right)

    def add_asked(self, asked: Asked, told: Told, targets: list[Target]) -> None:
        category = asked.question.category
        self.add_found(PRODUCT, category, told, targets, asked.messages)
        self.found[PRODUCT].efforts.add(category, figures(told.session_targets(targets), asked.efforts))
        share = recall(targets, asked.standing, len(asked.standing))
        self.in_prompt.add(
            category,
            {
                "share": share,
                "all": float(share == 1),
                "any": float(share > 0),
                "passages": len(asked.planned.recalled),
                "recalled": asked.planned.sections.get("recall", 0),
                "tokens": asked.planned.tokens,
            },
        )
        self.over_budget += asked.planned.tokens > asked.planned.budget.effective
        fired = bool(asked.planned.recalled)
        self.at_questions.add(
            category, fired=fired, right=fired and recall(targets, asked.quoted, len(asked.quoted)) > 0
        )

    def add_found(self, name: str, category: str, told: Told, targets: list[Target], ranked: list[str]) -> None:
        self.found[name].messages.add(category, figures(targets, ranked))
        sessions = distinct(told.sessions[id] for id in ranked)
        self.found[name].sessions.add(category, figures(told.session_targets(targets), sessions))

    def as_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "budget": self.chosen.budget,
            "mode": str(self.chosen.mode),
            "recall_share": self.chosen.cap,
            "conversations": self.conversations,
            "messages": self.messages,
            "questions": self.questions,
            "over_budget": self.over_budget,
            "found": {name: found.as_json() for name, found in self.found.items()},
            "evidence_in_prompt": self.in_prompt.as_json(),
            "recall_at_questions": self.at_questions.as_json(),
            "recall_at_ordinary_messages": self.at_messages.as_json(),
        }
