"""Which claim tells each entry of a ledger and an inventory, and the claim that is hidden to prove it was read."""

from __future__ import annotations

import random
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from efforts.domain.text.source_text import Source
from efforts.domain.text.terms import terms_of

from ..artifact import Claim, Section
from ..ledger import RETAINED, Entry
from .answers import Told

# A claim of which another one has a larger part of the terms is not hidden: the other may well tell its entry too.
MOST_SHARED = 0.3


@dataclass(frozen=True, kw_only=True)
class Question:
    """`claims` are shown, numbered from 1: all but the results, which name in passing what a claim of its own is to
    tell. `hidden` is left out, and `lost` the place of its entry among `entries`."""

    entries: tuple[Entry, ...]
    claims: tuple[Claim, ...]
    hidden: Claim | None = None
    lost: int | None = None


def question(
    entries: Sequence[Entry], claims: Sequence[Claim], entailed: Collection[str], seed: str, attempt: int = 1
) -> Question:
    """One entailed claim is hidden, where one has an entry that no other claim could tell; at each attempt another."""
    order = [claim for claim in claims if claim.section != Section.RESULT]
    random.Random(f"{seed} mapping").shuffle(order)
    candidates = [
        (claim, place)
        for claim in order
        if claim.id in entailed and claim.section in RETAINED and shared(claim, order) <= MOST_SHARED
        for place, entry in enumerate(entries, start=1)
        if is_only_of(claim, entry, order, entries)
    ]
    if not candidates:
        return Question(entries=tuple(entries), claims=tuple(order))
    candidates.sort(key=lambda pair: shared(pair[0], order))
    hidden, lost = candidates[(attempt - 1) % len(candidates)]
    shown = tuple(claim for claim in order if claim.id != hidden.id)
    return Question(entries=tuple(entries), claims=shown, hidden=hidden, lost=lost)


def is_only_of(claim: Claim, entry: Entry, claims: Sequence[Claim], entries: Sequence[Entry]) -> bool:
    """Its sentences are this claim's, and no other claim's; and no other entry is of this claim's."""
    sentences, cites = set(entry.sentences), set(claim.cites)
    return (
        claim.section == entry.section
        and sentences <= cites
        and not any(sentences & set(other.cites) for other in claims if other.id != claim.id)
        and not any(cites & set(other.sentences) for other in entries if other.id != entry.id)
    )


def shared(claim: Claim, claims: Sequence[Claim]) -> float:
    """The largest part of its terms that another claim has."""
    terms = set(terms_of(claim.text))
    others = (set(terms_of(other.text)) for other in claims if other.id != claim.id)
    return max((len(terms & other) / max(len(terms), 1) for other in others), default=0.0)


def told(asked: Question, answer: Mapping[int, Told]) -> dict[str, tuple[str, ...]]:
    """By the id of each entry the ids of the claims that tell it; that of the hidden claim is told by it."""
    found = {
        entry.id: tuple(asked.claims[number - 1].id for number in answer[place].by)
        for place, entry in enumerate(asked.entries, start=1)
    }
    if asked.hidden and asked.lost:
        found[asked.entries[asked.lost - 1].id] = (asked.hidden.id,)
    return found


def missing(asked: Question, answer: Mapping[int, Told]) -> dict[str, str]:
    """By the id of an entry that is told in part what of it is not."""
    return {
        entry.id: " ".join(words.split())
        for place, entry in enumerate(asked.entries, start=1)
        if place != asked.lost and (words := answer[place].missing)
    }


def sentences_of(entry: Entry, source: Source) -> list[str]:
    """Those of its sentences that the source has, with who says them."""
    return [
        f"{id} {source.part_of(id).who}: {' '.join(source.by_sentence[id].text.split())}"
        for id in entry.sentences
        if id in source.by_sentence
    ]
