"""What the gates found, in words, each failing claim with the place to look at."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from compaction.domain.artifact import Kind, parse_artifact
from compaction.domain.check.result import Opinion
from compaction.domain.gates.contradiction import worded
from compaction.domain.gates.judging import TAGS
from compaction.domain.gates.traceability import UNSUPPORTED
from compaction.domain.limits import Purpose
from compaction.domain.verdicts import Gate, Outcome
from compaction.models import Artifact, Check, GateRun, SetAside
from efforts.domain.text.counting import counted

# What each is called, what it asks, and how it comes to its answer.
GATES = {
    "A": (
        "Structure",
        "Is the draft complete, and in the form that was asked for?",
        "The program reads the model's answer. If it was cut off or has another form, it fails; nothing is repaired.",
    ),
    "B": (
        "Sources",
        "Does the log say what each claim says?",
        "Each claim names the sentences that it comes from. The program looks for its numbers, dates, file names and "
        "names in them; a checker reads the claim beside them.",
    ),
    "C": (
        "Retention",
        "Is every decision, to-do and rule still there?",
        "The program compares the summary with the list of decisions and to-dos, and with one that a checker made from "
        "the log alone.",
    ),
    "D": (
        "Contradictions",
        "Does the summary say anything that the log contradicts?",
        "A checker reads each claim beside the log. The program compares what is open or done, whether commands "
        "succeeded, and the newest figures.",
    ),
    "E": (
        "Cost and size",
        "Is it smaller than the log, and was it made within its limits?",
        "The program counts the tokens of the text, and the tokens and the time that drafting and checking took.",
    ),
}
NOT_RUN = "not run"
# Of excerpts, what no gate can say, as the page words it: the outcome, and why.
DOES_NOT_APPLY, NOBODY_LOOKED, ONLY_THE_LIST = "does not apply", "nobody looked", "only the list"
FOUND = "The program found every quote in the log, word for word. No model looked."
OF_EXCERPTS = {
    Gate.STRUCTURE: (
        DOES_NOT_APPLY,
        "The program took these quotes from the log. No model wrote anything whose form could be wrong.",
    ),
    Gate.TRACEABILITY: (Outcome.PASS, FOUND),
    Gate.RETENTION: (
        NOBODY_LOOKED,
        "No model has looked for what matters in the log. What was left out is listed, for you to look through.",
    ),
    Gate.CONTRADICTION: (DOES_NOT_APPLY, "These are quotes: nothing was reworded, so nothing can contradict the log."),
}
# Of what a gate says the colour and the icon; of all else neither green nor red.
LOOKS: dict[str, tuple[str, str]] = {
    Outcome.PASS: ("ok", "check"),
    Outcome.FAIL: ("bad", "cross"),
    NOBODY_LOOKED: ("warn", "alert"),
    ONLY_THE_LIST: ("warn", "alert"),
}
UNDECIDED = ("", "awaiting")
NO_QUOTES = "No sentence of these turns is quoted, so there was nothing to look for in the log."
# What passes without anybody having read it now: by figures and names alone, or by answers that were recorded.
NOT_READ, RECORDED = "not read", "recorded check"
BY_READING = (Gate.TRACEABILITY, Gate.RETENTION, Gate.CONTRADICTION)
NOTHING = "nothing to count"
NO_BREAK = "\N{NO-BREAK SPACE}"


def percent(share: float) -> str:
    return f"{100 * share:.4g}%"


def seconds(ms: float) -> str:
    return f"{ms / 1000:,.4g}{NO_BREAK}s"


def number(count: float) -> str:
    return f"{count:,}"


# Of each purpose what was done for it.
DONE = {
    Purpose.COMPACTION: "to draft it",
    Purpose.ROLLING: "to draft it",
    Purpose.STAGE: "to draft it",
    Purpose.CHECK: "to check it",
}
# What is measured, in which unit, and how its threshold is told.
MEASURES: dict[str, tuple[str, Callable[[float], str], str]] = {
    "parse_success_rate": ("Complete and in its form", percent, "{}"),
    "traceable_item_ratio": ("Claims whose figures and names are in their sources", percent, "at least {}"),
    "decision_recall": ("Listed decisions kept", percent, "at least {}"),
    "open_work_recall": ("Listed to-dos kept", percent, "at least {}"),
    "rule_recall": ("Listed rules kept", percent, "{}"),
    "contradiction_count": ("Contradictions", number, "{}"),
    "elapsed_ms_p95": ("95 % of such drafts took at most", seconds, "{} (only a warning)"),
    "standing_tokens": ("Tokens of its prompt text, without the heading", number, "fewer than the {} of the log"),
    "short_tokens": ("Tokens of its prompt text, compared with the goal", number, "goal: at most {}"),
    "compression_ratio": ("Size of the full text, compared with the log", percent, "at most {}"),
    **{f"tokens_{purpose}": (f"Tokens {what}", number, "at most {}") for purpose, what in DONE.items()},
    **{f"slowest_ms_{purpose}": (f"Slowest request {what}", seconds, "at most {}") for purpose, what in DONE.items()},
}


@dataclass(frozen=True, kw_only=True)
class MeasureView:
    name: str
    value: str
    needed: str
    of: str

    @property
    def is_counted(self) -> bool:
        return self.value != NOTHING


@dataclass(frozen=True, kw_only=True)
class FailureView:
    """`claim` is the number on the page of the claim it is about, None for the whole document or for what no claim has;
    `item` the claim's id. `finding` is what a person may set aside."""

    text: str
    claim: int | None
    item: str
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
    aside: tuple[SetAside, ...] = ()
    evaluator: str = ""
    tag: str = ""

    @property
    def passed(self) -> bool:
        return self.outcome == Outcome.PASS

    @property
    def failed(self) -> bool:
        return self.outcome == Outcome.FAIL

    @property
    def ran(self) -> bool:
        return self.outcome in {*Outcome, NOT_READ, RECORDED}

    @property
    def css(self) -> str:
        return LOOKS.get(self.outcome, UNDECIDED)[0]

    @property
    def icon(self) -> str:
        return LOOKS.get(self.outcome, UNDECIDED)[1]


