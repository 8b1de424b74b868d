"""How well a message answers a query: one pure function of stored counts, so that every database gives one order.

Each word of the query counts once for a message: as much as it does in the message itself (BM25, the best passage), or
a share of what it does in its own turn, in the turns beside it, anywhere in its effort. Talk answers a word with
another: what is looked for often stands beside the message that has the word. Figures for each choice: docs/recall.md.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

# Raise it when the same log and query give another order: replays tell retrievals of other versions apart.
VERSION = "1"
# BM25 after Robertson and Zaragoza (2009): a word's second mention says little, and length hardly counts.
K1, B = 0.9, 0.4
# Terms of a typical passage; measured instead, it would change with every message and gain nothing.
TYPICAL_LENGTH = 40
# Of a word's weight in a message: for the others of its turn, for the turns beside it, for all of its effort.
SAME_TURN = 0.6
BESIDE = (0.3, 0.2, 0.1)
SAME_EFFORT = 0.2
# A word in more than this share of the passages, such as a speaker's name, says nothing of what stands beside it.
COMMON = 0.15
# In a short conversation every word is in a large share of the passages.
FEW = 3
# For what was said on a day that the query names.
NAMED_DAY = 2.0
# For the words of the one whom the query names, the user or the assistant.
NAMED_SPEAKER = 1.3

# Of words, by their places in the query.
Weights = dict[int, float]
# A turn: its timeline and number.
Place = tuple[str, int]
Days = Sequence[tuple[str, str]]


class Found(NamedTuple):
    """One passage and how often each word of the query stands in it.

    `timeline` and `number` tell which turn it belongs to, `effort` what the turn is about (empty: ambient); `said_on`
    is an ISO date, `length` the number of terms.
    """

    passage: int
    message: int
    turn: int
    timeline: str
    number: int
    effort: str
    role: str
    said_on: str
    start: int
    end: int
    length: int
    counts: tuple[int, ...]

    @property
    def place(self) -> Place:
        return self.timeline, self.number


@dataclass(frozen=True, kw_only=True)
class Statistics:
    """Of all passages that could be found: their number, and in how many each word of the query stands."""

    passages: int
    frequencies: tuple[int, ...]

    @cached_property
    def rarities(self) -> tuple[float, ...]:
        return tuple(rarity(with_it, self.passages) for with_it in self.frequencies)

    @property
    def weight(self) -> float:
        return sum(self.rarities)

    @cached_property
    def common(self) -> tuple[bool, ...]:
        return tuple(with_it > max(self.passages * COMMON, FEW) for with_it in self.frequencies)


@dataclass(frozen=True, kw_only=True)
class Ranked:
    """A message by its best passage: `own` are the places in the query of the words that stand in it, `near` of those
    that stand near it; `exchange` is what the words of its turn weigh; `dated`: said on a day that the query names,
    `spoken`: by the one whom it names."""

    found: Found
    score: float
    exchange: float
    own: tuple[int, ...]
    near: tuple[int, ...] = ()
    dated: bool = False
    spoken: bool = False


@dataclass(kw_only=True)
class Ranking:
    """What was found so far, and the most that each word of the query weighs by turn and by effort.

    `days`: spans of ISO dates that the query names; `speaker`: the role that it names.
    """

    statistics: Statistics
    days: Days = ()
    speaker: str = ""
    said: dict[int, list[tuple[Found, Weights]]] = field(default_factory=dict)
    turns: dict[Place, RankedTurn] = field(default_factory=dict)
    efforts: dict[tuple[str, str], Weights] = field(default_factory=dict)
    # In how many passages of an effort each word stands.
    mentions: dict[str, Counter[int]] = field(default_factory=dict)

    def add(self, found: Iterable[Found]) -> None:
        rarities = self.statistics.rarities
        for row in found:
            weights = weigh(row, rarities)
            self.said.setdefault(row.message, []).append((row, weights))
            turn = self.turns.get(row.place)
            if turn is None:
                turn = self.turns[row.place] = RankedTurn(effort=row.effort, said_on=row.said_on)
            if weights:
                take(turn.weights, weights)
                if row.effort:
                    take(self.efforts.setdefault((row.timeline, row.effort), {}), weights)
                    self.mentions.setdefault(row.effort, Counter()).update(weights.keys())

    def best_turns(self, most: int) -> set[Place]:
        """Those that are worth reading whole."""
        scores = {place: self.score(self.shared(place), turn.weights, turn) for place, turn in self.turns.items()}
        return set(sorted(scores, key=lambda place: (-scores[place], place))[:most])

    def ranked(self, only: Collection[Place] | None = None) -> list[Ranked]:
        """Best first; of equals the one said first. `only`: the turns whose messages are asked for."""
        shared = {place: self.shared(place) for place in self.turns if only is None or place in only}
        ranked = [
            self.message(passages, shared[place])
            for passages in self.said.values()
            if (place := passages[0][0].place) in shared
        ]
        return sorted(ranked, key=lambda one: (-one.score, one.found.message))

    def message(self, passages: Sequence[tuple[Found, Weights]], shared: Shared) -> Ranked:
        row, _ = max(passages, key=lambda pair: (math.fsum(pair[1].values()), -pair[0].passage))
        own: Weights = {}
        for _, weights in passages:
            take(own, weights)
        turn, spoken = self.turns[row.place], row.role == self.speaker
        return Ranked(
            found=row,
            score=round(self.score(shared, own, turn) * (NAMED_SPEAKER if spoken else 1.0), 6),
            exchange=round(math.fsum(turn.weights.values()), 6),
            own=tuple(sorted(own)),
            near=tuple(sorted(shared.around.keys() - own.keys())),
            dated=is_named(turn.said_on, self.days),
            spoken=spoken,
        )

    def score(self, shared: Shared, own: Weights, turn: RankedTurn) -> float:
        """What is shared, and what its own words weigh beyond that."""
        common, around = self.statistics.common, shared.around
        more = (weight - (0.0 if common[word] else min(around.get(word, 0.0), weight)) for word, weight in own.items())
        # Rounded sums of the highest accuracy: the order must not hang on the order in which they were made.
        score = shared.total + math.fsum(more)
        return round(score * (NAMED_DAY if is_named(turn.said_on, self.days) else 1.0), 6)

    def shared(self, place: Place) -> Shared:
        common = self.statistics.common
        around = {word: weight for word, weight in self.around(place).items() if not common[word]}
        in_effort = self.efforts.get((place[0], self.turns[place].effort), {})
        effort = math.fsum(weight for word, weight in in_effort.items() if not common[word])
        return Shared(around=around, total=math.fsum(around.values()) + SAME_EFFORT * effort)

    def around(self, place: Place) -> Weights:
        """What words are worth for all that was said in a turn: its own, and those of the turns beside it."""
        timeline, number = place
        here = self.turns[place]
        most = {word: SAME_TURN * weight for word, weight in here.weights.items()}
        for distance, share in enumerate(BESIDE, 1):
            for other in ((timeline, number - distance), (timeline, number + distance)):
                there = self.turns.get(other)
                # Another effort is another matter.
                if there and there.effort == here.effort:
                    take(most, there.weights, share)
        return most


@dataclass(kw_only=True)
class RankedTurn:
    effort: str
    said_on: str
    weights: Weights = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Shared:
    """What every message of a turn has of the words around it, without those that stand everywhere."""

    around: Weights
    total: float


def rank(found: Iterable[Found], statistics: Statistics, days: Days = ()) -> list[Ranked]:
    ranking = Ranking(statistics=statistics, days=days)
    ranking.add(found)
    return ranking.ranked()


def take(most: Weights, weights: Weights, share: float = 1.0) -> None:
    for word, weight in weights.items():
        if share * weight > most.get(word, 0.0):
            most[word] = share * weight


def weigh(row: Found, rarities: Sequence[float]) -> Weights:
    norm = K1 * (1 - B + B * row.length / TYPICAL_LENGTH)
    return {word: rarities[word] * n * (K1 + 1) / (n + norm) for word, n in enumerate(row.counts) if n}


def is_named(day: str, days: Days) -> bool:
    return any(first <= day <= last for first, last in days)


def rarity(with_it: int, every: int) -> float:
    """What a word tells that stands in so many of so many."""
    return math.log(1 + (max(every - with_it, 0) + 0.5) / (with_it + 0.5))


def effort_scores(mentions: Mapping[str, Mapping[int, int]], efforts: int) -> dict[str, float]:
    """What an effort has of the query as a whole: the words of few efforts, often said in it. `efforts`: how many
    there are."""
    holders = Counter(word for words in mentions.values() for word in words)
    return {
        effort: math.fsum(rarity(holders[word], efforts) * math.log1p(times) for word, times in words.items())
        for effort, words in mentions.items()
    }


def by_effort(ranked: Iterable[Ranked]) -> Mapping[str, Ranked]:
    """The best message of each effort."""
    first: dict[str, Ranked] = {}
    for one in ranked:
        if one.found.effort:
            first.setdefault(one.found.effort, one)
    return first
