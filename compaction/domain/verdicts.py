"""What gates are given, and what they answer."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any, Literal

from efforts.domain.source_text import Source

from .artifact import Artifact
from .ledger import Entry


class Gate(StrEnum):
    STRUCTURE = "A"
    TRACEABILITY = "B"
    RETENTION = "C"
    CONTRADICTION = "D"
    COST = "E"


class Outcome(StrEnum):
    PASS = "pass"
    FAIL = "fail"
    NOT_EVALUABLE = "not evaluable"


@dataclass(frozen=True, kw_only=True)
class Offered:
    """The bytes that gate A judges: a drafter's draft, or the canonical document of an edit or an extractive draft."""

    text: str
    form: Literal["draft", "document"]
    # Of the model: only "stop" means that it said all it had to say.
    stop_reason: str = "stop"


@dataclass(frozen=True, kw_only=True)
class Finding:
    """A contradiction that a judge has found; none where the source does not have its `quote`."""

    item: str
    message: int
    quote: str
    why: str


@dataclass(frozen=True, kw_only=True)
class Judged:
    """All that a verdict depends on.

    `artifact` is what was made of the offered bytes, None where they are no draft. `ledger` is of the scope: confirmed
    decisions, open work and constraints, also superseded, rejected and done ones. `tokens` are those of the text that
    would stand in the prompt. `latest` are the milliseconds of the last runs (at most 50) of this purpose, model and
    prompt version, this one included, None for one that timed out or failed. `set_aside` are ids of findings of gate D
    that a person has set aside.
    """

    offered: Offered
    artifact: Artifact | None
    source: Source
    ledger: tuple[Entry, ...]
    candidates: tuple[Entry, ...]
    tokens: int
    latest: tuple[int | None, ...]
    findings: tuple[Finding, ...] = ()
    set_aside: frozenset[str] = frozenset()


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
    """What fails, and by which rule. `about` is the id of an item or entry; empty for the whole document.

    `id` is of what a person may set aside: a finding of gate D, the same for the same artifact.
    """

    rule: str
    about: str
    text: str
    id: str = ""


@dataclass(frozen=True, kw_only=True)
class Verdict:
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

    def as_json(self) -> dict[str, Any]:
        return asdict(self)
