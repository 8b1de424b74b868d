"""Which sentences of the source claims cite, in the order of the log, and the log cut at them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from compaction.domain.merging import Joined
from efforts.domain.text.source_text import Part, Sentence, Source, SourcePart

# What tools were asked and returned is folded to its two ends where it is longer, in characters.
LONGEST_TOOL, HEAD, TAIL = 1_600, 700, 400


@dataclass(frozen=True, kw_only=True)
class CitedSpan:
    """A sentence that claims cite: these by their numbers on the page, which are not the claims' ids."""

    number: int
    sentence: Sentence
    claims: tuple[int, ...]
    label: str


@dataclass(frozen=True, kw_only=True)
class CitedPiece:
    """Words of a part, inside a cited sentence or between two; `ends` where the sentence does."""

    text: str
    span: CitedSpan | None = None
    ends: bool = False


@dataclass(frozen=True, kw_only=True)
class FoldedPart:
    """A part in pieces: all of it in `head`, or folded with its ends shown."""

    head: tuple[CitedPiece, ...]
    folded: tuple[CitedPiece, ...]
    tail: tuple[CitedPiece, ...]


def spans_of(cited: Mapping[int, Sequence[str]], source: Source) -> tuple[CitedSpan, ...]:
    """`cited`: by the number of a claim, the ids of its sentences. What the log does not have leads nowhere."""
    claims: dict[str, list[int]] = {}
    for number, ids in cited.items():
        for id in dict.fromkeys(ids):
            claims.setdefault(id, []).append(number)
    found = [sentence for id, sentence in source.by_sentence.items() if id in claims]
    labels = labels_of(source)
    return tuple(
        CitedSpan(number=number, sentence=sentence, claims=tuple(claims[sentence.id]), label=labels[sentence.id])
        for number, sentence in enumerate(found, 1)
    )


def labels_of(source: Source) -> dict[str, str]:
    """What sentences are called on pages, by their ids: `2.5` is the fifth of turn 2. A model counts messages instead,
    which people do not see. Of several conversations, whose turns have the same numbers, the ids stay."""
    if isinstance(source, Joined):
        return {id: id for id in source.by_sentence}
    labels: dict[str, str] = {}
    counted: Counter[int] = Counter()
    for part in source.parts:
        for sentence in part.sentences:
            counted[part.turn] += 1
            labels[sentence.id] = f"{part.turn}.{counted[part.turn]}"
    return labels


def key_of(sentence: Sentence) -> str:
    """Of the part that it stands in, as the page knows it."""
    return f"{sentence.message}-{sentence.part}"


def cut(part: SourcePart, spans: Sequence[CitedSpan]) -> FoldedPart:
    if part.part == Part.TEXT or len(part.text) <= LONGEST_TOOL:
        return FoldedPart(head=tuple(pieces(part.text, spans, 0, len(part.text))), folded=(), tail=())
    last = len(part.text) - TAIL
    return FoldedPart(
        head=tuple(pieces(part.text, spans, 0, HEAD)),
        folded=tuple(pieces(part.text, spans, HEAD, last)),
        tail=tuple(pieces(part.text, spans, last, len(part.text))),
    )


def pieces(text: str, spans: Sequence[CitedSpan], start: int, end: int) -> Iterator[CitedPiece]:
    """Sentences do not overlap."""
    for span in spans:
        first, last = max(span.sentence.start, start), min(span.sentence.end, end)
        if first >= last:
            continue
        if start < first:
            yield CitedPiece(text=text[start:first])
        yield CitedPiece(text=text[first:last], span=span, ends=last == span.sentence.end)
        start = last
    if start < end:
        yield CitedPiece(text=text[start:end])
