"""Which item of a good artifact keeps which entry, told by words and places alone: not as gate C tells it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from compaction.domain.artifact import Draft, DraftItem, Section, Status
from compaction.domain.ledger import Entry
from compaction.domain.making import link_to
from efforts.domain.source_text import Source

from .kinds import Good
from .words import share

RETAINED = {
    Section.DECISION: (Status.ACCEPTED,),
    Section.OPEN_WORK: (Status.OPEN, Status.BLOCKED),
    Section.CONSTRAINT: (Status.IN_FORCE,),
}
# Of one section of the ledger these items may keep an entry.
KEEPING = {
    Section.DECISION: (
        (Section.DECISION, Status.ACCEPTED),
        (Section.CHANGED, Status.DONE),
        (Section.CONSTRAINT, Status.IN_FORCE),
    ),
    Section.OPEN_WORK: (
        (Section.OPEN_WORK, Status.OPEN),
        (Section.OPEN_WORK, Status.BLOCKED),
        (Section.NEXT_STEP, Status.OPEN),
    ),
    Section.CONSTRAINT: ((Section.CONSTRAINT, Status.IN_FORCE),),
}
# So much of an entry's words an item has that may be about the same.
ALIKE = 0.4
# Gate C's threshold: of so many entries one may be missed.
MISSABLE = 20


@dataclass(frozen=True)
class Kept:
    entry: Entry
    item: DraftItem


def kept(good: Good, section: Section) -> list[Kept]:
    """Every entry to retain with the one item that keeps it, so that whoever takes the item away loses the entry.

    Empty where that is not so: an entry has no item of its own, an item to spare may be about one of the entries as
    well, or there are so many entries that one may be missed.
    """
    entries = good.entries(section, *RETAINED[section])
    items = [item for item in good.items if (item.section, item.status) in KEEPING[section]]
    pairs = matched(entries, items, good.case.source)
    spare = [item for item in items if item.id not in {pair.item.id for pair in pairs}]
    certain = len(pairs) == len(entries) < MISSABLE
    return pairs if certain and not any(is_alike(e, item, good.case.source) for e in entries for item in spare) else []


def matched(entries: list[Entry], items: list[DraftItem], source: Source) -> list[Kept]:
    """The likeliest pair first, each entry and each item once."""
    rated = sorted(
        ((likeness(entry, item, source), entry.id, item.id) for entry in entries for item in items), reverse=True
    )
    by_id = {entry.id: entry for entry in entries}
    of_id = {item.id: item for item in items}
    found: dict[str, Kept] = {}
    taken: set[str] = set()
    for rate, entry_id, item_id in rated:
        if rate > 0 and entry_id not in found and item_id not in taken:
            found[entry_id] = Kept(by_id[entry_id], of_id[item_id])
            taken.add(item_id)
    return [found[entry.id] for entry in entries if entry.id in found]


def likeness(entry: Entry, item: DraftItem, source: Source) -> float:
    return share(entry.text, item.text) + share(item.text, entry.text) + (0.5 if overlaps(entry, item, source) else 0)


def is_alike(entry: Entry, item: DraftItem, source: Source) -> bool:
    return share(entry.text, item.text) >= ALIKE or overlaps(entry, item, source)


def overlaps(entry: Entry, item: DraftItem, source: Source) -> bool:
    return any(
        link.message == span.message and link.part == span.part and link.start < span.end and span.start < link.end
        for quote in item.quotes
        for link in [link_to(source, quote.message, quote.quote)]
        if link is not None
        for span in entry.spans
    )


def word_for_word(entry: Entry, draft: Draft) -> Iterator[DraftItem]:
    """Items that are a rule in force and hold this one's words."""
    wanted = " ".join(entry.text.split())
    for item in draft.items:
        in_force = (item.section, item.status) in KEEPING[Section.CONSTRAINT]
        if in_force and wanted in " ".join(item.text.split()):
            yield item


def rules(good: Good) -> Iterator[tuple[Entry, DraftItem]]:
    """Each with the one item that has it word for word."""
    for entry in good.entries(Section.CONSTRAINT, Status.IN_FORCE):
        items = list(word_for_word(entry, good.draft))
        if len(items) == 1:
            yield entry, items[0]
