"""Every question of every kind of talk ranked in memory, by the product's own functions: a rule is tried in seconds.

The passages, counts and lengths are those that the index would store; no database is asked, and nothing is left out
for being far from the query. What reaches a prompt, `manage.py recall` measures.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from itertools import count
from typing import Any

import numpy as np
from django.conf import settings
from numpy.typing import NDArray

from benchmarks.replay import Question, Talk, moment
from efforts.domain.prompt.conversation import MESSAGE_OVERHEAD
from efforts.domain.text import ranking as ranking_rules
from efforts.domain.text.dates import days_named
from efforts.domain.text.passages import spans_of
from efforts.domain.text.ranking import Found, Ranking, Statistics
from efforts.domain.text.speakers import speaker_named
from efforts.domain.text.terms import query_terms, terms_of
from efforts.llm.embeddings import STORED, Embedder
from efforts.llm.tokens import get_counter
from efforts.memory.vectors import AT_ONCE, SECONDS
from efforts.retrieval.vectors import STEPS

from .baselines import Fts5, Keywords
from .evidence import Told, pieces_in, told_in
from .ranks import Table, distinct, figures

# As many turns as the product reads whole, and those on each side.
WHOLE_TURNS, AROUND = 16, 1


@dataclass(frozen=True, kw_only=True)
class Piece:
    """A passage as the index has it, and the messages of the data that it holds something of."""

    found: Found
    text: str
    terms: Counter[str]
    holds: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Indexed:
    """A conversation; `frequencies`: in how many passages each term stands."""

    talk: Talk
    told: Told
    pieces: tuple[Piece, ...]
    frequencies: Counter[str]
    years: frozenset[int]
    today: date


def index(talk: Talk) -> Indexed:
    pieces = tuple(pieces_of(talk))
    days = [moment(text).date() for text in talk.dates]
    return Indexed(
        talk=talk,
        told=told_in(talk),
        pieces=pieces,
        frequencies=Counter(term for piece in pieces for term in piece.terms),
        years=frozenset(day.year for day in days),
        today=days[-1],
    )


def pieces_of(talk: Talk) -> Iterator[Piece]:
    turns, messages, places = count(1), count(1), count()
    tokens = get_counter(settings.CCM_ENCODING).count
    for number, day, session in zip(talk.numbers, talk.dates, talk.sessions, strict=True):
        said_on = moment(day).date().isoformat()
        for exchange in session:
            turn, every = next(turns), (exchange.user, *exchange.replies)
            size = sum(tokens(said.text) + MESSAGE_OVERHEAD for said in every)
            for said in every:
                message = next(messages)
                for start, end in spans_of(said.text) if said.role != "tool" else ():
                    terms = terms_of(said.text[start:end])
                    yield Piece(
                        found=Found(
                            passage=next(places),
                            message=message,
                            turn=turn,
                            timeline="",
                            number=turn,
                            effort=f"session-{number}",
                            role=said.role,
                            said_on=said_on,
                            start=start,
                            end=end,
                            length=len(terms),
                            counts=(),
                            turn_tokens=size,
                        ),
                        text=said.text[start:end],
                        terms=Counter(terms),
                        holds=tuple(pieces_in(said.pieces, start, end)),
                    )


def by_words(talk: Indexed, question: Question, meanings: Mapping[int, int] | None = None) -> list[str]:
    """As `search_messages` ranks; with `meanings`, as recall does."""
    terms = query_terms(question.text)
    ranking = Ranking(
        statistics=Statistics(passages=len(talk.pieces), frequencies=tuple(talk.frequencies[term] for term in terms)),
        days=days_named(question.text, talk.today, talk.years),
        speaker=speaker_named(question.text),
        meanings=meanings or {},
    )
    ranking.add(piece.found._replace(counts=tuple(piece.terms[term] for term in terms)) for piece in talk.pieces)
    best = ranking.best_turns(WHOLE_TURNS) | ranking.meant_turns(WHOLE_TURNS)
    wanted = {(timeline, number + step) for timeline, number in best for step in range(-AROUND, AROUND + 1)}
    return distinct(id for one in ranking.ranked(wanted) for id in talk.pieces[one.found.passage].holds)


Rank = Callable[[Indexed, Question], list[str]]
PRODUCT = "product"


def methods_of(talk: Indexed, embedder: Embedder | None = None) -> dict[str, Rank]:
    """The product's ranking, and what others do with the same messages. With an embedder meanings are compared too."""
    fts5, keywords = Fts5(talk.told.named), Keywords(talk.told.named)
    ranked: dict[str, Rank] = {PRODUCT: by_words}
    if embedder:
        near = Near(talk, embedder)
        ranked = {
            PRODUCT: lambda _, question: by_words(talk, question, near.of(question)),
            "product, words alone": by_words,
            "meaning alone": lambda _, question: near.alone(question),
        }
    return {
        **ranked,
        "plain FTS5": lambda _, question: fts5.rank(question.text),
        "seeds' keywords": lambda _, question: keywords.rank(question.text),
    }


