"""What the gates found, in words, each failing item with the place to look at."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from compaction.domain.artifact import HEADLINE
from compaction.domain.gates.judging import TAGS
from compaction.domain.verdicts import Gate
from compaction.models import GateRun

# What each is called, what it asks, and what one has to know to read its answer.
GATES = {
    "A": (
        "Structure",
        "Is it the form that was asked for, letter by letter?",
        "A draft that is cut off or in another form is not repaired: it fails.",
    ),
    "B": (
        "Sources",
        "Does every claim lead to words of the log that bear it out?",
        "A claim quotes the log word for word, and its numbers, paths and names stand in what it quotes.",
    ),
    "C": (
        "Retention",
        "Is every decision, all open work and every rule still there?",
        "Those are what the ledger of the conversation lists. “Possible” is what only sounds like one of them.",
    ),
    "D": (
        "Contradictions",
        "Does nothing in it say otherwise than the log?",
        "A claim may not deny or overstate the log, the ledger or another claim.",
    ),
    "E": (
        "Cost and size",
        "Was it made within its limits, and is it smaller than the log?",
        "From 20 drafts of its kind on the slow ones among them count; until then its own time decides.",
    ),
}
NOT_RUN = "not run"
NO_BREAK = "\N{NO-BREAK SPACE}"


def percent(share: float) -> str:
    return f"{100 * share:.4g}{NO_BREAK}%"


def seconds(ms: float) -> str:
    return f"{ms / 1000:,.4g}{NO_BREAK}s"


def number(count: float) -> str:
    return f"{count:,}"


# What is measured, in which unit, and how its threshold is told.
MEASURES: dict[str, tuple[str, Callable[[float], str], str]] = {
    "parse_success_rate": ("In its form", percent, "{}"),
    "traceable_item_ratio": ("Claims that lead to the log", percent, "at least {}"),
    "decision_recall": ("Decisions kept", percent, "at least {}"),
    "open_work_recall": ("Open work kept", percent, "at least {}"),
    "constraint_recall": ("Rules kept word for word", percent, "{}"),
    "contradiction_count": ("Contradictions", number, "{}"),
    "tokens": ("Tokens to draft it", number, "at most {}"),
    "elapsed_ms": ("Time to draft it", seconds, "at most {}"),
    "elapsed_ms_p95": ("Time of 95 % of such drafts", seconds, "at most {}"),
    "standing_tokens": ("Tokens in the prompt", number, "fewer than {}"),
    "compression_ratio": ("Size compared with the log", percent, "no limit, {} is aimed at"),
}


@dataclass(frozen=True, kw_only=True)
class MeasureView:
    name: str
    value: str
    needed: str
    of: str


@dataclass(frozen=True, kw_only=True)
class FailureView:
    """`claim` is the number of the claim it is about, None for the whole document or for what no claim has."""

    text: str
    claim: int | None
    finding: str


@dataclass(frozen=True, kw_only=True)
class GateView:
    letter: str
    name: str
    asks: str
    explains: str
    outcome: str
    says: str
    measures: tuple[MeasureView, ...] = ()
    failures: tuple[FailureView, ...] = ()
    evaluator: str = ""
    tag: str = ""

    @property
    def passed(self) -> bool:
        return self.outcome == "pass"

    @property
    def ran(self) -> bool:
        return self.outcome != NOT_RUN


def gates_of(run: GateRun | None, numbers: Mapping[str, int]) -> tuple[GateView, ...]:
    """`numbers`: of claims, by the ids of their items."""
    verdicts = {verdict["gate"]: verdict for verdict in run.verdicts} if run else {}
    return tuple(gate_of(letter, verdicts.get(letter), numbers) for letter in GATES)


def gate_of(letter: str, verdict: dict[str, Any] | None, numbers: Mapping[str, int]) -> GateView:
    name, asks, explains = GATES[letter]
    if verdict is None:
        said = "It was not judged."
        return GateView(letter=letter, name=name, asks=asks, explains=explains, outcome=NOT_RUN, says=said)
    fails = verdict["outcome"] == "fail"
    return GateView(
        letter=letter,
        name=name,
        asks=asks,
        explains=explains,
        outcome=verdict["outcome"],
        says=verdict["says"],
        measures=tuple(map(measure_of, verdict["measures"])),
        failures=tuple(failure_of(one, numbers) for one in verdict["failures"]),
        evaluator=verdict["evaluator_version"],
        tag=TAGS.get(Gate(letter), "").replace("_", " ") if fails else "",
    )


def measure_of(measure: Mapping[str, Any]) -> MeasureView:
    name, in_its_unit, needed = MEASURES[measure["name"]]
    value, denominator = measure["value"], measure["denominator"]
    return MeasureView(
        name=name,
        value="nothing to count" if value is None else in_its_unit(value),
        needed=needed.format(in_its_unit(measure["threshold"])),
        of="" if denominator is None else f"{number(measure['numerator'])} of {number(denominator)}",
    )


def failure_of(failure: dict[str, Any], numbers: Mapping[str, int]) -> FailureView:
    about = HEADLINE if failure["about"].startswith(f"{HEADLINE} ") else failure["about"]
    return FailureView(text=failure["text"], claim=numbers.get(about), finding=failure.get("id", ""))
