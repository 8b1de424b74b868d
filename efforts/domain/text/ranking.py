"""How well a message answers a query: one pure function of stored counts, so that every database gives one order.

A message has the score of its best passage (BM25), and more for what stands beside it, by the kind of talk. Where
people write to each other in short messages, what is looked for often stands beside the message that has the word:
there each word of the query counts once, as much as it does in the passage itself or a share of what it does in its
own turn, in the turns beside it, anywhere in its effort. A long reply has many words by chance: the longer a turn, the
less of this is given, and the more of a half of what the other side of the exchange has. Figures: docs/recall.md.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

# Raise it when the same log and query give another order: replays tell retrievals of other versions apart.
VERSION = "3"
# BM25 after Robertson and Zaragoza (2009): a word's second mention says little, and length hardly counts.
K1, B = 0.9, 0.4
# Terms of a typical passage; measured instead, it would change with every message and gain nothing.
TYPICAL_LENGTH = 40
# Of a word's weight in a message: for the others of its turn, for the turns beside it, for all of its effort.
SAME_TURN = 0.6
BESIDE = (0.3, 0.2)
SAME_EFFORT = 0.2
# A turn of at most so many tokens is short human talk; of a longer one so much less is shared.
SHORT_TURN = 120
# Of the best passage of the other side of an exchange, where the turn is long.
OTHER_SIDE = 0.5
# Where meanings are compared: their share of a score, in a long turn and in short human talk, whose words tell more.
MEANING_LONG, MEANING_SHORT = 0.6, 0.35
# A word in more than this share of the passages, such as a speaker's name, says nothing of what stands beside it.
COMMON = 0.15
# In a short conversation every word is in a large share of the passages.
FEW = 3
# For what was said on a day that the query names.
NAMED_DAY = 2.0
# For the words of the one whom the query names, the user or the assistant.
NAMED_SPEAKER = 1.3
# For what was said in the effort that has the focus.
FOCUS = 2.0

# Of words, by their places in the query.
Weights = dict[int, float]
# A turn: its timeline and number.
Place = tuple[str, int]
Days = Sequence[tuple[str, str]]


class Found(NamedTuple):
    """One passage and how often each word of the query stands in it.

    `timeline` and `number` tell which turn it belongs to, `effort` what the turn is about (empty: ambient); `said_on`
    is an ISO date, `length` the number of terms, `turn_tokens` what all of its turn has.
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
    turn_tokens: int = 0

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
    `spoken`: by the one whom it names; `focused`: in the effort that has the focus; `meaning`: how near it is to what
    the query means, where that is known."""

    found: Found
    score: float
    exchange: float
    own: tuple[int, ...]
    near: tuple[int, ...] = ()
    dated: bool = False
    spoken: bool = False
    focused: bool = False
    meaning: int = 0


@dataclass(frozen=True, kw_only=True)
class BestPassage:
    """Of a message: the passage with the most of the query's words, and the one that is `nearest` to its meaning."""

    found: Found
    weights: Weights
    total: float
    nearest: Found
    meaning: int


