"""How large a source a model may be given, so that a draft and its redraft stay inside the cap."""

from __future__ import annotations

from dataclasses import dataclass

# Of the source's tokens, what an artifact may take at most; and the least that is kept for a reply, whose JSON has
# quotations and names of fields too.
LARGEST_SHARE, SMALLEST_REPLY = 0.35, 900


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


def reply_limit(source_tokens: int) -> int:
    return max(SMALLEST_REPLY, int(source_tokens * LARGEST_SHARE))
