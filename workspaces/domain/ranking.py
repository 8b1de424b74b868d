"""How well a symbol answers a query: one pure function of stored counts, with its neighbours in the graph."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from efforts.domain.text.ranking import K1, rarity
from workspaces.domain.states import SymbolKind

# Raise it when the same snapshot and query give another order.
VERSION = "3"
# How much length counts: more than in talk, since what a long symbol lacks, its file may have.
B = 0.6
# Terms of a typical symbol, and of those of a file that have words of a query.
TYPICAL, TYPICAL_FILE = 60, 1_500
# Of what the symbols of its file have of a query together, each has so much: words of a question stand beside the
# symbol that it is about as often as in it.
FILE = 0.25
# A word of a symbol's name or path is worth so many of its text.
NAME_WEIGHT = 4
# What a symbol has of those that it calls, that call it, or that hold it.
NEIGHBOUR = 0.12
# How many of the best have their neighbours looked at.
SEEDS = 12
# Prose about code, and tests, come after code of the same score.
KINDS: Mapping[str, float] = {SymbolKind.SECTION: 0.55, SymbolKind.MODULE: 0.7, SymbolKind.CONSTANT: 0.9}
TEST = 0.5
# A name that a query writes out.
EXACT = 2.0
# What is nearest to the meaning of a query is worth so much of the best by its words.
MEANING = 0.3


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """How often each word of the query stands in a symbol's text and in its names; `length`: terms of its text."""

    symbol: int
    file: int
    kind: str
    is_test: bool
    qualified: str
    length: int
    counts: tuple[int, ...]
    named: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class Scored:
    """`ranks`: its place by each ranker, from 1; `words`: places in the query of those that it has; `through`: the
    symbols that it is near to; `meaning`: how near it is to the query's, in steps, where that is known."""

    symbol: int
    score: float
    words: tuple[int, ...]
    exact: bool = False
    meaning: int = 0
    ranks: Mapping[str, int] = field(default_factory=dict)
    through: tuple[int, ...] = ()


def most_of(rarities: Sequence[float]) -> float:
    """What a text would have, and no more, that said each word of a query again and again."""
    return math.fsum(rarities) * (K1 + 1)


def text_score(one: Candidate, rarities: Sequence[float]) -> float:
    """BM25 of text and names as one field, in which a name counts for several words."""
    times = [said + NAME_WEIGHT * min(named, 2) for said, named in zip(one.counts, one.named, strict=True)]
    return bm25(times, rarities, one.length / TYPICAL) * KINDS.get(one.kind, 1.0)


def bm25(times: Sequence[float], rarities: Sequence[float], length: float) -> float:
    """`times`: how often each word is there; `length`: of what it is in, in typical ones."""
    norm = K1 * (1 - B + B * length)
    return math.fsum(rare * many * (K1 + 1) / (many + norm) for rare, many in zip(rarities, times, strict=True) if many)


def file_scores(candidates: Sequence[Candidate], rarities: Sequence[float]) -> dict[int, float]:
    """Of each file what its candidates have of the query together, as if they were one."""
    together: dict[int, list[Candidate]] = {}
    for one in candidates:
        together.setdefault(one.file, []).append(one)
    return {file: bm25(times_in(some), rarities, length_of(some)) for file, some in together.items()}


def times_in(some: Sequence[Candidate]) -> list[int]:
    said = map(sum, zip(*(one.counts for one in some), strict=True))
    # The path is in the names of all of them.
    named = map(max, zip(*(one.named for one in some), strict=True))
    return [times + NAME_WEIGHT * min(names, 2) for times, names in zip(said, named, strict=True)]


def length_of(some: Sequence[Candidate]) -> float:
    return sum(one.length for one in some) / TYPICAL_FILE


def rank(
    candidates: Sequence[Candidate],
    frequencies: Sequence[int],
    symbols: int,
    *,
    exact: frozenset[int] = frozenset(),
    wants_tests: bool = False,
    neighbours: Mapping[int, Sequence[tuple[int, float]]] | None = None,
    meanings: Mapping[int, int] | None = None,
) -> list[Scored]:
    """Best first; equal ones by their names. `exact`: symbols that the query writes out; `neighbours`: of the best by
    their text, other candidates with how sure it is; `meanings`: how near each symbol is to what the query means."""
    rarities = [rarity(with_it, symbols) for with_it in frequencies]
    most = most_of(rarities)
    tests = 1.0 if wants_tests else TEST
    files = file_scores(candidates, rarities)
    texts = {}
    for one in candidates:
        # What has no word of the query itself is not found by those of its file.
        own = text_score(one, rarities)
        around = FILE * files[one.file] * KINDS.get(one.kind, 1.0) if own else 0.0
        texts[one.symbol] = (own + around) * (tests if one.is_test else 1.0)
    base = {id: score + (EXACT * most if id in exact else 0.0) for id, score in texts.items()}
    near: dict[int, float] = {}
    through: dict[int, list[int]] = {}
    for seed, others in (neighbours or {}).items():
        for other, sure in others:
            if other in base:
                near[other] = max(near.get(other, 0.0), base.get(seed, 0.0) * sure * NEIGHBOUR)
                through.setdefault(other, []).append(seed)
    meant = {one.symbol: meanings.get(one.symbol, 0) for one in candidates} if meanings else {}
    # Each by its best; where no symbol has a word of the query, meaning is all there is.
    share = MEANING * (max(texts.values(), default=0.0) or 1.0) / (max(meant.values(), default=0) or 1)
    more = {one.symbol: share * KINDS.get(one.kind, 1.0) * meant.get(one.symbol, 0) for one in candidates}
    names = {one.symbol: one.qualified for one in candidates}
    final = {id: round(score + near.get(id, 0.0) + more[id], 6) for id, score in base.items()}
    by_ranker = {"text": places(base, names), "graph": places(near, names), "meaning": places(meant, names)}
    scored = [
        Scored(
            symbol=one.symbol,
            score=final[one.symbol],
            words=tuple(i for i, (said, named) in enumerate(zip(one.counts, one.named, strict=True)) if said or named),
            exact=one.symbol in exact,
            meaning=meant.get(one.symbol, 0),
            ranks={ranker: found[one.symbol] for ranker, found in by_ranker.items() if one.symbol in found},
            through=tuple(through.get(one.symbol, ())),
        )
        for one in candidates
    ]
    return sorted(scored, key=lambda one: (-one.score, names[one.symbol], one.symbol))


def best(candidates: Sequence[Candidate], frequencies: Sequence[int], symbols: int) -> list[int]:
    """By their text alone, those whose neighbours are worth looking at."""
    rarities = [rarity(with_it, symbols) for with_it in frequencies]
    scores = {one.symbol: text_score(one, rarities) for one in candidates}
    return sorted(scores, key=lambda id: (-scores[id], id))[:SEEDS]


def places(scores: Mapping[int, float], names: Mapping[int, str]) -> dict[int, int]:
    ordered = sorted(scores, key=lambda id: (-scores[id], names[id], id))
    return {id: place for place, id in enumerate(ordered, 1)}
