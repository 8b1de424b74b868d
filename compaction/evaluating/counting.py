"""Counts that share nothing with the gates: what an accepted artifact lacks, and how sure a share is."""

from __future__ import annotations

from collections import Counter
from math import sqrt

from compaction.domain.artifact import Artifact, Item, Section, Status
from compaction.domain.ledger import Entry

from .cases import Case

RETAINED = {
    Section.DECISION: {Status.ACCEPTED},
    Section.OPEN_WORK: {Status.OPEN, Status.BLOCKED},
    Section.CONSTRAINT: {Status.IN_FORCE},
}
# Where each may be kept, under these statuses.
KEPT_AS = {
    Section.DECISION: {
        Section.DECISION: {Status.ACCEPTED},
        Section.CHANGED: {Status.DONE},
        Section.CONSTRAINT: {Status.IN_FORCE},
    },
    Section.OPEN_WORK: {Section.OPEN_WORK: {Status.OPEN, Status.BLOCKED}, Section.NEXT_STEP: {Status.OPEN}},
    Section.CONSTRAINT: {Section.CONSTRAINT: {Status.IN_FORCE}},
}
# Of 95 in 100 intervals the true share lies inside.
DEVIATIONS = 1.96


def to_retain(case: Case) -> list[Entry]:
    return [entry for entry in case.ledger if entry.status in RETAINED[entry.section]]


def lacking(case: Case, artifact: Artifact) -> list[str]:
    """Entries to retain that no item tells by its place or its words; and sections with fewer items than entries.

    Not so of rules: one may stand word for word inside another.
    """
    entries = to_retain(case)
    missed = [f"{entry.id}: {entry.text}" for entry in entries if not any(tells(i, entry) for i in artifact.items)]
    wanted = Counter(entry.section for entry in entries if entry.section != Section.CONSTRAINT)
    for section, count in wanted.items():
        items = sum(fits(item, section) for item in artifact.items)
        if items < count:
            missed.append(f"{count} of {section} to retain, {items} items")
    return missed


def tells(item: Item, entry: Entry) -> bool:
    return fits(item, entry.section) and (covers(item, entry) or has_all_words(item, entry))


def fits(item: Item, section: Section) -> bool:
    return item.status in KEPT_AS[section].get(item.section, set())


def covers(item: Item, entry: Entry) -> bool:
    """Any link that shares a character with any place of the entry."""
    return any(
        (link.message, link.part) == (span.message, span.part) and link.start < span.end and span.start < link.end
        for link in item.links
        for span in entry.spans
    )


def has_all_words(item: Item, entry: Entry) -> bool:
    return set(entry.text.casefold().split()) <= set(item.text.casefold().split())


def wilson(part: int, whole: int) -> tuple[float, float]:
    """The interval of a share, by Wilson's score; of nothing it is 0 to 1."""
    if not whole:
        return 0.0, 1.0
    share, square = part / whole, DEVIATIONS**2
    middle = share + square / (2 * whole)
    spread = DEVIATIONS * sqrt(share * (1 - share) / whole + square / (4 * whole**2))
    return (middle - spread) / (1 + square / whole), (middle + spread) / (1 + square / whole)
