"""What is read to draft and to judge: the ledger of a scope, and how long drafting has taken."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from efforts.domain.lifecycle import ConstraintState, EntryKind, EntryState
from efforts.domain.redaction import redact
from efforts.domain.source_text import Part, Source
from efforts.models import Session
from efforts.snapshots.ledger import CONSTRAINT, LedgerView, entries_of

from .domain.artifact import Section, Status
from .domain.candidates import candidates_in
from .domain.ledger import Entry, Span
from .domain.making import link_to
from .models import DraftRun

# Of one kind before this one, as gate E counts them.
NEWEST_RUNS = 49

# What a kind and a state of the ledger mean at the end of the scope; of what is only proposed, what it seems to be.
MEANINGS: dict[tuple[str, str], tuple[Section, Status]] = {
    (EntryKind.DECISION, EntryState.CONFIRMED): (Section.DECISION, Status.ACCEPTED),
    (EntryKind.DECISION, EntryState.PROPOSED): (Section.DECISION, Status.ACCEPTED),
    (EntryKind.DECISION, EntryState.SUPERSEDED): (Section.DECISION, Status.SUPERSEDED),
    (EntryKind.DECISION, EntryState.DISMISSED): (Section.DECISION, Status.ACCEPTED),
    (EntryKind.OPEN_WORK, EntryState.CONFIRMED): (Section.OPEN_WORK, Status.OPEN),
    (EntryKind.OPEN_WORK, EntryState.PROPOSED): (Section.OPEN_WORK, Status.OPEN),
    (EntryKind.OPEN_WORK, EntryState.DONE): (Section.OPEN_WORK, Status.DONE),
    (EntryKind.OPEN_WORK, EntryState.DISMISSED): (Section.OPEN_WORK, Status.OPEN),
    (CONSTRAINT, ConstraintState.IN_FORCE): (Section.CONSTRAINT, Status.IN_FORCE),
    (CONSTRAINT, ConstraintState.REVOKED): (Section.CONSTRAINT, Status.REVOKED),
}
UNCONFIRMED = frozenset({EntryState.PROPOSED, EntryState.DISMISSED})


@dataclass(frozen=True, kw_only=True)
class Ledger:
    """Of a scope: what is confirmed, and what only sounds like it and nobody has dismissed."""

    confirmed: tuple[Entry, ...]
    candidates: tuple[Entry, ...]


def read_ledger(session: Session, source: Source) -> Ledger:
    noted = [(view.state, entry_of(view, source)) for view in entries_of(session, {p.message for p in source.parts})]
    cues = [cue for cue in candidates_in(source) if not overlaps_any(cue, [entry for _, entry in noted])]
    proposed = [entry for state, entry in noted if state == EntryState.PROPOSED]
    return Ledger(confirmed=tuple(entry for _, entry in noted if entry.confirmed), candidates=(*proposed, *cues))


def entry_of(view: LedgerView, source: Source) -> Entry:
    section, status = MEANINGS[view.kind, view.state]
    text = redact(view.text).value
    return Entry(
        id=f"{view.kind}-{view.id}",
        section=section,
        status=status,
        text=text,
        spans=spans_of(view, text, source),
        confirmed=view.state not in UNCONFIRMED,
    )


def spans_of(view: LedgerView, words: str, source: Source) -> tuple[Span, ...]:
    """Its words where they stand in the source text; else all of what its message says."""
    if view.verbatim and (link := link_to(source, view.message, words)):
        return (Span(message=link.message, part=link.part, start=link.start, end=link.end),)
    said = source.by_place.get((view.message, Part.TEXT))
    return (Span(message=view.message, part=Part.TEXT, start=0, end=len(said.text)),) if said else ()


def overlaps_any(entry: Entry, others: Sequence[Entry]) -> bool:
    return any(
        (one.message, one.part) == (other.message, other.part) and one.start < other.end and other.start < one.end
        for one in entry.spans[:1]
        for each in others
        for other in each.spans
    )


def latest_runs(purpose: str, model: str, prompt_version: str) -> tuple[int | None, ...]:
    """Milliseconds of the newest runs, oldest first; None for one that did not end by itself."""
    runs = DraftRun.objects.filter(purpose=purpose, model=model, prompt_version=prompt_version)
    newest = runs.order_by("-id").values_list("elapsed_ms", flat=True)[:NEWEST_RUNS]
    return tuple(reversed(newest))
