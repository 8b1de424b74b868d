"""What recall does at ordinary messages: how often it fires, and whether what it brings is what the reply was about.

Nobody has judged these. A passage is taken for right where it shares telling words with the reply that really followed,
words that neither the message nor what the prompt shows anyway has.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import count

from django.conf import settings

from benchmarks.replay import Talk, moment
from efforts.domain.prompt.conversation import Recalled
from efforts.domain.text.terms import STOPWORDS, terms_of
from efforts.llm.tokens import get_counter
from efforts.retrieval.recall import recall

from .asking import Stage

# Words in at most this share of the turns tell what is talked of; so many of them in common are no chance.
RARE = 0.02
SHARED = 2
# Of the budget: what the newest turns of the same effort may take beside system text, tools and summaries.
WINDOW = 0.5

Words = frozenset[str]


@dataclass(frozen=True, kw_only=True)
class Spoken:
    """A turn of the data; `session` it belongs to, `on` which day."""

    number: int
    session: int
    on: date
    said: str
    reply: str

    @property
    def text(self) -> str:
        return f"{self.said}\n{self.reply}"


@dataclass(frozen=True, kw_only=True)
class Remark:
    """One message, whether recall fired at it, and whether what it brought was right."""

    turn: int
    fired: bool
    right: bool


def overhear(stage: Stage, most: int) -> Iterator[Remark]:
    """At most so many messages, evenly over the conversation."""
    turns = spoken_in(stage.talk)
    met = Counter(word for turn in turns for word in words_of(turn.text))
    telling = frozenset(word for word, times in met.items() if times <= max(RARE * len(turns), SHARED))
    step = max(-(-len(turns) // most), 1) if most else len(turns)
    # The first has nothing before it, and after the last nothing tells what it was about.
    for place in range(step, len(turns) - 1, step):
        shown = window(turns[:place], turns[place].session, int(stage.chosen.budget * WINDOW))
        yield remark(stage, turns[place], shown, following(turns, place, shown) & telling)


def remark(stage: Stage, turn: Spoken, shown: Sequence[Spoken], wanted: Words) -> Remark:
    brought = brought_at(stage, turn, shown)
    right = any(len(wanted & words_of(passage.text)) >= SHARED for passage in brought)
    return Remark(turn=turn.number, fired=bool(brought), right=right)


def brought_at(stage: Stage, turn: Spoken, shown: Sequence[Spoken]) -> list[Recalled]:
    """What recall brings at a message, within its guaranteed share."""
    recollection = recall(
        stage.made.branch,
        turn.said,
        before=turn.number,
        mode=stage.chosen.mode,
        today=turn.on,
        shown={one.number for one in shown},
    )
    return fitting(recollection.passages, int(stage.chosen.budget * stage.chosen.cap))


def spoken_in(talk: Talk) -> list[Spoken]:
    numbers = count(1)
    return [
        Spoken(
            number=next(numbers),
            session=session,
            on=moment(said_on).date(),
            said=exchange.user.text,
            reply="\n".join(reply.text for reply in exchange.replies if reply.role == "assistant"),
        )
        for session, said_on, exchanges in zip(talk.numbers, talk.dates, talk.sessions, strict=True)
        for exchange in exchanges
    ]


def words_of(text: str) -> Words:
    return frozenset(terms_of(text)) - STOPWORDS


def window(before: Sequence[Spoken], session: int, room: int) -> list[Spoken]:
    """The newest turns of the same session that the prompt has room for: they are its effort's."""
    shown: list[Spoken] = []
    for turn in reversed(before):
        room -= tokens(turn.text)
        if turn.session != session or room < 0:
            break
        shown.append(turn)
    return shown


def following(turns: Sequence[Spoken], place: int, shown: Sequence[Spoken]) -> Words:
    """The words that only the reply brings; where nobody is the assistant, the next message is the reply."""
    turn = turns[place]
    known = frozenset[str]().union(words_of(turn.said), *(words_of(one.text) for one in shown))
    return words_of(turn.reply or turns[place + 1].said) - known


def fitting(passages: Sequence[Recalled], room: int) -> list[Recalled]:
    """The best that recall has room for."""
    kept = []
    for passage in passages:
        room -= tokens(passage.text)
        if room < 0:
            break
        kept.append(passage)
    return kept


def tokens(text: str) -> int:
    return get_counter(settings.CCM_ENCODING).count(text)
