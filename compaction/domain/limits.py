"""How large a source a model may be given, so that a draft and its redraft stay inside the cap."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

# Of the source's tokens, what an artifact may take at most; and the least that is kept for a reply, whose JSON has
# quotations and names of fields too.
LARGEST_SHARE, SMALLEST_REPLY = 0.35, 900
# Tokens in which a model that drafts again is told what fails, at most.
TOLD_AGAIN = 1_000


class Purpose(StrEnum):
    """What a model is asked for about summaries; each has a cap of its own."""

    COMPACTION = "compaction"
    ROLLING = "rolling"
    STAGE = "stage"
    JUDGE = "compaction_eval"


@dataclass(frozen=True, kw_only=True)
class Limits:
    """The largest sources, in tokens, of which a draft and a redraft, or one draft alone, can be made."""

    with_redraft: int
    alone: int


def limits(*, cap: int, window: int | None, overhead: int) -> Limits:
    """`overhead` is what one request needs beside the source, in tokens, its reply not counted."""
    room = min(cap, window or cap)
    once = overhead + SMALLEST_REPLY
    two = int((cap - 2 * once) / (2 * (1 + LARGEST_SHARE)))
    one = int((room - once) / (1 + LARGEST_SHARE))
    return Limits(with_redraft=max(min(two, one), 0), alone=max(one, 0))


def dearest(source_tokens: int, *, cap: int, overhead: int) -> int:
    """The most that a draft and its redraft may cost; to make the second, a model is sent the first as well."""
    return min(cap, 2 * (overhead + source_tokens) + 3 * reply_limit(source_tokens) + TOLD_AGAIN)


def reply_limit(source_tokens: int) -> int:
    return max(SMALLEST_REPLY, int(source_tokens * LARGEST_SHARE))


def packed(sizes: Iterable[tuple[int, int]], most: int, *, longest: int | None = None) -> list[list[int]]:
    """Turns, given with their tokens, in windows that follow each other: of `most` tokens, and of `longest` turns."""
    windows: list[list[int]] = []
    room = 0
    for turn, tokens in sizes:
        if not windows or tokens > room or len(windows[-1]) == longest:
            windows.append([])
            room = most
        windows[-1].append(turn)
        room -= tokens
    return windows
