"""What gates are given, and what they answer."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any, Literal

from efforts.domain.text.source_text import Source

from .artifact import Artifact
from .check.result import Checked
from .ledger import Entry
from .rendering import Rendered


class Gate(StrEnum):
    STRUCTURE = "A"
    TRACEABILITY = "B"
    RETENTION = "C"
    CONTRADICTION = "D"
    COST = "E"


class Outcome(StrEnum):
    PASS = "pass"
    FAIL = "fail"
    NOT_JUDGED = "not judged"


@dataclass(frozen=True, kw_only=True)
class Offered:
    """The bytes that gate A judges: a drafter's draft, or the canonical document of what code has made."""

    text: str
    form: Literal["draft", "document"]
    # Of the model: only "stop" means that it said all it had to say.
    stop_reason: str = "stop"


@dataclass(frozen=True, kw_only=True)
class Spent:
    """What all requests of one purpose took: tokens (None where one is not known) and the slowest one's time."""

    purpose: str
    tokens: int | None
    cap: int
    slowest_ms: int
    timeout_ms: int


@dataclass(frozen=True, kw_only=True)
class Judged:
    """All that a verdict depends on; the same values give the same bytes, in any process.

    `artifact` is what was made of the offered bytes, None where they are no draft; `text` what would stand in the
    prompt, with its tokens. `entries` are the ledger's of the scope, confirmed, whatever their status. `latest` are the
    milliseconds of the last runs of this purpose, model and prompt version (at most 50), None for one that did not end.
    `set_aside` are ids of findings, `not_needed` those of entries, that a person has decided on.
    """

    offered: Offered
    artifact: Artifact | None
    source: Source
    text: Rendered
    tokens: int
    body_tokens: int
    entries: tuple[Entry, ...] = ()
    check: Checked | None = None
    spent: tuple[Spent, ...] = ()
    latest: tuple[int | None, ...] = ()
    set_aside: frozenset[str] = frozenset()
    not_needed: frozenset[str] = frozenset()


@dataclass(frozen=True, kw_only=True)
class Measure:
    """`value` against `threshold`; of a ratio of nothing the value is None."""

    name: str
    value: float | int | None
    threshold: float | int
    numerator: int | None = None
    denominator: int | None = None


@dataclass(frozen=True, kw_only=True)
class Failure:
    """What fails, and by which rule. `about` is the id of a claim or entry; empty for the whole document.

    `id` is of what a person may set aside: a doubt or a contradiction, the same for the same claim. `told` is what the
    drafter hears of it, where that is put otherwise than for people.
    """

    rule: str
    about: str
    text: str
    id: str = ""
    told: str = ""


@dataclass(frozen=True, kw_only=True)
class GateVerdict:
    """`says` is one sentence for people. `inputs` are the hashes of what it was judged by."""

    gate: Gate
    outcome: Outcome
    says: str
    measures: tuple[Measure, ...]
    failures: tuple[Failure, ...]
    evaluator_version: str
    inputs: dict[str, str]

    @property
    def passed(self) -> bool:
        return self.outcome == Outcome.PASS

    @property
    def failed(self) -> bool:
        return self.outcome == Outcome.FAIL

    def as_json(self) -> dict[str, Any]:
        return asdict(self)