class Near:
    """How near each passage of a conversation is to a question."""

    def __init__(self, talk: Indexed, embedder: Embedder) -> None:
        self.talk, self.embedder = talk, embedder
        texts = [piece.text for piece in talk.pieces]
        parts = [self.vectors(texts[first : first + AT_ONCE]) for first in range(0, len(texts), AT_ONCE)]
        self.rows = np.concatenate(parts)

    def vectors(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """As they are stored, with what is lost by it."""
        return self.embedder.embed(texts, seconds=SECONDS).vectors.astype(STORED).astype(np.float32)

    def of(self, question: Question) -> dict[int, int]:
        near = np.rint(self.rows @ self.vectors([question.text])[0] * STEPS).astype(int)
        return {place: max(int(value), 0) for place, value in enumerate(near)}

    def alone(self, question: Question) -> list[str]:
        near = self.of(question)
        best = sorted(near, key=lambda place: (-near[place], place))
        return distinct(id for place in best for id in self.talk.pieces[place].holds)


# Each rule of the ranking as if there were none.
RULES: Mapping[str, Mapping[str, Any]] = {
    "BM25's usual k1 1.2, b .75": {"K1": 1.2, "B": 0.75},
    "length": {"B": 0.0},
    "words of the same turn": {"SAME_TURN": 0.0},
    "words of the turns beside": {"BESIDE": ()},
    "words of the effort": {"SAME_EFFORT": 0.0},
    "less of a long turn": {"SHORT_TURN": 1 << 40},
    "the other side of a long exchange": {"OTHER_SIDE": 0.0},
    "common words count alone": {"COMMON": 1.0},
    "a day that is named": {"NAMED_DAY": 1.0},
    "a speaker who is named": {"NAMED_SPEAKER": 1.0},
    "meaning by the kind of talk": {"MEANING_LONG": 0.5, "MEANING_SHORT": 0.5},
}


@contextmanager
def without(rule: str) -> Iterator[None]:
    kept = {name: getattr(ranking_rules, name) for name in RULES[rule]}
    try:
        for name, value in RULES[rule].items():
            setattr(ranking_rules, name, value)
        yield
    finally:
        for name, value in kept.items():
            setattr(ranking_rules, name, value)


def measure(
    talks: Sequence[Indexed], methods: Callable[[Indexed], dict[str, Rank]], every: int = 1
) -> dict[str, Table]:
    """The figures of each method over all questions, or each so manieth."""
    tables: dict[str, Table] = {}
    for talk in talks:
        ranks = methods(talk)
        for question in talk.talk.questions[::every]:
            if targets := talk.told.targets(question):
                for name, rank in ranks.items():
                    row = figures(targets, rank(talk, question))
                    tables.setdefault(name, Table()).add(question.category, row)
    return tables
