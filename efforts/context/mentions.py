"""Which chosen turns a text refers to: by their id, or by keywords of the headline that stands for them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from django.db.models import QuerySet

from efforts.context.keywords import ALL, Headlines, Keyword
from efforts.context.references import clipped
from efforts.domain.effort.ageing import GAP
from efforts.domain.effort.chosen import id_of
from efforts.domain.effort.states import PointerState
from efforts.domain.text.terms import terms_of
from efforts.models import Branch, ContextPointer, PointerWord
from efforts.models.prepared import prepared
from efforts.standins.chosen import Chosen, find_chosen, with_spans

NAMED = re.compile(rf"\bturns[{GAP}]+(\d{{1,9}})[{GAP}]+(\d{{1,9}})(?![{GAP}]?\d)", re.IGNORECASE)
# A text that names more is a list of them.
MOST_NAMED = 8


@dataclass(frozen=True, kw_only=True)
class Mention:
    """`how`: name | keywords; `words`: the id, or the keywords."""

    chosen: Chosen
    how: str
    words: tuple[str, ...]


def find_mentions(branch: Branch, text: str) -> list[Mention]:
    """In the order in which their summaries were accepted."""
    text = clipped(text)
    terms = terms_of(text)
    if not terms:
        return []
    found = {one.chosen.pointer.pk: one for one in by_id(branch, text)}
    found |= {one.chosen.pointer.pk: one for one in by_keywords(branch, terms, beside=found)}
    return [found[key] for key in sorted(found)]


def by_id(branch: Branch, text: str) -> Iterator[Mention]:
    ids = dict.fromkeys(id_of(int(first), int(last)) for first, last in NAMED.findall(text))
    for id in list(ids)[:MOST_NAMED]:
        if chosen := find_chosen(branch, id):
            yield Mention(chosen=chosen, how="name", words=(id,))


def by_keywords(branch: Branch, terms: Sequence[str], *, beside: Collection[int]) -> Iterator[Mention]:
    """`beside`: pointers that are referred to already."""
    headlines = headlines_of(branch)
    candidates = headlines.sharing(terms, dict(counted_words(branch, sorted({*terms, ALL}))), beside=beside)
    for chosen in with_spans(ContextPointer.objects.filter(pk__in=candidates.own)):
        if words := candidates.words_of(chosen.pointer.pk, chosen.pointer.headline):
            yield Mention(chosen=chosen, how="keywords", words=words)


def headlines_of(branch: Branch) -> Headlines:
    standing = PointerWord.objects.filter(branch=branch, pointer__state=PointerState.ACTIVE)
    return Headlines(branch=branch, rows=standing, about="pointer")


@prepared
def counted_words(branch: Branch, words: list[str]) -> QuerySet[PointerWord, tuple[str, int]]:
    return headlines_of(branch).counted(words)


def keywords_here(branch: Branch, pointer: ContextPointer) -> list[Keyword]:
    """What of a headline over chosen turns counts as a reference now."""
    return headlines_of(branch).keywords_of(pointer.pk, pointer.headline)
