"""Which claim tells each entry of a ledger and an inventory, and the claim that is hidden to prove it was read."""

from __future__ import annotations

import random
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from efforts.domain.source_text import Source
from efforts.domain.terms import terms_of

from ..artifact import Claim
from ..ledger import RETAINED, Entry


@dataclass(frozen=True, kw_only=True)
class Question:
    """`claims` are shown, numbered from 1; `hidden` is left out, and `lost` the place of its entry among `entries`."""

    entries: tuple[Entry, ...]
    claims: tuple[Claim, ...]
    hidden: Claim | None = None
    lost: int | None = None


def question(entries: Sequence[Entry], claims: Sequence[Claim], entailed: Collection[str], seed: str) -> Question:
    """One entailed claim is hidden, where one has an entry whose sentences no other claim cites."""
    draw = random.Random(f"{seed} mapping")
    order = list(claims)
    draw.shuffle(order)
    candidates = [
        (claim, place)
        for claim in order
        if claim.id in entailed and claim.section in RETAINED
        for place, entry in enumerate(entries, start=1)
        if is_only_of(claim, entry, claims)
    ]
    if not candidates:
        return Question(entries=tuple(entries), claims=tuple(order))
    # Of several the one that has least in common with the others: what another claim tells too is not lost.
    hidden, lost = min(candidates, key=lambda pair: shared(pair[0], claims))
    shown = tuple(claim for claim in order if claim.id != hidden.id)
    return Question(entries=tuple(entries), claims=shown, hidden=hidden, lost=lost)


def is_only_of(claim: Claim, entry: Entry, claims: Sequence[Claim]) -> bool:
    """Its sentences are this claim's, and no other claim's; and no other entry is of them."""
    sentences = set(entry.sentences)
    return (
        claim.section == entry.section
        and sentences <= set(claim.cites)
        and not any(sentences & set(other.cites) for other in claims if other.id != claim.id)
    )


def shared(claim: Claim, claims: Sequence[Claim]) -> float:
    """The largest part of its terms that another claim has."""
    terms = set(terms_of(claim.text))
    others = (set(terms_of(other.text)) for other in claims if other.id != claim.id)
    return max((len(terms & other) / max(len(terms), 1) for other in others), default=0.0)


def told(asked: Question, answer: Mapping[int, tuple[int, ...]]) -> dict[str, tuple[str, ...]]:
    """By the id of each entry the ids of the claims that tell it; what only the hidden claim cites is told by it."""
    found = {}
    for place, entry in enumerate(asked.entries, start=1):
        ids = tuple(asked.claims[number - 1].id for number in answer[place])
        if not ids and asked.hidden and set(entry.sentences) & set(asked.hidden.cites):
            ids = (asked.hidden.id,)
        found[entry.id] = ids
    return found


def sentences_of(entry: Entry, source: Source) -> list[str]:
    """Those of its sentences that the source has, with who says them."""
    return [
        f"{id} {source.part_of(id).who}: {' '.join(source.by_sentence[id].text.split())}"
        for id in entry.sentences
        if id in source.by_sentence
    ]
