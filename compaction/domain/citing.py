"""Which characters of the source claims lead to, numbered in the order of the log, and the log cut at them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from efforts.domain.source_text import Part, Source, SourcePart

from .artifact import Link
from .gates.judging import is_exact

# What tools were asked and returned is folded to its two ends where it is longer, in characters.
LONGEST_TOOL, HEAD, TAIL = 1_600, 700, 400


@dataclass(frozen=True, order=True)
class Stretch:
    """Characters `start` to `end`, without the last, of one part of a message."""

    message: int
    part: Part
    start: int
    end: int


@dataclass(frozen=True, kw_only=True)
class Span:
    """A stretch that claims lead to, by the numbers of these."""

    number: int
    at: Stretch
    claims: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class Piece:
    """Words of a part that the same spans hold; `ending` are those that end with it."""

    text: str
    spans: tuple[int, ...]
    ending: tuple[Span, ...]


@dataclass(frozen=True, kw_only=True)
class Cut:
    """A part in pieces: all of it in `head`, or folded with its ends shown."""

    head: tuple[Piece, ...]
    folded: tuple[Piece, ...]
    tail: tuple[Piece, ...]


def stretches(links: Iterable[Link], source: Source) -> tuple[Stretch, ...]:
    """Where the links lead, each place once; those whose words are not there lead nowhere."""
    found = (Stretch(link.message, link.part, link.start, link.end) for link in links if is_exact(link, source))
    return tuple(dict.fromkeys(found))


def joined(found: Iterable[Stretch]) -> tuple[Stretch, ...]:
    """Those that touch as one."""
    whole: list[Stretch] = []
    for one in sorted(found):
        last = whole[-1] if whole else None
        if last and (last.message, last.part) == (one.message, one.part) and one.start <= last.end + 1:
            whole[-1] = Stretch(last.message, last.part, last.start, max(last.end, one.end))
        else:
            whole.append(one)
    return tuple(whole)


def numbered(cited: Mapping[int, Sequence[Stretch]], source: Source) -> tuple[Span, ...]:
    """`cited`: by the number of a claim, what it leads to."""
    places = {place: index for index, place in enumerate(source.by_place)}
    claims: dict[Stretch, list[int]] = {}
    for number, found in cited.items():
        for one in found:
            claims.setdefault(one, []).append(number)
    order = sorted(claims, key=lambda one: (places[one.message, one.part], one.start, one.end))
    return tuple(Span(number=number, at=one, claims=tuple(claims[one])) for number, one in enumerate(order, 1))


def cut(part: SourcePart, spans: Sequence[Span]) -> Cut:
    if part.part == Part.TEXT or len(part.text) <= LONGEST_TOOL:
        return Cut(head=pieces(part.text, spans, 0, len(part.text)), folded=(), tail=())
    last = len(part.text) - TAIL
    return Cut(
        head=pieces(part.text, spans, 0, HEAD),
        folded=pieces(part.text, spans, HEAD, last),
        tail=pieces(part.text, spans, last, len(part.text)),
    )


def pieces(text: str, spans: Sequence[Span], start: int, end: int) -> tuple[Piece, ...]:
    inside = [span for span in spans if span.at.start < end and start < span.at.end]
    edges = {edge for span in inside for edge in (span.at.start, span.at.end) if start < edge < end}
    return tuple(pieces_between(text, inside, [start, *sorted(edges), end]))


def pieces_between(text: str, spans: Sequence[Span], edges: Sequence[int]) -> Iterator[Piece]:
    for start, end in pairwise(edges):
        here = [span for span in spans if span.at.start <= start and end <= span.at.end]
        yield Piece(
            text=text[start:end],
            spans=tuple(span.number for span in here),
            ending=tuple(span for span in here if span.at.end == end),
        )
