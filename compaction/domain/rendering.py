"""How an artifact stands in the prompt: of a conclusion by its headline, of a scope that a person chose by its body."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from efforts.domain.source_text import Part

from .artifact import Artifact, Item, Kind, Link, Section, Status, is_mere_quotation

TITLES = {
    Section.CONSTRAINT: "Rules",
    Section.DECISION: "Decisions",
    Section.OPEN_WORK: "Open work",
    Section.NEXT_STEP: "Next",
    Section.CHANGED: "Changed",
    Section.FACT: "Facts",
    Section.RISK: "Risks",
    Section.REJECTED: "Rejected",
}
# What a status adds to its section; of the others the title says enough.
MARKS = {
    Status.PROPOSED: "proposed",
    Status.SUPERSEDED: "superseded",
    Status.REJECTED: "rejected",
    Status.BLOCKED: "blocked",
    Status.DONE: "done",
    Status.DROPPED: "dropped",
    Status.REVOKED: "revoked",
    Status.UNCONFIRMED: "unconfirmed",
}


def standing_text(artifact: Artifact) -> str:
    """What would stand in for the scope."""
    return artifact.headline if artifact.kind == Kind.CONCLUSION else body_text(artifact)


def body_text(artifact: Artifact) -> str:
    # Turns of other conversations say nothing in this one.
    return text_of(artifact.headline, artifact.opening, artifact.items, turns=artifact.kind != Kind.SEED)


def text_of(headline: str, opening: tuple[Link, ...], items: Sequence[Item], *, turns: bool = True) -> str:
    return "\n".join(lines_of(headline, opening, items, turns))


def lines_of(headline: str, opening: tuple[Link, ...], all_items: Sequence[Item], turns: bool) -> Iterator[str]:
    yield headline
    quoted = quotations(all_items)
    asked = opening_text(opening)
    if asked and not all(any(" ".join(link.quote.split()) in one.text for one in quoted) for link in opening):
        yield f"Asked: “{asked}”"
    told = [item for item in all_items if not is_mere_quotation(item)]
    for section, title in TITLES.items():
        items = [item for item in told if item.section == section]
        if items:
            yield f"{title}:"
            yield from (f"- {line_of(item, turns)}" for item in items)
    if quoted:
        yield "Said:"
        yield from (f"- {one.turn}: “{one.text}”" if turns else f"- “{one.text}”" for one in quoted)


@dataclass(frozen=True, kw_only=True)
class Quotation:
    """What items quote of one part of a message, each word once."""

    message: int
    part: Part
    turn: int
    text: str
    items: tuple[Item, ...]

    @property
    def key(self) -> str:
        """What reviewers call it, beside the ids of items."""
        return f"said:{self.message}:{self.part}"


def quotations(items: Iterable[Item]) -> list[Quotation]:
    """What only shows what was said: by message, however many items show parts of it and whatever these sound like."""
    found: dict[tuple[int, Part], list[tuple[Link, Item]]] = {}
    for item in items:
        if is_mere_quotation(item):
            for link in shown_links(item):
                found.setdefault((link.message, link.part), []).append((link, item))
    return [quotation(place, pairs) for place, pairs in sorted(found.items())]


def shown_links(item: Item) -> list[Link]:
    """Those whose words its text has; others only bear it out."""
    words = " ".join(item.text.split())
    return [link for link in item.links if " ".join(link.quote.split()) in words]


def quotation(place: tuple[int, Part], pairs: list[tuple[Link, Item]]) -> Quotation:
    text, end = "", -1
    for link in sorted((link for link, _ in pairs), key=lambda link: (link.start, -link.end)):
        if link.end > end:
            gap = "" if end < 0 else " " if link.start <= end + 1 else " … "
            text += gap + link.quote[max(end - link.start, 0) if end >= 0 else 0 :].strip()
            end = link.end
    items = tuple({item.id: item for _, item in pairs}.values())
    turn = max(item.as_of_turn for item in items)
    return Quotation(message=place[0], part=place[1], turn=turn, text=" ".join(text.split()), items=items)


def opening_text(opening: tuple[Link, ...]) -> str:
    return " … ".join(link.quote.strip() for link in opening)


def line_of(item: Item, turns: bool = True) -> str:
    """A quotation is shown as one, with its turn: it says what was said then."""
    mark = "" if item.section == Section.CHANGED else MARKS.get(item.status, "")
    note = ", ".join(part for part in (mark, f"turn {item.as_of_turn}" if turns else "") if part)
    text = " ".join(item.text.split())
    said = f"“{text}”" if item.verbatim else text
    return f"{said} ({note})" if note else said
