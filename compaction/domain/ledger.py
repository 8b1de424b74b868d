"""What must be retained, as gates and models see it: entries of the ledger, and those of a checker's inventory."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from .artifact import Section, Status

# What of the ledger is to be retained, and how it stands then.
RETAINED = {
    Section.DECISION: frozenset({Status.ACCEPTED}),
    Section.OPEN_WORK: frozenset({Status.OPEN, Status.BLOCKED}),
    Section.RULE: frozenset({Status.IN_FORCE}),
}


@dataclass(frozen=True, kw_only=True)
class Entry:
    """A decision, open work or a rule with its status at the end of the scope.

    `sentences` are ids of the source. `listed`: it is of a checker's inventory alone; else a person has confirmed it.
    `in_system`: a rule that stands in the system message, which counts as kept.
    """

    id: str
    section: Section
    status: Status
    text: str
    sentences: tuple[str, ...]
    listed: bool = False
    in_system: bool = False

    @property
    def is_retained(self) -> bool:
        return self.status in RETAINED.get(self.section, ())


def merged(confirmed: Iterable[Entry], listed: Iterable[Entry]) -> tuple[Entry, ...]:
    """Each matter once: what an inventory lists by sentences of a confirmed entry of its kind is that entry."""
    entries = [entry for entry in confirmed if entry.is_retained]
    for one in listed:
        if not any(is_same(one, other) for other in entries if not other.listed):
            entries.append(one)
    return tuple(entries)


def is_same(one: Entry, other: Entry) -> bool:
    return one.section == other.section and bool(set(one.sentences) & set(other.sentences))


def renumbered(entries: Iterable[Entry], prefix: str) -> tuple[Entry, ...]:
    """Of stages of several conversations: ids of entries and sentences are told apart by their stage."""
    return tuple(
        replace(entry, id=f"{prefix}:{entry.id}", sentences=tuple(f"{prefix}:{id}" for id in entry.sentences))
        for entry in entries
    )