@dataclass(kw_only=True)
class Ranking:
    """What was found so far: of each message its best passage, and what each turn and effort has of the query.

    `days`: spans of ISO dates that the query names; `speaker`: the role that it names; `meanings`: how near passages
    are to its meaning, a whole number of steps; none where only words are compared; `focus`: id of the effort
    that has it.
    """

    statistics: Statistics
    days: Days = ()
    speaker: str = ""
    meanings: Mapping[int, int] = field(default_factory=dict)
    focus: str = ""
    said: dict[int, BestPassage] = field(default_factory=dict)
    turns: dict[Place, RankedTurn] = field(default_factory=dict)
    efforts: dict[tuple[str, str], Weights] = field(default_factory=dict)
    # In how many passages of an effort each word stands.
    mentions: dict[str, Counter[int]] = field(default_factory=dict)

    def add(self, found: Iterable[Found]) -> None:
        rarities = self.statistics.rarities
        for row in found:
            norm = K1 * (1 - B + B * row.length / TYPICAL_LENGTH)
            weights = {word: rarities[word] * n * (K1 + 1) / (n + norm) for word, n in enumerate(row.counts) if n}
            # Rounded sums of the highest accuracy: the order must not hang on the order in which they were made.
            total = round(math.fsum(weights.values()), 6)
            one = BestPassage(
                found=row, weights=weights, total=total, nearest=row, meaning=self.meanings.get(row.passage, 0)
            )
            other = self.said.get(row.message)
            self.said[row.message] = better(one, other) if other else one
            if weights and row.effort:
                self.mentions.setdefault(row.effort, Counter()).update(weights.keys())
        self.gather()

    def gather(self) -> None:
        """What turns and efforts have, anew: a message may have got a better passage."""
        self.turns, self.efforts = {}, {}
        for one in self.said.values():
            row = one.found
            turn = self.turns.get(row.place)
            if turn is None:
                turn = self.turns[row.place] = RankedTurn(
                    effort=row.effort, said_on=row.said_on, short=SHORT_TURN / max(row.turn_tokens, SHORT_TURN)
                )
            turn.sides[row.role] = max(turn.sides.get(row.role, 0.0), one.total)
            turn.meant[row.role] = max(turn.meant.get(row.role, 0.0), one.meaning)
            take(turn.weights, one.weights)
            if one.weights and row.effort:
                take(self.efforts.setdefault((row.timeline, row.effort), {}), one.weights, turn.short)

    def best_turns(self, most: int) -> set[Place]:
        """Those that are worth reading whole."""
        return self.best_of(self.turns, most)

    def focused_turns(self, most: int) -> set[Place]:
        """The same of the focus: others do not crowd it out."""
        mine = (place for place, turn in self.turns.items() if turn.effort == self.focus and turn.weights)
        return self.best_of(mine, most) if self.focus else set()

    def best_of(self, places: Iterable[Place], most: int) -> set[Place]:
        scores = {
            place: self.score(self.shared(place), self.turns[place].weights, self.turns[place]) for place in places
        }
        return set(sorted(scores, key=lambda place: (-scores[place], place))[:most])

    def ranked(self, only: Collection[Place] | None = None) -> list[Ranked]:
        """Best first; of equals the one said first. `only`: the turns whose messages are asked for."""
        shared = {place: self.shared(place) for place in self.turns if only is None or place in only}
        ranked = [self.message(one, shared[one.found.place]) for one in self.said.values() if one.found.place in shared]
        fused = self.fused(ranked) if self.meanings else ranked
        if self.focus:
            fused = [self.boosted(one) for one in fused]
        return sorted(fused, key=lambda one: (-one.score, one.found.message))

    def boosted(self, one: Ranked) -> Ranked:
        # What has no word and no meaning of the query stands for nothing, there as elsewhere.
        if one.found.effort != self.focus or not (one.own or one.near or one.meaning):
            return one
        return replace(one, score=round(one.score * FOCUS, 6), focused=True)

    def meant_turns(self, most: int) -> set[Place]:
        """Those nearest to what the query means."""
        near = sorted(
            (one for one in self.said.values() if one.meaning), key=lambda one: (-one.meaning, one.found.message)
        )
        return {one.found.place for one in near[:most]}

    def fused(self, ranked: Sequence[Ranked]) -> list[Ranked]:
        """With meanings: words and meaning, each divided by its best, in shares by the kind of talk."""
        meant = [self.meant(one) for one in ranked]
        most = max((one.score for one in ranked), default=0.0) or 1.0
        nearest = max(meant, default=0.0) or 1.0
        shares = [self.share_of_meaning(one.found.place) for one in ranked]
        scores = (
            round((1 - share) * one.score / most + share * meaning / nearest, 6)
            for one, meaning, share in zip(ranked, meant, shares, strict=True)
        )
        return [replace(one, score=score) for one, score in zip(ranked, scores, strict=True)]

    def share_of_meaning(self, place: Place) -> float:
        short = self.turns[place].short
        return MEANING_LONG * (1 - short) + MEANING_SHORT * short

    def meant(self, one: Ranked) -> float:
        turn = self.turns[one.found.place]
        return one.meaning + turn.beside(one.found.role, turn.meant)

    def message(self, one: BestPassage, shared: Shared) -> Ranked:
        row = one.nearest if self.meanings else one.found
        turn, spoken = self.turns[row.place], row.role == self.speaker
        score = self.score(shared, one.weights, turn, turn.beside(row.role, turn.sides))
        return Ranked(
            found=row,
            score=round(score * (NAMED_SPEAKER if spoken else 1.0), 6),
            exchange=round(math.fsum(turn.weights.values()), 6),
            own=tuple(sorted(one.weights)),
            near=tuple(sorted(shared.around.keys() - one.weights.keys())),
            dated=is_named(turn.said_on, self.days),
            spoken=spoken,
            meaning=one.meaning,
        )

    def score(self, shared: Shared, own: Weights, turn: RankedTurn, beside: float = 0.0) -> float:
        """What is shared, what its own words weigh beyond that, and what the other side of a long exchange adds."""
        common, around = self.statistics.common, shared.around
        more = (weight - (0.0 if common[word] else min(around.get(word, 0.0), weight)) for word, weight in own.items())
        score = shared.total + math.fsum(more) + beside
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
        most = {word: SAME_TURN * here.short * weight for word, weight in here.weights.items()}
        for distance, share in enumerate(BESIDE, 1):
            for other in ((timeline, number - distance), (timeline, number + distance)):
                there = self.turns.get(other)
                # Another effort is another matter.
                if there and there.effort == here.effort:
                    take(most, there.weights, share * there.short)
        return most


@dataclass(kw_only=True)
class RankedTurn:
    """`short`: 1 for a turn of short human talk, towards 0 the longer it is; `sides`, `meant`: the best passage of each
    role, by its words and by its meaning."""

    effort: str
    said_on: str
    short: float
    weights: Weights = field(default_factory=dict)
    sides: dict[str, float] = field(default_factory=dict)
    meant: dict[str, float] = field(default_factory=dict)

    def beside(self, role: str, sides: Mapping[str, float]) -> float:
        """What the other side of the exchange adds to what `role` said."""
        others = [total for other, total in sides.items() if other != role]
        return OTHER_SIDE * (1 - self.short) * max(others, default=0.0)


@dataclass(frozen=True, kw_only=True)
class Shared:
    """What every message of a turn has of the words around it, without those that stand everywhere."""

    around: Weights
    total: float


def better(one: BestPassage, other: BestPassage) -> BestPassage:
    """Of two passages of a message; of equals the one said first."""
    words = min(one, other, key=lambda each: (-each.total, each.found.passage))
    meant = min(one, other, key=lambda each: (-each.meaning, each.nearest.passage))
    return replace(words, nearest=meant.nearest, meaning=meant.meaning)


def take(most: Weights, weights: Weights, share: float = 1.0) -> None:
    for word, weight in weights.items():
        if share * weight > most.get(word, 0.0):
            most[word] = share * weight


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
