"""The passages of the prompt that fit a question best, ranked as the search of the product ranks."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from efforts.domain.text.ranking import Found, Ranking, Statistics
from efforts.domain.text.sentences import FENCE, LIST_LINE, split
from efforts.domain.text.speakers import speaker_named
from efforts.domain.text.terms import query_terms, terms_of

# A passage is quoted when it holds this share of what the question asks for, by weight.
GOOD, SURE, LOOSE = 0.35, 0.6, 0.12
# A passage is quoted beside the best when it is nearly as good.
BESIDE_BEST = 0.6
QUOTES = 3
OVERVIEW_QUOTES = 8
# What follows a question likely answers it, in words that the question need not share.
ANSWER_SHARE = 0.5

QUESTION_MARK = re.compile(r"[?？؟][\"'”’)\]*_\s]*$")
ASKS_FOR_QUESTIONS = re.compile(r"\bask(?:ed)?\b|\bquestions?\b", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class Text:
    """Something said, before it is cut, which code is not. `order` rises with time; `turn` is 0 where the prompt does
    not tell it."""

    text: str
    where: str
    by_user: bool
    order: int
    turn: int = 0
    effort: str = ""
    is_code: bool = False


@dataclass(frozen=True, kw_only=True)
class Passage:
    text: str
    said: Text
    place: int

    @property
    def is_question(self) -> bool:
        return bool(QUESTION_MARK.search(self.text))


@dataclass(frozen=True, kw_only=True)
class Quote:
    text: str
    where: str


def cut(texts: Iterable[Text]) -> list[Passage]:
    """All passages; what was found again or repeated keeps its first place."""
    found: dict[str, Passage] = {}
    for said in texts:
        for place, piece in enumerate([said.text] if said.is_code else split(said.text)):
            found.setdefault(" ".join(piece.casefold().split()), Passage(text=piece, said=said, place=place))
    return list(found.values())


def best(question: str, texts: Iterable[Text], *, at_least: float = GOOD) -> tuple[Quote, ...]:
    """The passages that fit, as quotes, best first; those that stood side by side are one."""
    passages = cut(texts)
    wanted = query_terms(question)
    counted = [Counter(terms_of(passage.text)) for passage in passages]
    if not wanted or not passages:
        return ()
    # Words that the prompt lacks weigh as much as its rarest.
    held = [max(1, sum(word in counts for counts in counted)) for word in wanted]
    statistics = Statistics(passages=len(passages), frequencies=tuple(held))
    ranking = Ranking(statistics=statistics)
    ranking.add(row(passages, at, counts, wanted) for at, counts in enumerate(counted))
    # Who asks for something of the boiler repair means what was said in that effort.
    about = [counts.keys() | terms_of(passage.said.effort) for counts, passage in zip(counted, passages, strict=True)]
    rarities = dict(zip(wanted, statistics.rarities, strict=True))
    shares = [math.fsum(rarities[word] for word in wanted if word in words) / statistics.weight for words in about]
    shares = [share + ANSWER_SHARE * asked for share, asked in zip(shares, asked_before(passages, shares), strict=True)]
    about_questions = ASKS_FOR_QUESTIONS.search(question)
    ranked = [(one.score, len(passages) - one.found.message) for one in ranking.ranked()]
    fitting = [
        (score, passages[at])
        for score, at in ranked
        if shares[at] >= at_least and (about_questions or not passages[at].is_question)
    ]
    # Who asks what they said is not told what was answered, as long as there is something that they said.
    asked_of = speaker_named(question)
    fitting = [one for one in fitting if asked_of == role(one[1].said)] or fitting
    near = [passage for score, passage in fitting if score >= BESIDE_BEST * fitting[0][0]][:QUOTES]
    if all(one.said.is_code for one in near):
        # The prompt has the best card first: what is meant, before what only uses it.
        near.sort(key=lambda one: one.said.order)
    return quotes(near)


def row(passages: Sequence[Passage], at: int, counts: Counter[str], wanted: Sequence[str]) -> Found:
    """A passage as the search finds it. Numbered from the last: of equals the one said last is quoted first."""
    said = passages[at].said
    return Found(
        passage=len(passages) - at,
        message=len(passages) - at,
        turn=said.order,
        timeline="" if said.turn else f"unknown {said.order}",
        number=said.turn,
        effort=said.effort,
        role=role(said),
        said_on="",
        start=0,
        end=len(passages[at].text),
        length=counts.total(),
        counts=tuple(counts[word] for word in wanted),
    )


def role(said: Text) -> str:
    return "user" if said.by_user else "assistant"


def asked_before(passages: Sequence[Passage], shares: Sequence[float]) -> list[float]:
    """For each passage the share of the question right before it; 0 where there is none."""
    before = [share if passage.is_question else 0.0 for passage, share in zip(passages, shares, strict=True)]
    return [0.0, *before[:-1]]


def overview(texts: Iterable[Text]) -> tuple[Quote, ...]:
    """How each of the user's last messages begins, oldest first; questions left out."""
    first = [one for one in cut(texts) if one.said.by_user and one.place == 0 and not one.is_question]
    return tuple(Quote(text=one.text, where=one.said.where) for one in first[-OVERVIEW_QUOTES:])


def last_told(texts: Iterable[Text]) -> tuple[Quote, ...]:
    passages = cut(texts)
    told = [passage for passage in passages if passage.said.by_user and not passage.is_question]
    return quotes((told or passages)[-OVERVIEW_QUOTES:])


def quotes(ranked: Iterable[Passage]) -> tuple[Quote, ...]:
    groups: list[list[Passage]] = []
    for one in ranked:
        beside = (
            group
            for group in groups
            if any(other.said.order == one.said.order and abs(other.place - one.place) == 1 for other in group)
        )
        if (group := next(beside, None)) is None:
            groups.append([one])
        else:
            group.append(one)
    return tuple(joined(sorted(group, key=lambda passage: passage.place)) for group in groups)


def joined(group: Sequence[Passage]) -> Quote:
    joint = "\n" if any(FENCE.match(one.text) or LIST_LINE.match(one.text) for one in group) else " "
    return Quote(text=joint.join(one.text for one in group), where=group[0].said.where)
