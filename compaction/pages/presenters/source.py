"""The log that an artifact is made of, part by part as it was summarised, with what claims cite."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from compaction.pages.presenters.citing import CitedSpan, FoldedPart, cut
from efforts.domain.text.source_text import Part, Source, SourcePart

# Heights in the map: of a part its characters, but so that it is seen and leaves room for others.
LEAST, MOST, GAP = 60, 2_000, 20


@dataclass(frozen=True, kw_only=True)
class SourcePartView:
    """What one side said, a tool was asked or has returned. `claims` are those that cite it, each by its number on the
    page and its id."""

    message: int
    part: Part
    turn: int
    who: str
    starts_turn: bool
    cut: FoldedPart
    claims: tuple[tuple[int, str], ...]
    characters: int

    @property
    def key(self) -> str:
        return f"{self.message}-{self.part}"

    @property
    def is_tool(self) -> bool:
        return self.part != Part.TEXT

    @property
    def coverage(self) -> str:
        if self.claims:
            return "cited"
        return "tool" if self.is_tool else "uncited"

    @property
    def folded_characters(self) -> int:
        return sum(len(piece.text) for piece in self.cut.folded)


@dataclass(frozen=True, kw_only=True)
class MapBar:
    """A part in the map."""

    key: str
    coverage: str
    y: int
    height: int


@dataclass(frozen=True, kw_only=True)
class SourceView:
    parts: tuple[SourcePartView, ...]

    @property
    def bars(self) -> tuple[MapBar, ...]:
        return tuple(bars(self.parts))

    @property
    def height(self) -> int:
        last = self.bars[-1] if self.parts else None
        return last.y + last.height if last else 1

    @property
    def cited(self) -> int:
        return self.counted("cited")

    @property
    def uncited(self) -> int:
        return self.counted("uncited")

    @property
    def tools(self) -> int:
        return self.counted("tool")

    def counted(self, coverage: str) -> int:
        return sum(part.coverage == coverage for part in self.parts)


def source_view(source: Source, spans: Sequence[CitedSpan], ids: Mapping[int, str], person: str) -> SourceView:
    """`ids`: of claims, by their numbers on the page. `person` is what the one who talks with the model is called."""
    turns = [part.turn for part in source.parts]
    by_place: dict[tuple[int, Part], list[CitedSpan]] = {}
    for span in spans:
        by_place.setdefault((span.sentence.message, span.sentence.part), []).append(span)
    return SourceView(
        parts=tuple(
            part_view(part, by_place.get((part.message, part.part), []), ids, person, turn != before)
            for part, turn, before in zip(source.parts, turns, [None, *turns], strict=False)
        )
    )


def part_view(
    part: SourcePart, spans: Sequence[CitedSpan], ids: Mapping[int, str], person: str, starts_turn: bool
) -> SourcePartView:
    claims = sorted({number for span in spans for number in span.claims})
    return SourcePartView(
        message=part.message,
        part=part.part,
        turn=part.turn,
        who=who(part, person),
        starts_turn=starts_turn,
        cut=cut(part, spans),
        claims=tuple((number, ids[number]) for number in claims),
        characters=len(part.text),
    )


def who(part: SourcePart, person: str) -> str:
    if part.part == Part.CALLS:
        return "model calls"
    if part.part == Part.RESULT:
        return part.tool or "tool"
    if part.speaker:
        return part.speaker
    return {"user": person, "file": "file"}.get(part.role, "model")


def bars(parts: Sequence[SourcePartView]) -> Iterator[MapBar]:
    y = 0
    for part in parts:
        height = min(max(part.characters, LEAST), MOST)
        yield MapBar(key=part.key, coverage=part.coverage, y=y, height=height)
        y += height + GAP