def gates_of(
    row: Artifact,
    run: GateRun | None,
    unread_as: str,
    numbers: Mapping[str, int] = MappingProxyType({}),
    aside: Iterable[SetAside] = (),
) -> tuple[GateView, ...]:
    """`unread_as`: the outcome, which is not green, of gates that pass by reading where nobody has read. `numbers`: of
    claims on the page, by their ids."""
    verdicts = {verdict["gate"]: verdict for verdict in run.verdicts} if run else {}
    by_gate: dict[str, list[SetAside]] = {}
    for one in aside:
        by_gate.setdefault(gate_of_finding(one.finding), []).append(one)
    found = (gate_of(letter, verdicts.get(letter), numbers, tuple(by_gate.get(letter, ()))) for letter in GATES)
    if row.kind == Kind.DIGEST:
        # Where a gate had nothing to compare, that is no green pass.
        quoted = not parse_artifact(row.document).quotes_nothing
        return tuple(of_quotes(gate, quoted=quoted) if gate.passed else gate for gate in found)
    not_green = BY_READING if unread_as else ()
    return tuple(replace(one, outcome=unread_as) if one.passed and one.letter in not_green else one for one in found)


def readers_of(opinions: Sequence[Iterable[Opinion]]) -> tuple[str, ...]:
    """People who have read all claims, of which these are the opinions."""
    by = [{one.by: None for one in of_one if one.person} for of_one in opinions]
    return tuple(name for name in (by[0] if by else ()) if all(name in others for others in by))


def unread(checks: Iterable[Check], readers: Collection[str]) -> str:
    """What gates say in place of a pass that nobody has read for; empty where somebody has."""
    valid = [one for one in checks if not one.void]
    if readers or any(one.examined and not one.is_recorded for one in valid):
        return ""
    return RECORDED if any(one.is_recorded for one in valid) else NOT_READ


