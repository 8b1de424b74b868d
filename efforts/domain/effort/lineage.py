"""Which branch a turn belongs to: a lineage names the ancestors, root first, each with its last shared turn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Ancestor:
    """`last` is the number of its last turn that is shared, `seq` that of its last event."""

    branch: str
    last: int
    seq: int


Lineage = Sequence[Ancestor]


def owner_of(number: int, lineage: Lineage, own: str) -> str:
    """The branch that a turn of the timeline belongs to; of number 0 the one where all begins."""
    return next((one.branch for one in lineage if number <= one.last), own)


def last_common_turn(first: Sequence[tuple[str, int]], second: Sequence[tuple[str, int]]) -> int:
    """Of two timelines, each as branches with their last turns, root first."""
    common = 0
    for (branch, last), (other, others_last) in zip(first, second, strict=False):
        if branch != other:
            break
        common = min(last, others_last)
        if last != others_last:
            break
    return common
