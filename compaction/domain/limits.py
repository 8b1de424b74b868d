"""How much may be asked for a source, in tokens: replies, caps, windows, and what is not worth a request."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from .rendering import BODY_FROM

# A reply has room for the form: so many tokens, or this share of the source where that is more.
REPLY, REPLY_SHARE = 3_000, 0.8
# What the answers of a check need at most, for each note or entry and around them.
INVENTORY_REPLY, HALF_REPLY, MAPPING_REPLY, OVERTAKEN_REPLY = 2_000, 2_000, 1_200, 1_500
# Of the tasks' texts and what is told beside the log, to a drafter and to a checker; and of what was found.
TASK, CHECK_TASK, FINDINGS = 1_100, 700, 1_000
# Of a source's tokens what the claims take in the two halves together, and claims and entries in a mapping.
IN_HALVES, IN_MAPPING = 0.35, 0.5
# A body is to take this share of a source of more than so many tokens, which leaves room to the limit of 35 %.
BODY_ASKED = 0.28
# Of so few tokens nothing is asked; and nothing that is not earned back within so many calls.
LEAST_SOURCE, MOST_CALLS = 300, 20
# What models that think first may use up before they write.
THINKING = 4_000


class Purpose(StrEnum):
    """What a model is asked for about summaries; each has a cap of its own."""

    COMPACTION = "compaction"
    ROLLING = "rolling"
    STAGE = "stage"
    CHECK = "compaction_eval"
    EXAM = "exam"


@dataclass(frozen=True, kw_only=True)
class DraftPrice:
    """At most, in tokens: of a draft with its repair, and of a check."""

    draft: int
    check: int

    @property
    def total(self) -> int:
        return self.draft + self.check


def reply_limit(source_tokens: int, window: int | None = None) -> int:
    """`source_tokens`: of the log as it is sent."""
    wanted = max(REPLY, int(source_tokens * REPLY_SHARE))
    return min(wanted, max(window - source_tokens - TASK, 1)) if window else wanted


def body_asked(source_tokens: int) -> int | None:
    """Tokens that a drafter is asked to stay within; None for a log so short that no limit is named."""
    return int(source_tokens * BODY_ASKED) if source_tokens > BODY_FROM else None


def price(source_tokens: int, *, cap: int, check_cap: int) -> DraftPrice:
    """Draft, one repair, one check that need not be asked again."""
    reply = reply_limit(source_tokens)
    draft = source_tokens + TASK + reply
    again = source_tokens + TASK + 2 * reply + FINDINGS
    log = source_tokens + CHECK_TASK
    first = 3 * log + INVENTORY_REPLY + 2 * HALF_REPLY + int(IN_HALVES * source_tokens)
    check = first + CHECK_TASK + int(IN_MAPPING * source_tokens) + MAPPING_REPLY
    return DraftPrice(draft=min(draft + again, cap), check=min(check, check_cap))


def overtaken_price(windows: Iterable[int]) -> int:
    """Of the request that names claims of windows of so many tokens which later ones overtake."""
    return sum(reply_limit(tokens) for tokens in windows) + TASK + OVERTAKEN_REPLY


def largest_source(*, cap: int, check_cap: int, window: int | None) -> int:
    """Tokens of a log for which a draft, a repair and a check are within their caps and the model's window."""
    low, high = 0, max(cap, check_cap)
    while low < high:
        middle = (low + high + 1) // 2
        if fits(middle, cap=cap, check_cap=check_cap, window=window):
            low = middle
        else:
            high = middle - 1
    return low


def fits(source_tokens: int, *, cap: int, check_cap: int, window: int | None) -> bool:
    whole = price(source_tokens, cap=10**9, check_cap=10**9)
    largest = source_tokens + 2 * TASK + 2 * reply_limit(source_tokens) + FINDINGS
    return whole.draft <= cap and whole.check <= check_cap and largest <= (window or largest)


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


def payback(spent: int, saved: int) -> int | None:
    """After how many calls what was spent is earned back; None: never."""
    return None if saved <= 0 else -(-spent // saved)
