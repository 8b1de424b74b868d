"""Which efforts of a branch a text refers to, and by which of its words."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, QuerySet

from efforts.domain.lifecycle import EffortStatus, PointerState
from efforts.domain.policy import MIN_KEYWORD_OVERLAP
from efforts.domain.salience import Counts, is_common, keywords_of, mentioned, shared
from efforts.domain.terms import terms_of
from efforts.models import Branch, ContextPointer, Effort, EffortState, EffortWord, Frequency

# Characters of a text that are read, at its beginning and at its end: a pasted log refers to nothing.
SCANNED = 10_000


@dataclass(frozen=True, kw_only=True)
class Reference:
    """`how`: name | keywords; `words`: the name as it is called, or the keywords."""

    effort: Effort
    how: str
    words: tuple[str, ...]


def find_references(branch: Branch, text: str) -> list[Reference]:
    """By name, or by salient keywords of the headline that stands in the branch; in the order of the efforts' ids."""
    text = text if len(text) <= 2 * SCANNED else f"{text[:SCANNED]}\n{text[-SCANNED:]}"
    terms = set(terms_of(text))
    if not terms or not EffortState.objects.filter(branch=branch).exists():
        return []
    found = {one.effort.pk: one for one in by_name(branch, text, terms)}
    found |= {one.effort.pk: one for one in by_keywords(branch, terms, beside=found)}
    return [found[key] for key in sorted(found)]


def words_here(branch: Branch, terms: Collection[str], *, of_name: bool) -> QuerySet[EffortWord]:
    return EffortWord.objects.filter(session=branch.session_id, of_name=of_name, word__in=terms)


def by_name(branch: Branch, text: str, terms: Collection[str]) -> Iterator[Reference]:
    named = words_here(branch, terms, of_name=True).values("effort")
    for effort in Effort.objects.filter(pk__in=named, states__branch=branch):
        if name := mentioned((effort.slug, effort.name), text):
            yield Reference(effort=effort, how="name", words=(name,))


def by_keywords(branch: Branch, terms: Collection[str], *, beside: Collection[int]) -> Iterator[Reference]:
    """`beside`: efforts that are referred to already."""
    counts = counts_of(branch, terms)
    telling = [word for word, count in counts.items() if not is_common(count)]
    if len(telling) < MIN_KEYWORD_OVERLAP:
        return
    # The words of any branch's headlines lead to candidates; what counts is the one that stands here.
    likely = words_here(branch, telling, of_name=False).exclude(effort__in=beside).values("effort")
    likely = likely.annotate(words=Count("word")).filter(words__gte=MIN_KEYWORD_OVERLAP)
    for pointer in pointers_of(branch, likely.values("effort")):
        words = shared(keywords_of(pointer.text), terms, lambda word: word not in telling)
        if pointer.effort and len(words) >= MIN_KEYWORD_OVERLAP:
            yield Reference(effort=pointer.effort, how="keywords", words=tuple(words))


def pointers_of(branch: Branch, efforts: QuerySet[Any, Any]) -> QuerySet[ContextPointer]:
    concluded = EffortState.objects.filter(branch=branch, status=EffortStatus.CONCLUDED, effort__in=efforts)
    active = ContextPointer.objects.filter(branch=branch, state=PointerState.ACTIVE)
    return active.filter(effort__in=concluded.values("effort")).select_related("effort")


def counts_of(branch: Branch, terms: Collection[str]) -> dict[str, Counts]:
    """Of those terms that are keywords of any headline of the session."""
    grouped = words_here(branch, terms, of_name=False).values_list("word").annotate(Count("effort"))
    headlines = dict(grouped.order_by())
    if not headlines:
        return {}
    passages = dict(
        Frequency.objects.filter(session=branch.session_id, term__in=[*headlines, ""]).values_list("term", "passages")
    )
    efforts = Effort.objects.filter(session=branch.session_id).count()
    return {
        word: Counts(passages=passages.get(word, 0), of_passages=passages.get("", 0), headlines=n, of_headlines=efforts)
        for word, n in headlines.items()
    }