def of_quotes(gate: GateView, *, quoted: bool) -> GateView:
    listed = tuple(one for one in gate.measures if one.is_counted)
    if gate.letter not in OF_EXCERPTS:
        return replace(gate, measures=listed)
    # How a summary is judged is not how these were.
    gate = replace(gate, explains="")
    outcome, says = OF_EXCERPTS[Gate(gate.letter)]
    if gate.letter == Gate.TRACEABILITY and not quoted:
        outcome, says = DOES_NOT_APPLY, NO_QUOTES
    if gate.letter != Gate.RETENTION:
        return replace(gate, outcome=outcome, says=says, measures=())
    if not listed:
        return replace(
            gate,
            outcome=outcome,
            says=f"The list of decisions, to-dos and rules has nothing from these turns. {says}",
            measures=(),
        )
    return replace(gate, outcome=ONLY_THE_LIST, says=f"{gate.says} {says}", measures=listed)


def gate_of_finding(finding: str) -> str:
    return str(Gate.TRACEABILITY if finding.startswith(f"{UNSUPPORTED}:") else Gate.CONTRADICTION)


def gate_of(
    letter: str, verdict: dict[str, Any] | None, numbers: Mapping[str, int], aside: tuple[SetAside, ...]
) -> GateView:
    name, asks, explains = GATES[letter]
    if verdict is None:
        said = "It was not judged."
        return GateView(letter=letter, name=name, asks=asks, explains=explains, outcome=NOT_RUN, says=said)
    fails = verdict["outcome"] == Outcome.FAIL
    return GateView(
        letter=letter,
        name=name,
        asks=asks,
        explains=explains,
        outcome=verdict["outcome"],
        says=plainly(worded(verdict["says"], verdict["evaluator_version"])),
        measures=tuple(map(measure_of, filter(is_shown, verdict["measures"]))),
        failures=tuple(failure_of(one, numbers, verdict["evaluator_version"]) for one in verdict["failures"]),
        aside=aside,
        evaluator=verdict["evaluator_version"],
        tag=TAGS.get(Gate(letter), "").replace("_", " ") if fails else "",
    )


# As the gates store them.
TRACED = re.compile(
    r"(\d+) claims?: the cited sentences are in the log, and so are all values"
    r"(?:, read by (.+)|\. Whether the sentences say what the claims say, nobody has read)\.",
    re.DOTALL,
)
SIZED = re.compile(
    r"([\d,]+) tokens of text, the words of the log have ([\d,]+); (?:no model was asked|(.+), within the caps)\."
)


def plainly(says: str) -> str:
    """What a gate that passes says, in whole sentences; its own words are stored, and judged again as they are."""
    if traced := TRACED.fullmatch(says):
        whole, by = int(traced[1]), traced[2]
        return (
            f"{counted(whole, 'claim')}: every cited sentence is in the log, and so is every number, date and name. "
            f"{f'Read by {by}' if by else 'Nobody has read whether the sentences mean the same'}."
        )
    if sized := SIZED.fullmatch(says):
        tokens, source_tokens, asked = sized.groups()
        return (
            f"The text for the prompt has {tokens} tokens without its heading, the words of the log have "
            f"{source_tokens}. {f'Spent: {asked}, within the caps' if asked else 'No model was asked'}."
        )
    return says


def is_shown(measure: Mapping[str, Any]) -> bool:
    """Times are told once there are enough drafts."""
    return measure["name"] != "elapsed_ms_p95" or measure["value"] is not None


def measure_of(measure: Mapping[str, Any]) -> MeasureView:
    name, in_its_unit, needed = MEASURES[measure["name"]]
    value, denominator = measure["value"], measure["denominator"]
    return MeasureView(
        name=name,
        value=NOTHING if value is None else in_its_unit(value),
        needed=needed.format(in_its_unit(measure["threshold"])),
        of="" if denominator is None else f"{number(measure['numerator'])} of {number(denominator)}",
    )


def failure_of(failure: dict[str, Any], numbers: Mapping[str, int], evaluator: str) -> FailureView:
    about = failure["about"]
    text = worded(failure["text"], evaluator)
    return FailureView(text=text, claim=numbers.get(about), item=about, finding=failure.get("id", ""))
