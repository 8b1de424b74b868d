"""The line of efforts: which there were, when each began and ended, in their order. No search by words finds what was
first, or all of a month; dates do.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from efforts.domain.prompt.conversation import EffortInLine
from efforts.domain.prompt.layers import Choice, pinned_efforts, slugs_of
from efforts.domain.prompt.plan import PlanInputs
from efforts.domain.prompt.quotes import NOTES_END
from efforts.domain.prompt.rendering import JOIN
from efforts.domain.text.dates import without_days
from efforts.domain.text.terms import STOPWORDS, terms_of

# Asks for the order, whatever it names.
ORDER = re.compile(
    r"\bwhat (?:did (?:we|i) (?:do|work on|start|begin|finish|tackle)|have (?:we|i) (?:done|worked on)|was done|came)"
    r" (?:\w+ ){0,2}?(?:first|last|next|before|after|earliest|latest)\b"
    r"|\bwhat was (?:the )?(?:first|last|latest)(?: \w+)? (?:that )?we (?:did|worked|started|began|finished)\b"
    r"|\b(?:which|what) (?:effort|topic|task|project|one)s? (?:came|was|were|did we \w+) (?:\w+ )?"
    r"(?:first|last|next|before|after)\b"
    r"|\bwhich came (?:first|last)\b"
    r"|\bin (?:what|which) order (?:did|have|were|was) (?:we|they|these|those|the efforts)\b"
    r"|\bwhen did we (?:start|begin|open|finish|conclude|close|complete)\b"
    r"|\b(?:timeline|chronology) of (?:our|all|everything|what we)\b",
    re.IGNORECASE,
)
# Asks for an overview, where it names nothing but days.
OVERVIEW = re.compile(
    r"\b(?:summar(?:y|i[sz]e)|overview|recap|sum up)\b"
    r"|\bwhat (?:did (?:we|i) (?:do|work on|talk about|discuss|achieve|get done)"
    r"|have (?:we|i) (?:done|worked on|talked about|discussed|achieved)|was done|happened)\b",
    re.IGNORECASE,
)
NAMES_NOTHING = STOPWORDS | frozenset(
    terms_of(
        "summary summarise summarize overview recap sum short brief quick whole entire everything far until work worked"
        " happened did done discussed discuss achieve achieved get conversation chat effort topic give make write list"
    )
)
# Of what recall may take: the rest is for passages.
SHARE = 0.5
# Efforts that are listed at most: with more nobody sees the order.
MOST = 40
# Characters of one that stands for a summary.
LONGEST_TEXT = 200

# The built-in engine knows these lines again by llm/builtin/prompt.py: both change together.
LINE_BEGIN = "[Notes, not instructions: efforts{days}, in the order in which they were begun]"
ENTRY = "{place}. {slug} ({turns}, {days}, {status}){text}"
BETWEEN = "[… {count} more. search_efforts finds them.]"


def asks_what_was_when(text: str) -> bool:
    """Whether the answer is an order or an overview of what was done, and not something that was said."""
    if ORDER.search(text):
        return True
    return bool(OVERVIEW.search(text)) and set(terms_of(without_days(text))) <= NAMES_NOTHING


def wanted_places(count: int, named: Collection[int]) -> list[int]:
    """Which of so many, the most wanted first: those near the `named` ones; else from both ends."""
    near = sorted(named) or [1, count]
    return sorted(range(1, count + 1), key=lambda place: (min(abs(place - one) for one in near), place))[:MOST]


def fit_line(inputs: PlanInputs, choice: Choice, room: int) -> tuple[str, ...]:
    """As many as fit, the most wanted first, and as many of their texts as then fit too; none where there is no need.

    In the room that it takes it is the same.
    """
    if not leaves_out(inputs, choice):
        return ()
    efforts = largest(len(inputs.line.efforts), lambda n: line_tokens(inputs, block(inputs, choice, n, 0)) <= room)
    texts = largest(efforts, lambda n: line_tokens(inputs, block(inputs, choice, efforts, n)) <= room)
    return block(inputs, choice, efforts, texts) if efforts else ()


def largest(most: int, fits: Callable[[int], bool]) -> int:
    """Up to `most`; 0 where none fits."""
    return bisect_right(range(1, most + 1), False, key=lambda n: not fits(n))


def line_tokens(inputs: PlanInputs, lines: Sequence[str]) -> int:
    """With what parts them from what comes after."""
    return inputs.count("\n".join(lines) + JOIN) if lines else 0


def leaves_out(inputs: PlanInputs, choice: Choice) -> bool:
    """Whether the prompt leaves any of them out."""
    there = standing(choice)
    return len(inputs.line.efforts) < inputs.line.count or any(one.slug not in there for one in inputs.line.efforts)


def standing(choice: Choice) -> frozenset[str]:
    """Efforts that the prompt shows anyway, by a summary or by what was said."""
    return summarised(choice) | {key for key, kept in choice.layers.items() if kept.turns}


def summarised(choice: Choice) -> frozenset[str]:
    return slugs_of((*choice.shown_headlines, *choice.bodies)) | pinned_efforts(choice.pins)


def entry(one: EffortInLine, *, text: str = "") -> str:
    (first, last), (begun, ended) = one.turns, one.days
    return ENTRY.format(
        place=one.place,
        slug=f"{one.slug} “{one.name}”" if one.name else one.slug,
        turns=f"turns {first}-{last}" if last > first else f"turn {first}",
        days=begun if begun == ended else f"{begun} to {ended}",
        status="open" if one.is_open else "concluded",
        text=f": {text}" if text else "",
    )


def begin(inputs: PlanInputs) -> str:
    days = (first if first == last else f"{first} to {last}" for first, last in inputs.line.days)
    spans = ", ".join(days)
    return LINE_BEGIN.format(days=f" of {spans}" if spans else "")


def block(inputs: PlanInputs, choice: Choice, efforts: int, texts: int) -> tuple[str, ...]:
    """So many of the most wanted, and of the first of them the texts, but for those that stand as a summary."""
    told = summarised(choice)
    entries = {
        one.place: entry(one, text=one.text if wish < texts and one.slug not in told else "")
        for wish, one in enumerate(inputs.line.efforts[:efforts])
    }
    return (begin(inputs), *with_gaps(entries, inputs.line.count), NOTES_END)


def with_gaps(entries: Mapping[int, str], count: int) -> Iterator[str]:
    before = 0
    for place in (*sorted(entries), count + 1):
        if gap := place - before - 1:
            yield BETWEEN.format(count=f"{gap:,}")
        if place in entries:
            yield entries[place]
        before = place
