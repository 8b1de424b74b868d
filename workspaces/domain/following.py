"""Where lines are in a file, and in a later version of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

# Of the lines that are looked for, what must be left of them to be the same place.
LEAST_LEFT = 0.5
# Lines of both versions multiplied, beyond which they are not compared: it would take seconds.
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
    places = places_of(block, new)
    if len(places) == 1 and any(line.strip() for line in block):
        return Followed(first=places[0] + 1, last=places[0] + len(block), same=True)
    if left and len(left) >= LEAST_LEFT * len(block):
        return Followed(first=left[0] + 1, last=left[-1] + 1, same=False)
    return None


def places_of(block: Sequence[str], lines: Sequence[str], after: int = 0) -> list[int]:
    """The first two places, from 0 and not before `after`, at which all of `block` stands in `lines`."""
    # As one text, which is searched in a time that does not grow with how often they begin alike.
    text, sought = "".join(f"\n{line}" for line in lines[after:]) + "\n", "".join(f"\n{line}" for line in block) + "\n"
    found = list[int]()
    at = text.find(sought)
    while at >= 0 and len(found) < 2:
        found.append(after + text.count("\n", 0, at))
        at = text.find(sought, at + 1)
    return found


def left_of(old: Sequence[str], new: Sequence[str], start: int, end: int) -> list[int]:
    """Places in the new version of those lines that are still there, in their order."""
    before, after = same_ends(old, new)
    shift = len(new) - len(old)
    found = list(range(start, min(end, before)))
    middle_old, middle_new = old[before : len(old) - after], new[before : len(new) - after]
    if middle_old and middle_new and len(middle_old) * len(middle_new) <= MOST_COMPARED:
        for a, b, size in SequenceMatcher(None, middle_old, middle_new, autojunk=False).get_matching_blocks():
            found += [b + before + at for at in range(size) if start <= a + before + at < end]
    return found + [at + shift for at in range(max(start, len(old) - after), end)]


def same_ends(old: Sequence[str], new: Sequence[str]) -> tuple[int, int]:
    """How many lines are the same at the beginning, and how many of the others at the end."""
    before = 0
    while before < min(len(old), len(new)) and old[before] == new[before]:
        before += 1
    after = 0
    while after < min(len(old), len(new)) - before and old[-1 - after] == new[-1 - after]:
        after += 1
    return before, after
