"""Where lines of a file are in a later version of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

# Of the lines that are looked for, what must be left of them to be the same place.
LEAST_LEFT = 0.5
# Lines of both versions multiplied, beyond which only the very same lines are looked for: it would take seconds.
MOST_COMPARED = 4_000_000


@dataclass(frozen=True, kw_only=True)
class Followed:
    """From 1. `same`: not a letter of them has changed."""

    first: int
    last: int
    same: bool


def follow(old: Sequence[str], new: Sequence[str], first: int, last: int) -> Followed | None:
    """None where less than half of the lines is left, and they stand nowhere else as they were."""
    block = list(old[first - 1 : last])
    left = left_of(old, new, first - 1, last)
    if left and len(left) == len(block) and left[-1] - left[0] == len(block) - 1:
        return Followed(first=left[0] + 1, last=left[-1] + 1, same=True)
    # Moved: lines that were cut and pasted elsewhere are no change of what stood there.
    places = [at for at in range(len(new) - len(block) + 1) if list(new[at : at + len(block)]) == block]
    if len(places) == 1 and any(line.strip() for line in block):
        return Followed(first=places[0] + 1, last=places[0] + len(block), same=True)
    if left and len(left) >= LEAST_LEFT * len(block):
        return Followed(first=left[0] + 1, last=left[-1] + 1, same=False)
    return None


def left_of(old: Sequence[str], new: Sequence[str], start: int, end: int) -> list[int]:
    """Places in the new version of those lines that are still there, in their order."""
    before = 0
    while before < min(len(old), len(new)) and old[before] == new[before]:
        before += 1
    after = 0
    while after < min(len(old), len(new)) - before and old[-1 - after] == new[-1 - after]:
        after += 1
    shift = len(new) - len(old)
    found = list(range(start, min(end, before)))
    middle_old, middle_new = old[before : len(old) - after], new[before : len(new) - after]
    if middle_old and middle_new and len(middle_old) * len(middle_new) <= MOST_COMPARED:
        for a, b, size in SequenceMatcher(None, middle_old, middle_new, autojunk=False).get_matching_blocks():
            found += [b + before + at for at in range(size) if start <= a + before + at < end]
    return found + [at + shift for at in range(max(start, len(old) - after), end)]
