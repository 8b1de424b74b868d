"""One artifact of several, without a model: what stages of several conversations come to, for a new one to start from.

Equal stages give equal bytes, in whatever order they are read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar
from uuid import UUID

from efforts.domain.extractive import LONGEST_SUMMARY, trimmed
from efforts.domain.sentences import sentences
from efforts.domain.source_text import Source

from .artifact import SCHEMA_VERSION, Artifact, Generation, Item, Kind, Link, SourceRef, Status
from .gates.traceability import DETAILS, own_words
from .ledger import Entry
from .making import OPENING_TOKENS, Count, stats_of, with_id

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class Stage:
    """One window of a conversation: what is made of it, and its place among the stages."""

    place: int
    session: UUID
    source: Source
    artifact: Artifact | None = None


@dataclass(frozen=True, kw_only=True)
class Joined(Source):
    """The sources of all stages, one after the other; turns count in each conversation from 1."""

    stages: tuple[Stage, ...] = ()


def joined(stages: Iterable[Stage]) -> Joined:
    in_order = tuple(sorted(stages, key=lambda stage: stage.place))
    return Joined(
        parts=tuple(part for stage in in_order for part in stage.source.parts),
        masked=sum(stage.source.masked for stage in in_order),
        stages=in_order,
    )


def merge(source: Joined, home: SourceRef, generation: Generation, count: Count) -> Artifact:
    """`home` is the new conversation, `generation` how it was made; each stage has its artifact."""
    made = [(stage, stage.artifact) for stage in source.stages if stage.artifact]
    renamed = [(stage.place, item) for stage, artifact in made for item in artifact.items]
    items, became = merged_items([item.model_copy(update={"id": own_id(place, item.id)}) for place, item in renamed])
    backing = [own_id(stage.place, id) for stage, artifact in made for id in artifact.headline_items]
    headline = headline_of([artifact.headline for _, artifact in made], count)
    evidence = {(one.type, one.value, one.exit_status): one for _, artifact in made for one in artifact.evidence}
    return with_id(
        Artifact(
            schema_version=SCHEMA_VERSION,
            artifact_id="",
            kind=Kind.SEED,
            replaceable=True,
            source=home,
            generation=generation,
            headline=headline,
            headline_items=tuple(dict.fromkeys(became[id] for id in backing)),
            opening=opening_of([artifact for _, artifact in made], count),
            items=items,
            evidence=tuple(evidence.values()),
            stats=stats_of(headline, items, count),
            redactions=source.masked,
            warnings=(),
        )
    )


def own_id(place: int, id: str) -> str:
    return f"{place}.{id}"


# Items


def merged_items(items: Sequence[Item]) -> tuple[tuple[Item, ...], dict[str, str]]:
    """Each matter once, and under which id each is found now. Of one entry of the ledger the last item says how it
    stands; what says the same in the same section is one item with the links of both."""
    last = {item.ledger_ref: item for item in items if item.ledger_ref}
    kept: dict[tuple[str, str], Item] = {}
    became: dict[str, tuple[str, str]] = {}
    for item in items:
        stands = last[item.ledger_ref] if item.ledger_ref else item
        key = (str(stands.section), folded(stands.text))
        became[item.id] = key
        kept[key] = together(kept[key], stands) if key in kept else stands
    return tuple(kept.values()), {id: kept[key].id for id, key in became.items()}


def together(one: Item, other: Item) -> Item:
    links = unique([*one.links, *other.links])
    newest = max(one, other, key=lambda item: item.as_of_turn)
    status = one.status if other.status == Status.UNCONFIRMED else other.status
    changed = {"links": links, "as_of_turn": newest.as_of_turn, "ledger_ref": one.ledger_ref or other.ledger_ref}
    return one.model_copy(update={**changed, "status": status})


def folded(text: str) -> str:
    return " ".join(text.casefold().split())


def unique(values: Iterable[T]) -> tuple[T, ...]:
    return tuple(dict.fromkeys(values))


def merged_entries(ledgers: Iterable[Sequence[Entry]]) -> tuple[Entry, ...]:
    """What was said in the same words in several conversations is one entry; of one id the last says how it stands."""
    last = {entry.id: entry for ledger in ledgers for entry in ledger}
    kept: dict[tuple[str, str, str], Entry] = {}
    for entry in last.values():
        key = (str(entry.section), str(entry.status), folded(entry.text))
        known = kept.get(key)
        kept[key] = replace(known, spans=unique([*known.spans, *entry.spans])) if known else entry
    return tuple(kept.values())


# Headline and opening


def headline_of(headlines: Sequence[str], count: Count) -> str:
    """Their sentences as far as they fit, the first of each before the second of any; in the order of the stages."""
    pieces = [list(pieces_of(headline)) for headline in headlines]
    longest = max(map(len, pieces), default=0)
    turns = [(row, column) for row in range(longest) for column, each in enumerate(pieces) if row < len(each)]
    chosen: list[tuple[int, int]] = []
    for row, column in turns:
        wider = sorted([*chosen, (column, row)])
        if count(joined_text(wider, pieces)) <= LONGEST_SUMMARY:
            chosen = wider
    return joined_text(chosen, pieces) or trimmed(" ".join(headlines), count, LONGEST_SUMMARY)


def joined_text(chosen: Iterable[tuple[int, int]], pieces: Sequence[Sequence[str]]) -> str:
    return " ".join(unique(pieces[column][row] for column, row in chosen))


def pieces_of(headline: str) -> Iterator[str]:
    for sentence in sentences(" ".join(DETAILS.sub("", headline).split())):
        if said := own_words(sentence):
            yield said


def opening_of(artifacts: Sequence[Artifact], count: Count) -> tuple[Link, ...]:
    """What each conversation was begun with, as far as that is short."""
    first = {artifact.source.session: artifact.opening for artifact in reversed(artifacts)}
    kept: tuple[Link, ...] = ()
    for artifact in artifacts:
        wider = unique([*kept, *first[artifact.source.session]])
        if count(" ".join(link.quote for link in wider)) <= OPENING_TOKENS:
            kept = wider
    return kept
