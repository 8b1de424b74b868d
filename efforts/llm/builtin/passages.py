"""Texts cut into passages, and passages ranked against a question."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from efforts.domain.text.sentences import FENCE, LIST_LINE, split
from efforts.llm.builtin.terms import terms

# A passage is good when it holds this share of what the question asks for, by weight.
GOOD_SCORE = 0.35
# Below this share it is worth looking for a better one among what is not shown.
SURE_SCORE = 0.6
# A passage is quoted beside the best when it is nearly as good.
BESIDE_BEST = 0.6
QUOTES = 3
OVERVIEW_QUOTES = 8
# A question has all the words that are asked for, and no answer.
QUESTION_FACTOR = 0.3
# Of two alike, the user's own words: a reply may only repeat them.
REPLY_FACTOR = 0.9
ANSWER_SHARE = 0.5
FITTING_FACTOR = 1.15

QUESTION_MARK = re.compile(r"[?？؟][\"'”’)\]*_\s]*$")

ASKS_NUMBER = re.compile(
    r"\b(?:when|what (?:day|date|time|year)|how (?:many|much|long|old|far|often)|which (?:day|year))\b", re.IGNORECASE
)
NUMBER = re.compile(
    r"\d|\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b|\btomorrow\b|\b(?:one|two|three|four|five|six|ten)\b",
    re.IGNORECASE,
)
ASKS_REASON = re.compile(r"\bwhy\b", re.IGNORECASE)
REASON = re.compile(r"\b(?:because|since|so that|reason|due to|to avoid)\b", re.IGNORECASE)
ASKS_PERSON = re.compile(r"\b(?:who|whose|whom)\b", re.IGNORECASE)
PERSON = re.compile(
    r"\b(?:I|[Ww]e|[Hh]e|[Ss]he|[Tt]hey)\b|\b(?!(?:The|This|That|It|In|On|At|An|If|But|And|So|For|Our)\b)[A-Z][a-z]+"
)
# What the answer to a question of a kind tends to contain.
FITTING = ((ASKS_NUMBER, NUMBER), (ASKS_REASON, REASON), (ASKS_PERSON, PERSON))


@dataclass(frozen=True, kw_only=True)
class Text:
    """Something said, before it is cut: `order` rises with time, and is another for every text."""

    text: str
    where: str
    by_user: bool
    order: int


@dataclass(frozen=True, kw_only=True)
class QuotedPassage:
    text: str
    where: str
    by_user: bool
    order: int
    place: int
    terms: frozenset[str]

    @property
    def is_question(self) -> bool:
        return bool(QUESTION_MARK.search(self.text))


@dataclass(frozen=True, kw_only=True)
class Quote:
    text: str
    where: str


def cut(texts: Iterable[Text]) -> tuple[QuotedPassage, ...]:
    """All passages, each text once: what was found again or repeated keeps its first place."""
    seen: set[str] = set()
    found = []
    for text in texts:
        for place, piece in enumerate(split(text.text)):
            key = " ".join(piece.casefold().split())
            if key in seen:
                continue
            seen.add(key)
            passage = QuotedPassage(
                text=piece, where=text.where, by_user=text.by_user, order=text.order, place=place, terms=terms(piece)
            )
            found.append(passage)
    return tuple(found)


def rank(question: str, passages: Sequence[QuotedPassage], *, at_least: float = GOOD_SCORE) -> list[QuotedPassage]:
    """The good passages for `question`, best first; among equals the later one."""
    wanted = terms(question)
    if not wanted or not passages:
        return []
    weights = _rarity(wanted, passages)
    scores = _with_answers(passages, [_score(passage, question, weights) for passage in passages])
    ranked = sorted(zip(scores, passages, strict=True), key=lambda pair: (-pair[0], -pair[1].order, pair[1].place))
    best = ranked[0][0]
    floor = max(at_least, best * BESIDE_BEST)
    return [passage for score, passage in ranked if score >= floor][:QUOTES]


def overview(texts: Sequence[Text]) -> tuple[Quote, ...]:
    """How each of the user's last messages begins, oldest first; questions left out."""
    first = [passage for passage in cut(texts) if passage.by_user and passage.place == 0 and not passage.is_question]
    return tuple(Quote(text=passage.text, where=passage.where) for passage in first[-OVERVIEW_QUOTES:])


def quotes(ranked: Sequence[QuotedPassage]) -> tuple[Quote, ...]:
    """Ranked passages as quotes, those that stood side by side as one."""
    groups: list[list[QuotedPassage]] = []
    for passage in ranked:
        beside = next((group for group in groups if _touches(group, passage)), None)
        if beside is None:
            groups.append([passage])
        else:
            beside.append(passage)
    return tuple(_as_quote(sorted(group, key=lambda passage: passage.place)) for group in groups)


def _rarity(wanted: frozenset[str], passages: Sequence[QuotedPassage]) -> dict[str, float]:
    """The weight of each wanted term, as shares of one; words the prompt lacks weigh as much as its rarest."""
    holders = Counter(term for passage in passages for term in passage.terms & wanted)
    # Sorted, because floats add up differently in another order and sets have none of their own.
    weights = {term: math.log(1 + (len(passages) + 0.5) / (max(holders[term], 1) + 0.5)) for term in sorted(wanted)}
    total = sum(weights.values())
    return {term: weight / total for term, weight in weights.items()}


def _score(passage: QuotedPassage, question: str, weights: dict[str, float]) -> float:
    score = sum(weights[term] for term in sorted(passage.terms & weights.keys()))
    if passage.is_question and not re.search(r"\bask(?:ed)?\b|\bquestions?\b", question, re.IGNORECASE):
        score *= QUESTION_FACTOR
    if any(asks.search(question) and fits.search(passage.text) for asks, fits in FITTING):
        score *= FITTING_FACTOR
    # Rounded, so that what is as good as equal is equal, and the later passage wins.
    return round(score if passage.by_user else score * REPLY_FACTOR, 4)


def _with_answers(passages: Sequence[QuotedPassage], scores: list[float]) -> list[float]:
    """What follows a question is likely its answer, in words that the question need not share."""
    raised = list(scores)
    for i in range(1, len(passages)):
        before = passages[i - 1]
        if before.is_question and not passages[i].is_question:
            raised[i] += ANSWER_SHARE * scores[i - 1] / QUESTION_FACTOR
    return raised


def _touches(group: list[QuotedPassage], passage: QuotedPassage) -> bool:
    return any(other.order == passage.order and abs(other.place - passage.place) == 1 for other in group)


def _as_quote(group: list[QuotedPassage]) -> Quote:
    joint = "\n" if any(FENCE.match(p.text) or LIST_LINE.match(p.text) for p in group) else " "
    return Quote(text=joint.join(passage.text for passage in group), where=group[0].where)
