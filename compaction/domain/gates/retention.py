"""Gate C: what was decided, what is still open and what is ruled is in the artifact, each by an item of its own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ..artifact import Artifact, Item, Section, Status
from ..ledger import Entry
from ..matching import best_pairs
from ..verdicts import Failure, Gate, Judged, Measure, Verdict
from .entries import COVERED, covered, pairs, says_the_same
from .judging import counted, exact_links, not_evaluable, shortened, verdict

THRESHOLD = 0.95
STILL_OPEN = frozenset({Status.OPEN, Status.BLOCKED})
# What of the ledger is to be retained.
RETAINED = {
    Section.DECISION: frozenset({Status.ACCEPTED}),
    Section.OPEN_WORK: STILL_OPEN,
    Section.CONSTRAINT: frozenset({Status.IN_FORCE}),
}
# Where an entry may stand in an artifact, and with which status.
PLACES = {
    Section.DECISION: {
        Section.DECISION: frozenset({Status.ACCEPTED}),
        Section.CHANGED: frozenset({Status.DONE}),
        # What was decided for good is a rule, too.
        Section.CONSTRAINT: frozenset({Status.IN_FORCE}),
    },
    Section.OPEN_WORK: {Section.OPEN_WORK: STILL_OPEN, Section.NEXT_STEP: frozenset({Status.OPEN})},
}
RECALLS = {Section.DECISION: "decision_recall", Section.OPEN_WORK: "open_work_recall"}
NAMES = {Section.DECISION: "decision", Section.OPEN_WORK: "open work", Section.CONSTRAINT: "rule"}


def judge(judged: Judged) -> Verdict:
    artifact = judged.artifact
    if artifact is None:
        return not_evaluable(Gate.RETENTION, judged)
    wanted = to_retain(judged.ledger)
    kept = kept_entries(wanted, artifact, judged)
    lost = [entry for entry in wanted if entry.id not in kept]
    missed = [entry for entry in candidates(judged) if not is_met(entry, artifact, judged)]
    measures = [recall_of(section, wanted, kept) for section in RETAINED]
    return verdict(
        Gate.RETENTION,
        judged,
        failures=[*(lost_entry(entry) for entry in lost), *(missed_candidate(entry) for entry in missed)],
        within=not missed and all(is_enough(measure) for measure in measures),
        says=says(wanted, lost, missed, candidates(judged)),
        measures=measures,
    )


def to_retain(ledger: Iterable[Entry]) -> list[Entry]:
    return [entry for entry in ledger if entry.confirmed and entry.status in RETAINED.get(entry.section, ())]


def candidates(judged: Judged) -> list[Entry]:
    return [*judged.candidates, *(entry for entry in judged.ledger if not entry.confirmed)]


def kept_entries(wanted: Sequence[Entry], artifact: Artifact, judged: Judged) -> frozenset[str]:
    """Decisions and open work one to one; a rule wherever it stands word for word."""
    weights = {
        (entry.id, item.id): weight
        for entry, item in pairs(wanted, artifact.items)
        if fits(entry, item) and (weight := says_the_same(entry, item, judged.source))
    }
    rules = (entry.id for entry in wanted if entry.section == Section.CONSTRAINT and stands_whole(entry, artifact))
    return frozenset(best_pairs(weights)) | frozenset(rules)


def fits(entry: Entry, item: Item) -> bool:
    return item.status in PLACES.get(entry.section, {}).get(item.section, frozenset())


def stands_whole(entry: Entry, artifact: Artifact) -> bool:
    words = one_line(entry.text)
    return bool(words) and any(
        item.section == Section.CONSTRAINT and item.status == Status.IN_FORCE and words in one_line(item.text)
        for item in artifact.items
    )


def one_line(text: str) -> str:
    return " ".join(text.split())


def is_met(entry: Entry, artifact: Artifact, judged: Judged) -> bool:
    """Whoever quotes its sentence has met it, in whatever section."""
    if not entry.spans:
        return False
    return any(covered(entry.spans[0], exact_links(item, judged.source)) >= COVERED for item in artifact.items)


def recall_of(section: Section, wanted: Sequence[Entry], kept: frozenset[str]) -> Measure:
    of_section = [entry for entry in wanted if entry.section == section]
    found = sum(entry.id in kept for entry in of_section)
    return Measure(
        name=RECALLS.get(section, "constraint_recall"),
        value=found / len(of_section) if of_section else None,
        threshold=THRESHOLD if section in RECALLS else 1.0,
        numerator=found,
        denominator=len(of_section),
    )


def is_enough(measure: Measure) -> bool:
    return measure.value is None or measure.value >= measure.threshold


def lost_entry(entry: Entry) -> Failure:
    how = "not word for word in a rule" if entry.section == Section.CONSTRAINT else "kept by no item of its own"
    rule = {Section.DECISION: "lost_decision", Section.OPEN_WORK: "lost_open_work"}.get(
        entry.section, "lost_constraint"
    )
    return Failure(rule=rule, about=entry.id, text=f"{NAMES[entry.section]} “{shortened(entry.text)}”: {how}")


def missed_candidate(entry: Entry) -> Failure:
    text = f"what may be a {NAMES[entry.section]}, “{shortened(entry.text)}”: quoted by no item and not dismissed"
    return Failure(rule="missed_candidate", about=entry.id, text=text)


def says(wanted: Sequence[Entry], lost: Sequence[Entry], missed: Sequence[Entry], offered: Sequence[Entry]) -> str:
    if lost or missed:
        return f"Lost: {', '.join(parts(lost, missed))}."
    if not wanted:
        met = f"; {len(offered)} possible quoted" if offered else ""
        return f"Nothing to retain: no ledger entry of these turns{met}."
    return f"Kept: {', '.join(parts(wanted, offered))}."


def parts(entries: Sequence[Entry], offered: Sequence[Entry]) -> Iterator[str]:
    for section in RETAINED:
        number = sum(entry.section == section for entry in entries)
        if number:
            yield f"{number} open" if section == Section.OPEN_WORK else counted(number, NAMES[section])
    if offered:
        yield f"{len(offered)} possible"
