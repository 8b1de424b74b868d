"""The notes of a half of a check: claims in seeded order, and among them what code knows to be false or true."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from efforts.domain.text.canonical import canonical_json, sha256
from efforts.domain.text.source_text import Source

from ..artifact import Claim
from .planting import controls, misquoted, turned

# In each half.
CANARIES, CONTROLS = 2, 1
# Fewer claims are read at once.
FEWEST_HALVED = 4


class Role(StrEnum):
    CLAIM = "claim"
    CANARY = "canary"
    CONTROL = "control"


@dataclass(frozen=True, kw_only=True)
class Note:
    """`number` is what one request calls it. `claim` is what is shown; `kind` what was done to it.

    A canary that turns a claim (`of`, its id) counts only where that claim is found entailed.
    """

    number: int
    role: Role
    claim: Claim
    kind: str = ""
    of: str = ""


Half = tuple[Note, ...]


def seed_of(claims: Iterable[Claim], version: str, attempt: int) -> str:
    """By which notes are drawn: a hash of the claims, of the prompts' version and of the number of the attempt."""
    return sha256(canonical_json([[claim.content for claim in claims], version, attempt]))


def halves(claims: Sequence[Claim], source: Source, seed: str, *, halved: bool = True) -> tuple[Half, ...]:
    """All claims, each in one half, with canaries and a control in each; one half where there are few.

    Raises `NothingToPlant` where the source has no sentences to make canaries of.
    """
    draw = random.Random(seed)
    order = list(claims)
    draw.shuffle(order)
    middle = (len(order) + 1) // 2
    groups = [order[:middle], order[middle:]] if halved and len(order) >= FEWEST_HALVED else [order]
    taken: set[str] = set()
    return tuple(half(group, groups[1 - index], source, draw, taken) for index, group in enumerate(pairs(groups)))


def pairs(groups: list[list[Claim]]) -> list[list[Claim]]:
    """So that a single group has an empty other."""
    if len(groups) == 1:
        groups.append([])
        return groups[:1]
    return groups


def half(group: Sequence[Claim], other: Sequence[Claim], source: Source, draw: random.Random, taken: set[str]) -> Half:
    planted = [
        *((Role.CANARY, one) for one in misquoted(source, draw, CANARIES, taken)),
        *((Role.CANARY, one) for one in turned(other, source, draw)),
        *((Role.CONTROL, one) for one in controls(source, draw, CONTROLS, taken)),
    ]
    notes = [(Role.CLAIM, claim, "", "") for claim in group]
    notes += [(role, one.claim, one.kind, one.of) for role, one in planted]
    draw.shuffle(notes)
    return tuple(
        Note(number=number, role=role, claim=claim, kind=kind, of=of)
        for number, (role, claim, kind, of) in enumerate(notes, start=1)
    )
