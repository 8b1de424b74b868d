"""An artifact made of a draft: quotations are found in the source, and what only code can say is added."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from efforts.domain.source_text import Part, Source, SourcePart, normal

from .artifact import (
    SCHEMA_VERSION,
    Actor,
    Artifact,
    Draft,
    DraftItem,
    Evidence,
    Generation,
    Item,
    Kind,
    Link,
    SourceRef,
    Status,
    Warned,
)
from .artifact import id_of as artifact_id_of
from .ledger import Entry

Count = Callable[[str], int]

ACTORS: dict[str, Actor] = {"user": "user", "assistant": "assistant", "tool": "tool"}
# Tokens of the opening request that stand whole, but no more than this share of the source; of a longer one its ends.
OPENING_TOKENS, OPENING_SHARE = 300, 0.2
# Characters of both ends for each token that they may take.
END_CHARACTERS = 1.5


@dataclass(frozen=True, kw_only=True)
class Frame:
    """What of an artifact does not come from its draft."""

    kind: Kind
    replaceable: bool
    source: SourceRef
    generation: Generation
    evidence: tuple[Evidence, ...] = ()
    warnings: tuple[Warned, ...] = ()


def make(draft: Draft, source: Source, frame: Frame, *, count: Count, appended: Sequence[Entry] = ()) -> Artifact:
    """A quotation that the source does not have gives no link, and gate B will say so.

    `appended` are candidates that the draft lacks: each becomes an unconfirmed item behind those of the draft.
    """
    taken = {item.id for item in draft.items}
    more = [item for item in (unconfirmed(entry, source, taken) for entry in appended) if item]
    items = (*(item_of(item, source) for item in draft.items), *more)
    made = Artifact(
        schema_version=SCHEMA_VERSION,
        artifact_id="",
        kind=frame.kind,
        replaceable=frame.replaceable,
        source=frame.source,
        generation=frame.generation,
        headline=draft.headline,
        headline_items=draft.headline_items,
        opening=opening_of(source, count),
        items=items,
        evidence=frame.evidence,
        stats=stats_of(draft.headline, items, count),
        redactions=source.masked,
        warnings=frame.warnings,
    )
    return with_id(made)


def with_id(artifact: Artifact) -> Artifact:
    return artifact.model_copy(update={"artifact_id": artifact_id_of(artifact.body)})


def stats_of(headline: str, items: Sequence[Item], count: Count) -> dict[str, int]:
    unconfirmed = sum(item.status == Status.UNCONFIRMED for item in items)
    return {
        "item_tokens": count("\n".join(item.text for item in items)),
        "headline_tokens": count(headline),
        **Counter(str(item.section) for item in items),
        **({"unconfirmed": unconfirmed} if unconfirmed else {}),
    }


def item_of(item: DraftItem, source: Source) -> Item:
    found = [(quote.quote, link_to(source, quote.message, quote.quote)) for quote in item.quotes]
    links = tuple(link for _, link in found if link)
    turns = {part.message: part.turn for part in source.parts}
    return Item(
        id=item.id,
        section=item.section,
        status=item.status,
        actor=item.actor,
        text=item.text,
        as_of_turn=max((turns[link.message] for link in links), default=0),
        ledger_ref=item.ledger,
        links=links,
        verbatim=all_quoted(item.text, links),
    )


def unconfirmed(entry: Entry, source: Source, taken: set[str]) -> Item | None:
    """The sentence of a candidate as an item; nothing where it lies outside the source."""
    span = entry.spans[0] if entry.spans else None
    part = source.by_place.get((span.message, span.part)) if span else None
    if span is None or part is None or not part.text[span.start : span.end].strip():
        return None
    link = part_link(part, span.start, span.end)
    return Item(
        id=free_id(entry.id, taken),
        section=entry.section,
        status=Status.UNCONFIRMED,
        actor=ACTORS.get(str(part.role), "tool"),
        text=link.quote,
        as_of_turn=part.turn,
        ledger_ref=entry.id,
        links=(link,),
        verbatim=True,
    )


def free_id(wanted: str, taken: set[str]) -> str:
    id = wanted
    while id in taken:
        id += "+"
    taken.add(id)
    return id


def all_quoted(text: str, links: tuple[Link, ...]) -> bool:
    """Whether the text is nothing but quotations of it, one or several; white space apart."""
    words = " ".join(text.split())
    each = [" ".join(link.quote.split()) for link in links]
    return bool(each) and (words == " … ".join(each) or set(words.split(" … ")) <= set(each))


def link_to(source: Source, message: int, quote: str) -> Link | None:
    """Where the words stand in that message, first in what was said; only white space may differ."""
    for part in Part:
        found = source.by_place.get((message, part))
        if found and (link := link_in(found, normal(quote))):
            return link
    return None


def link_in(part: SourcePart, quote: str) -> Link | None:
    words = quote.split()
    if not words:
        return None
    start = part.text.find(quote)
    if start >= 0:
        end = start + len(quote)
    else:
        span = spread(words, part.text)
        if span is None:
            return None
        start, end = span
    return Link(message=part.message, part=part.part, start=start, end=end, quote=part.text[start:end])


def spread(words: list[str], text: str) -> tuple[int, int] | None:
    """The words in their order with any white space between."""
    for start in starts(words[0], text):
        at = start
        for word in words:
            while at < len(text) and text[at].isspace() and at > start:
                at += 1
            if not text.startswith(word, at):
                break
            at += len(word)
        else:
            return start, at
    return None


def starts(word: str, text: str) -> Iterator[int]:
    at = text.find(word)
    while at >= 0:
        yield at
        at = text.find(word, at + 1)


def opening_of(source: Source, count: Count) -> tuple[Link, ...]:
    first = next((part for part in source.parts if part.role == "user" and part.part == Part.TEXT), None)
    if first is None:
        return ()
    room = min(OPENING_TOKENS, int(count(source.text) * OPENING_SHARE))
    length = len(first.text)
    if count(first.text) <= room or length < 2:
        return (part_link(first, 0, length),)
    end = min(max(int(room * END_CHARACTERS), 1), length // 2)
    return part_link(first, 0, end), part_link(first, length - end, length)


def part_link(part: SourcePart, start: int, end: int) -> Link:
    return Link(message=part.message, part=part.part, start=start, end=end, quote=part.text[start:end])
