"""The log that an artifact is made of as its page shows it: part by part, cut at the sentences that claims cite."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from compaction.domain.merging import Joined
from efforts.domain.text.locating import one_line
from efforts.domain.text.snippets import code_marks, plainly
from efforts.domain.text.source_text import Part, Sentence, Source, SourcePart
from efforts.models import Branch

# What tools were asked and returned is folded to its two ends where it is longer, in characters.
LONGEST_TOOL, HEAD, TAIL = 1_600, 700, 400
# Heights in the map: of a part its characters, but so that it is seen and leaves room for others.
LEAST, MOST, GAP = 60, 2_000, 20


@dataclass(frozen=True, kw_only=True)
class CitedSpan:
    """A sentence that claims cite: these by their numbers on the page, which are not the claims' ids. `who` said it."""

    number: int
    sentence: Sentence
    claims: tuple[int, ...]
    label: str
    who: str

    @property
    def text(self) -> str:
        return one_line(self.sentence.text)


@dataclass(frozen=True, kw_only=True)
class CitedPiece:
    """Words of a part, inside a cited sentence or between two; `ends` where the sentence does."""

    text: str
    span: CitedSpan | None = None
    ends: bool = False


@dataclass(frozen=True, kw_only=True)
class SourcePartView:
    """What one side said, a tool was asked or has returned: all of it in `head`, or folded with its ends shown.

    `claims` are those that cite it, each by its number on the page and its id; `y` is its place in the map. `stage`:
    of one of several conversations, its number; `branch`: where its turn is, if not where all others are."""

    part: SourcePart
    who: str
    starts_turn: bool
    claims: tuple[tuple[int, str], ...]
    head: tuple[CitedPiece, ...]
    folded: tuple[CitedPiece, ...]
    tail: tuple[CitedPiece, ...]
    y: int
    stage: int = 0
    starts_stage: bool = False
    branch: Branch | None = None

    @property
    def key(self) -> str:
        return key_of(self.part)

    @property
    def is_tool(self) -> bool:
        return self.part.part != Part.TEXT

    @property
    def coverage(self) -> str:
        if self.claims:
            return "cited"
        return "tool" if self.is_tool else "uncited"

    @property
    def folded_characters(self) -> int:
        return sum(len(piece.text) for piece in self.folded)

    @property
    def height(self) -> int:
        return height_of(self.part)


@dataclass(frozen=True, kw_only=True)
class SourceView:
    parts: tuple[SourcePartView, ...]

    @property
    def height(self) -> int:
        return self.parts[-1].y + self.parts[-1].height if self.parts else 1

    @property
    def coverage(self) -> Counter[str]:
        return Counter(part.coverage for part in self.parts)


def spans_of(cited: Mapping[int, Sequence[str]], source: Source, person: str) -> tuple[CitedSpan, ...]:
    """`cited`: by the number of a claim, the ids of its sentences. What the log does not have leads nowhere."""
    claims: dict[str, list[int]] = {}
    for number, ids in cited.items():
        for id in dict.fromkeys(ids):
            claims.setdefault(id, []).append(number)
    found = [sentence for id, sentence in source.by_sentence.items() if id in claims]
    labels = labels_of(source)
    return tuple(
        CitedSpan(
            number=number,
            sentence=sentence,
            claims=tuple(claims[sentence.id]),
            label=labels[sentence.id],
            who=who(source.part_of(sentence.id), person),
        )
        for number, sentence in enumerate(found, 1)
    )


def labels_of(source: Source) -> dict[str, str]:
    """What sentences are called on pages, by their ids: `2.5` is the fifth of turn 2. A model counts messages instead,
    which people do not see. Of several conversations, whose turns have the same numbers, `3:2.5` is of the third."""
    if isinstance(source, Joined):
        return {
            f"{stage.place}:{id}": f"{stage.place}:{label}"
            for stage in source.stages
            for id, label in labels_of(stage.source).items()
        }
    labels: dict[str, str] = {}
    counted: Counter[int] = Counter()
    for part in source.parts:
        for sentence in part.sentences:
            counted[part.turn] += 1
            labels[sentence.id] = f"{part.turn}.{counted[part.turn]}"
    return labels


def key_of(place: Sentence | SourcePart) -> str:
    """Of the part that it is, or stands in, as the page knows it."""
    return f"{place.message}-{place.part}"


def source_view(
    source: Source,
    spans: Sequence[CitedSpan],
    ids: Mapping[int, str],
    person: str,
    branches: Mapping[int, Branch] | None = None,
) -> SourceView:
    """`ids`: of claims, by their numbers on the page. `person` is what the one who talks with the model is called;
    `branches`: of several conversations, by their numbers."""
    by_key: dict[str, list[CitedSpan]] = {}
    for span in spans:
        by_key.setdefault(key_of(span.sentence), []).append(span)
    parts: list[SourcePartView] = []
    before, y = (0, 0), 0
    joined = source.stages if isinstance(source, Joined) else ()
    stages = [stage.place for stage in joined for _ in stage.source.parts] or [0] * len(source.parts)
    for stage, part in zip(stages, source.parts, strict=True):
        inside = by_key.get(key_of(part), [])
        head, folded, tail = cut(part, inside)
        claims = sorted({number for span in inside for number in span.claims})
        parts.append(
            SourcePartView(
                part=part,
                who=who(part, person),
                starts_turn=(stage, part.turn) != before,
                claims=tuple((number, ids[number]) for number in claims),
                head=head,
                folded=folded,
                tail=tail,
                y=y,
                stage=stage,
                starts_stage=stage != before[0],
                branch=(branches or {}).get(stage),
            )
        )
        before, y = (stage, part.turn), y + height_of(part) + GAP
    return SourceView(parts=tuple(parts))


def cut(part: SourcePart, spans: Sequence[CitedSpan]) -> tuple[tuple[CitedPiece, ...], ...]:
    end = len(part.text)
    if part.part == Part.TEXT or end <= LONGEST_TOOL:
        return tuple(pieces(part, spans, 0, end)), (), ()
    return tuple(tuple(pieces(part, spans, *ends)) for ends in pairwise((0, HEAD, end - TAIL, end)))


def pieces(part: SourcePart, spans: Sequence[CitedSpan], start: int, end: int) -> Iterator[CitedPiece]:
    """Sentences do not overlap. Words are shown without the marks of Markdown; what tools say is no Markdown."""
    marks = tuple(code_marks(part.text)) if part.part == Part.TEXT else ()

    def shown(first: int, last: int) -> str:
        return plainly(part.text, first, last, marks)

    for span in spans:
        first, last = max(span.sentence.start, start), min(span.sentence.end, end)
        if first >= last:
            continue
        if start < first:
            yield CitedPiece(text=shown(start, first))
        yield CitedPiece(text=shown(first, last), span=span, ends=last == span.sentence.end)
        start = last
    if start < end:
        yield CitedPiece(text=shown(start, end))


def height_of(part: SourcePart) -> int:
    return min(max(len(part.text), LEAST), MOST)


def who(part: SourcePart, person: str) -> str:
    if part.part == Part.CALLS:
        return "model calls"
    if part.part == Part.RESULT:
        return part.tool or "tool"
    if part.speaker:
        return part.speaker
    return {"user": person, "file": "file"}.get(part.role, "reply")
