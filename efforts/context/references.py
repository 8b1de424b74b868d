"""Which efforts of a branch a text refers to, and by which of its words."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Count, QuerySet

from efforts.context.keywords import ALL, Headlines, Keyword
from efforts.domain.effort.ageing import mentioned
from efforts.domain.effort.states import EffortStatus, PointerState
from efforts.domain.text.terms import terms_of
from efforts.models import Branch, ContextPointer, Effort, EffortState, EffortWord
from efforts.models.prepared import prepared

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
    text = clipped(text)
    terms = terms_of(text)
    counts = count_words(branch, {*terms, ALL}) if terms else {}
    found = {one.effort.pk: one for one in by_name(branch, text, terms)} if counts.get(True) else {}
    if headlines := counts.get(False):
        found |= {one.effort.pk: one for one in by_keywords(branch, terms, headlines, beside=found)}
    return [found[key] for key in sorted(found)]


def count_words(branch: Branch, words: Collection[str]) -> dict[bool, dict[str, int]]:
    """Of how many efforts each is a word of the name, by True, and of the headline, by False."""
    counts: dict[bool, dict[str, int]] = {}
    for of_name, word, count in counted_words(branch.session_id, sorted(words)):
        counts.setdefault(of_name, {})[word] = count
    return counts


@prepared
def counted_words(session: UUID, words: list[str]) -> QuerySet[EffortWord, tuple[bool, str, int]]:
    rows = EffortWord.objects.filter(session=session, word__in=words).values_list("of_name", "word")
    return rows.annotate(Count("effort")).order_by()


def clipped(text: str) -> str:
    return text if len(text) <= 2 * SCANNED else f"{text[:SCANNED]}\n{text[-SCANNED:]}"


def words_here(branch: Branch, *, of_name: bool) -> QuerySet[EffortWord]:
    return EffortWord.objects.filter(session=branch.session_id, of_name=of_name)


def by_name(branch: Branch, text: str, terms: Collection[str]) -> Iterator[Reference]:
    named = words_here(branch, of_name=True).filter(word__in=set(terms)).values("effort")
    for effort in Effort.objects.filter(pk__in=named, states__branch=branch):
        if name := mentioned((effort.slug, effort.name), text):
            yield Reference(effort=effort, how="name", words=(name,))


def by_keywords(
    branch: Branch, terms: Sequence[str], counts: Mapping[str, int], *, beside: Collection[int]
) -> Iterator[Reference]:
    """`counts`: in how many headlines each of the terms stands; `beside`: efforts that are referred to already."""
    candidates = headlines_of(branch).sharing(terms, counts, beside=beside)
    # The words of any branch's headlines lead to candidates; what counts is the one that stands here.
    concluded = EffortState.objects.filter(branch=branch, status=EffortStatus.CONCLUDED, effort__in=candidates.own)
    active = ContextPointer.objects.filter(branch=branch, state=PointerState.ACTIVE)
    for pointer in active.filter(effort__in=concluded.values("effort")).select_related("effort"):
        assert pointer.effort is not None
        if words := candidates.words_of(pointer.effort.pk, pointer.headline):
            yield Reference(effort=pointer.effort, how="keywords", words=words)


def headlines_of(branch: Branch) -> Headlines:
    return Headlines(branch=branch, rows=words_here(branch, of_name=False), about="effort")


def keywords_here(branch: Branch, pointer: ContextPointer) -> list[Keyword]:
    """What of an effort's headline counts as a reference now, as far as the number of its words goes."""
    assert pointer.effort is not None
    return headlines_of(branch).keywords_of(pointer.effort.pk, pointer.headline)
