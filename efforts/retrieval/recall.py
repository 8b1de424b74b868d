"""What a message needs of what its prompt does not show."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from itertools import islice
from typing import Any

from efforts.domain.effort.policy import ContextMode
from efforts.domain.prompt import need
from efforts.domain.prompt.conversation import LogMessage, Recalled
from efforts.domain.prompt.layers import runs_of
from efforts.domain.text.ranking import Ranked
from efforts.log.timelines import LOG_FIELDS, log_message_of
from efforts.models import Branch, Message

from .search import STRATEGY, Search, search_branch
from .vectors import Meant

# More than fits a small budget. What weighs less than this share of the best is there by chance.
MOST = 60
LEAST_OF_BEST = 0.3
# For a message that asks in passing: so many passages at most, and so many characters of them.
FEW, FEW_CHARACTERS = 3, 1_000
# Characters of a message that is recalled whole in an exchange; of a longer one its best passage.
WHOLE = 2_400


@dataclass(frozen=True, kw_only=True)
class Recollection:
    """`passages`: best first, more than will fit; none where the message needs none. `why`: a sentence. `query`: empty
    where nothing was looked for."""

    passages: tuple[Recalled, ...] = ()
    why: str = ""
    query: str = ""
    strategy: str = STRATEGY
    params: Mapping[str, Any] = field(default_factory=dict)
    found: int = 0


def recall(
    branch: Branch,
    text: str,
    *,
    before: int,
    mode: ContextMode,
    today: date,
    shown: Collection[int] = (),
    snapshot: int | None = None,
    meant: Meant | None = None,
    focus: str = "",
) -> Recollection:
    """For the turn `before`. `shown`: numbers of the turns that its prompt shows; `today`: the day of the message;
    `snapshot`: id of the last message that can be found; `meant`: what the message means, where that is known; `focus`:
    id of the effort in which is looked first."""
    params = {"mode": str(mode), "before": before, "today": today.isoformat(), "shown": runs_of(sorted(shown))}
    if focus:
        params["focus"] = focus
    nothing = Recollection(params=params)
    if mode == ContextMode.OFF:
        return replace(nothing, why=need.IS_OFF)
    if not need.asks(text):
        return replace(nothing, why=need.NOTHING_ASKED)
    search = search_branch(
        branch, text, before=before, today=today, snapshot=snapshot, turns=MOST, meant=meant, focus=focus
    )
    meaning = {"meaning": meant.params} if meant else {}
    looked = replace(nothing, query=text, params={**search.query.params, **params, **meaning}, found=search.found)
    if why := why_not(search, shown):
        return replace(looked, why=why)
    chosen, why = outside(search.ranked, shown), need.NEEDED
    if need.asks_in_passing(text):
        chosen, why = list(few(chosen)), need.LITTLE_NEEDED
    passages = exchanges(search, chosen) if mode == ContextMode.HEAVY else quoted(search, chosen)
    return replace(looked, passages=tuple(passages), why=why)


def why_not(search: Search, shown: Collection[int]) -> str:
    if not search.query.terms:
        return need.NOTHING_TELLING
    # Where the person points there, what the prompt shows of something else is no better.
    focused = [one for one in search.ranked if one.focused]
    if focused and not need.why_not(focused, shown, search.statistics.weight):
        return ""
    return need.why_not(search.ranked, shown, search.statistics.weight)


def outside(ranked: Sequence[Ranked], shown: Collection[int]) -> list[Ranked]:
    hidden = [one for one in ranked if one.found.number not in shown and (one.own or one.near or one.meaning)]
    return [one for one in hidden[:MOST] if one.score >= LEAST_OF_BEST * hidden[0].score]


def few(chosen: Iterable[Ranked]) -> Iterator[Ranked]:
    """The best one, and those after it that are short enough."""
    left = FEW_CHARACTERS
    for place, one in enumerate(islice(chosen, FEW)):
        left -= one.found.end - one.found.start
        if place and left < 0:
            break
        yield one


def quoted(search: Search, chosen: Sequence[Ranked]) -> Iterator[Recalled]:
    """The best passage of each message."""
    said = messages(one.found.message for one in chosen)
    for one in chosen:
        yield recalled(search, one, said[one.found.message], one.found.start, one.found.end)


def exchanges(search: Search, chosen: Sequence[Ranked]) -> Iterator[Recalled]:
    """All that was said in each turn; of a long message its best passage."""
    turns = list(dict.fromkeys(one.found.turn for one in chosen))
    ranked = {one.found.message: one for one in reversed(search.ranked)}
    there = [one for one in ranked.values() if one.found.turn in set(turns)]
    said = messages(one.found.message for one in there)
    for one in sorted(there, key=lambda one: (turns.index(one.found.turn), one.found.message)):
        message = said[one.found.message]
        whole = len(message.text) <= WHOLE
        yield recalled(
            search, one, message, 0 if whole else one.found.start, len(message.text) if whole else one.found.end
        )


def recalled(search: Search, one: Ranked, message: LogMessage, start: int, end: int) -> Recalled:
    return Recalled(
        turn=one.found.number,
        message=message,
        start=start,
        end=end,
        said_on=one.found.said_on,
        effort=one.found.effort,
        score=one.score,
        why=search.why(one),
    )


def messages(ids: Iterable[int]) -> dict[int, LogMessage]:
    rows = Message.objects.filter(pk__in=set(ids)).values_list(*LOG_FIELDS)
    return {message.id: message for message in map(log_message_of, rows)}
