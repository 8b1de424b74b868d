"""By which words of a headline a text refers to what it stands for: one rule for efforts and for chosen turns."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from django.db.models import Count, QuerySet

from efforts.domain.effort.ageing import is_common, keywords_of, shared
from efforts.domain.effort.policy import MIN_KEYWORD_OVERLAP
from efforts.domain.text.passages import PASSAGE_WORDS
from efforts.domain.text.terms import spelled
from efforts.models import Branch, EffortWord, Frequency, PointerWord

# As a word: in all passages.
ALL = ""

Counts = Mapping[str, int]


@dataclass(frozen=True, kw_only=True)
class Keyword:
    """A word of a headline as it is spelled there; one that is said too often elsewhere tells nothing."""

    word: str
    is_common: bool


@dataclass(frozen=True, kw_only=True)
class KeywordCandidates:
    """What a text may refer to: all with enough of its words in their headlines, of those that few headlines have.

    `own`: of these words, how many passages of the candidate itself have each; `passages`: of all passages.
    """

    terms: Sequence[str]
    own: Mapping[int, Counts]
    passages: Counts

    def words_of(self, candidate: int, headline: str) -> tuple[str, ...]:
        """By which of its words the text refers to it; none where they are too few."""
        words = shared(keywords_of(headline), self.terms, partial(self._is_common, self.own[candidate]))
        return words if len(words) >= MIN_KEYWORD_OVERLAP else ()

    def _is_common(self, own: Counts, word: str) -> bool:
        if word not in own:
            return True
        elsewhere, outside = self.passages.get(word, 0) - own[word], self.passages.get(ALL, 0) - own.get(ALL, 0)
        length = max(len(self.terms) // PASSAGE_WORDS, 1)
        return is_common(elsewhere=elsewhere, passages=outside, headlines=0, efforts=0, length=length)


@dataclass(frozen=True, kw_only=True)
class Headlines:
    """`rows`: their words in a branch; `about`: the column with what each stands for."""

    branch: Branch
    rows: QuerySet[EffortWord] | QuerySet[PointerWord]
    about: str

    def sharing(self, terms: Sequence[str], counts: Counts, *, beside: Collection[int]) -> KeywordCandidates:
        """`counts`: in how many headlines each of the terms stands, and how many there are; `beside`: what is referred
        to already."""
        rare = [word for word, count in counts.items() if word != ALL and is_rare(count, counts.get(ALL, 0))]
        own = self.own_passages(rare, beside=beside) if len(rare) >= MIN_KEYWORD_OVERLAP else {}
        passages = passages_with(self.branch, {word for counts in own.values() for word in counts})
        return KeywordCandidates(terms=terms, own=own, passages=passages)

    def counts(self, words: Collection[str]) -> dict[str, int]:
        """In how many headlines each stands."""
        return dict(self.counted(list(words)))

    def counted(self, words: list[str]) -> QuerySet[Any, tuple[str, int]]:
        return self.rows.filter(word__in=words).values_list("word").annotate(Count(self.about)).order_by()

    def own_passages(self, words: Sequence[str], *, beside: Collection[int]) -> dict[int, dict[str, int]]:
        """Of what has enough of the words in its headline, by word the passages of its own."""
        rows, about = self.rows, self.about
        with_any = rows.filter(word__in=words).exclude(**{f"{about}__in": beside}).values(about)
        enough = with_any.annotate(words=Count("word")).filter(words__gte=MIN_KEYWORD_OVERLAP).values(about)
        own = rows.filter(word__in={*words, ALL}, **{f"{about}__in": enough})
        found: dict[int, dict[str, int]] = defaultdict(dict)
        for candidate, word, passages in own.values_list(about, "word", "passages"):
            found[candidate][word] = passages
        return found

    def keywords_of(self, candidate: int, headline: str) -> list[Keyword]:
        """What of its headline counts as a reference now, as far as the number of its words goes."""
        typed = spelled(headline)
        words = sorted(keywords_of(headline))
        headlines, passages = self.counts({*words, ALL}), passages_with(self.branch, {*words, ALL})
        rows = self.rows.filter(word__in={*words, ALL}, **{self.about: candidate})
        own = dict(rows.values_list("word", "passages"))
        return [
            Keyword(
                word=typed.get(word, word),
                is_common=is_common(
                    elsewhere=passages.get(word, 0) - own.get(word, 0),
                    passages=passages.get(ALL, 0) - own.get(ALL, 0),
                    headlines=headlines.get(word, 0),
                    efforts=headlines.get(ALL, 0),
                ),
            )
            for word in words
        ]


def is_rare(headlines: int, of_all: int) -> bool:
    return not is_common(elsewhere=0, passages=0, headlines=headlines, efforts=of_all)


def passages_with(branch: Branch, words: Collection[str]) -> dict[str, int]:
    # Everything that is indexed is counted under the empty term, which is ALL.
    rows = Frequency.objects.filter(session=branch.session_id, term__in=words)
    return dict(rows.values_list("term", "passages"))
