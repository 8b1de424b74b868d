"""Every question of every kind of talk ranked in memory, by the product's own functions: a rule is tried in seconds.

The passages, counts and lengths are those that the index would store; no database is asked, and nothing is left out
for being far from the query. What is quoted is chosen as in a prompt that has the room for it and shows nothing of what
was said; what reaches a real one, `manage.py recall` measures.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import date
from itertools import count
from typing import Any

import numpy as np
from django.conf import settings
from numpy.typing import NDArray

from benchmarks.replay import Question, Talk, moment
from efforts.domain.effort.policy import RECALL_MOST, RECALL_SHARES, ContextMode
from efforts.domain.prompt.conversation import MESSAGE_OVERHEAD
from efforts.domain.prompt.recall import ADDS_LITTLE
from efforts.domain.text import ranking as ranking_rules
from efforts.domain.text.dates import days_named
from efforts.domain.text.passages import spans_of
from efforts.domain.text.ranking import Found, Ranking, Statistics
from efforts.domain.text.speakers import speaker_named
from efforts.domain.text.terms import query_terms, terms_of
from efforts.llm.embeddings import STORED, Embedder
from efforts.llm.tokens import get_counter
from efforts.memory.vectors import AT_ONCE, SECONDS
from efforts.retrieval.recall import LEAST_OF_BEST, MOST
from efforts.retrieval.search import AROUND
from efforts.retrieval.vectors import STEPS

from .baselines import Fts5, Keywords
from .evidence import Target, Told, flat, held, pieces_in, told_in
from .ranks import Table, distinct, figures, recall

# Tokens of whole prompts, and of the line above a passage, with the marks of quotation.
BUDGETS = (4_000, 8_000, 16_000)
FRAME = 22


@dataclass(frozen=True, kw_only=True)
class Piece:
    """A passage as the index has it, the messages of the data that it holds something of, and those of which enough
    stands where it is quoted; `tokens`: what it takes there, with the line above it."""

    found: Found
    text: str
    terms: Counter[str]
    holds: tuple[str, ...]
    stands: tuple[str, ...]
    tokens: int

    @property
    def hit(self) -> Hit:
        return Hit(holds=self.holds, stands=self.stands, tokens=self.tokens)


@dataclass(frozen=True, kw_only=True)
class Hit:
    """Something that a method found, to be quoted as it is. `score`: by which the product stops; others fill the
    room."""

    holds: tuple[str, ...]
    stands: tuple[str, ...]
    tokens: int
    score: float = 1.0


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
                        stands=tuple(held(said.text, said.pieces, start, end, flat(said.text))),
                        tokens=tokens(said.text[start:end]) + FRAME,
                    )


def by_words(
    talk: Indexed, question: Question, meanings: Mapping[int, int] | None = None, focus: str = ""
) -> list[Hit]:
    """As recall ranks; with `meanings`, by them too. `focus`: the effort in which is looked first."""
    terms = query_terms(question.text)
    ranking = Ranking(
        statistics=Statistics(passages=len(talk.pieces), frequencies=tuple(talk.frequencies[term] for term in terms)),
        days=days_named(question.text, talk.today, talk.years),
        speaker=speaker_named(question.text),
        meanings=meanings or {},
        focus=focus,
    )
    ranking.add(piece.found._replace(counts=tuple(piece.terms[term] for term in terms)) for piece in talk.pieces)
    best = ranking.best_turns(MOST) | ranking.meant_turns(MOST) | ranking.focused_turns(MOST)
    wanted = {(timeline, number + step) for timeline, number in best for step in range(-AROUND, AROUND + 1)}
    return [replace(talk.pieces[one.found.passage].hit, score=one.score) for one in ranking.ranked(wanted)]


Rank = Callable[[Indexed, Question], list[Hit]]
PRODUCT = "product"


def methods_of(talk: Indexed, embedder: Embedder | None = None) -> dict[str, Rank]:
    """The product's ranking, and what others do with the same messages. With an embedder meanings are compared too."""
    fts5, keywords = Fts5(talk.told.named), Keywords(talk.told.named)
    tokens = get_counter(settings.CCM_ENCODING).count
    whole = {id: Hit(holds=(id,), stands=(id,), tokens=tokens(text) + FRAME) for id, text in talk.told.named.items()}
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
        "plain FTS5": lambda _, question: [whole[id] for id in fts5.rank(question.text)],
        "seeds' keywords": lambda _, question: [whole[id] for id in keywords.rank(question.text)],
    }


def focused_methods(talk: Indexed) -> dict[str, Rank]:
    """The product's ranking by words, with the focus on what holds the first evidence, and on something else."""

    def sessions(question: Question) -> list[int]:
        return [talk.told.sessions[min(target)] for target in talk.told.targets(question)]

    def right(question: Question) -> str:
        return f"session-{sessions(question)[0]}"

    def wrong(question: Question) -> str:
        every, held = sorted(set(talk.told.sessions.values())), set(sessions(question))
        after = (*(n for n in every if n > sessions(question)[0]), *every)
        return f"session-{next((n for n in after if n not in held), 0)}"

    return {
        PRODUCT: by_words,
        "focus where the first evidence is": lambda talk, question: by_words(talk, question, focus=right(question)),
        "focus elsewhere": lambda talk, question: by_words(talk, question, focus=wrong(question)),
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

    def alone(self, question: Question) -> list[Hit]:
        near = self.of(question)
        best = sorted(near, key=lambda place: (-near[place], place))
        return [self.talk.pieces[place].hit for place in best]


def quoted(found: Sequence[Hit], budget: int) -> list[Hit]:
    """What of it a prompt quotes in Light: by rank in the guaranteed room; then, where room is free, until one does not
    fit or adds little."""
    best = found[0].score if found else 0.0
    wanted = [one for one in found[:MOST] if one.score and one.score >= LEAST_OF_BEST * best]
    left, kept, others = int(budget * RECALL_SHARES[ContextMode.LIGHT]), list[Hit](), list[Hit]()
    for one in wanted:
        fits = one.tokens <= left
        left -= one.tokens if fits else 0
        (kept if fits else others).append(one)
    left += int(budget * (RECALL_MOST[ContextMode.LIGHT] - RECALL_SHARES[ContextMode.LIGHT]))
    for one in others:
        left -= one.tokens
        if left < 0 or one.score < ADDS_LITTLE * best:
            break
        kept.append(one)
    return kept


def figures_of(targets: Sequence[Target], found: Sequence[Hit]) -> dict[str, float]:
    """How soon the targets are found; at each budget how many of them are quoted, and in how many tokens."""
    row = figures(targets, distinct(id for one in found for id in one.holds))
    for budget in BUDGETS:
        kept = quoted(found, budget)
        stands = [id for one in kept for id in one.stands]
        row[f"evidence@{budget}"] = recall(targets, stands, len(stands))
        row[f"tokens@{budget}"] = sum(one.tokens for one in kept)
    return row


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
                    row = figures_of(targets, rank(talk, question))
                    tables.setdefault(name, Table()).add(question.category, row)
    return tables
