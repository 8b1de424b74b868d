"""Items of one artifact against each other."""

from __future__ import annotations

from collections.abc import Iterator

from ...anchors import Anchor, Type, stands
from ...artifact import Status
from ...denials import denial
from ...wording import content
from ..judging import shortened
from .case import Case, Claim, Found, pairs_alike
from .values import comparable, frame, values_of

# So alike, two items are about the same.
ALIKE, SAME_FRAME, FEWEST = 0.7, 0.85, 2
AMOUNTS = frozenset({Type.NUMBER, Type.VERSION, Type.DATE, Type.TIME})
EXCLUDE = (
    (frozenset({Status.ACCEPTED, Status.IN_FORCE}), frozenset({Status.REJECTED, Status.SUPERSEDED, Status.REVOKED})),
    (frozenset({Status.OPEN, Status.BLOCKED}), frozenset({Status.DONE, Status.DROPPED})),
)


def other_status(case: Case) -> Iterator[Found]:
    """The same is told twice, with statuses that exclude each other."""
    for one, other in pairs_alike([claim for claim in case.told if claim.item], content, ALIKE):
        if values(one) == values(other) and exclude(one, other):
            yield found("both_statuses", one, other)


def exclude(one: Claim, other: Claim) -> bool:
    statuses = {claim.item.status for claim in (one, other) if claim.item}
    return any(statuses & some and statuses & others for some, others in EXCLUDE)


def values(claim: Claim) -> frozenset[tuple[str, str]]:
    return frozenset((anchor.type, anchor.value) for anchor in values_of(claim.text))


def opposite(case: Case) -> Iterator[Found]:
    """One says what another denies."""
    for one, other in pairs_alike(asserting(case), content, ALIKE):
        if denial(one.text, [other.text]) or denial(other.text, [one.text]):
            yield found("opposite_items", one, other)


def other_value(case: Case) -> Iterator[Found]:
    """Both say the same of different values."""
    for one, other in pairs_alike(asserting(case), frame, SAME_FRAME):
        differs = any(comparable(a, b) for a in amounts_of(one.text) for b in amounts_of(other.text))
        if differs and not are_apart(one, other) and len(frame(one.text)) >= FEWEST:
            yield found("values_of_items", one, other)


def amounts_of(text: str) -> list[Anchor]:
    """Two names are two things, of which the same may be said; two amounts of one thing are not."""
    return [value for value in values_of(text) if value.type in AMOUNTS]


def are_apart(one: Claim, other: Claim) -> bool:
    """Each has its values from a place of its own: then they are of different things."""
    quoted = [{sentence.order for sentence in claim.quoted} for claim in (one, other)]
    both = all(stands(value, " ".join(claim.quotes)) for claim in (one, other) for value in values_of(claim.text))
    return both and not quoted[0] & quoted[1]


def asserting(case: Case) -> list[Claim]:
    return [claim for claim in case.phrased if claim.item]


def found(rule: str, one: Claim, other: Claim) -> Found:
    text = f"“{shortened(one.text)}” and “{shortened(other.text)}” ({other.about}) exclude each other"
    return Found(rule=rule, about=one.about, text=text)
