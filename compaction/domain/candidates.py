"""Sentences of a scope that sound like decisions or open work and that nobody has confirmed."""

from __future__ import annotations

from collections.abc import Iterator

from efforts.domain.cues import Cue, cues_in
from efforts.domain.rules import one_line
from efforts.domain.source_text import Part, Source, SourcePart

from .artifact import Section, Status
from .ledger import Entry, Span


def candidates_in(source: Source) -> tuple[Entry, ...]:
    """In the order of the scope; few rather than too many, since each is to be kept or dismissed."""
    spoken = (part for part in source.parts if part.part == Part.TEXT)
    return tuple(entry for part in spoken for entry in entries_in(part))


def entries_in(part: SourcePart) -> Iterator[Entry]:
    return (entry_of(cue, part) for cue in cues_in(part.text, role=str(part.role)))


def entry_of(cue: Cue, part: SourcePart) -> Entry:
    return Entry(
        id=f"cue-{part.message}-{cue.span.start}-{cue.kind}",
        section=Section(cue.kind),
        status=Status(cue.status),
        text=one_line(cue.span.of(part.text)),
        spans=(Span(message=part.message, part=part.part, start=cue.span.start, end=cue.span.end),),
        confirmed=False,
    )
