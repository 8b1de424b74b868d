"""Which efforts of a branch a text refers to, and by which of its words."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from django.db.models import Count, QuerySet

from efforts.domain.lifecycle import EffortStatus, PointerState
from efforts.domain.passages import PASSAGE_WORDS
from efforts.domain.policy import MIN_KEYWORD_OVERLAP
from efforts.domain.salience import is_common, keywords_of, mentioned, shared
from efforts.domain.terms import spelled, terms_of
from efforts.models import Branch, ContextPointer, Effort, EffortState, EffortWord, Frequency

# Characters of a text that are read, at its beginning and at its end: a pasted log refers to nothing.
SCANNED = 10_000
# As a word: in all passages.
ALL = ""


@dataclass(frozen=True, kw_only=True)
class Reference:
    """`how`: name | keywords; `words`: the name as it is called, or the keywords."""

    effort: Effort
    how: str
    words: tuple[str, ...]


Counts = Mapping[str, int]


def find_references(branch: Branch, text: str) -> list[Reference]:
    """By name, or by salient keywords of the headline that stands in the branch; in the order of the efforts' ids."""
    text = text if len(text) <= 2 * SCANNED else f"{text[:SCANNED]}\n{text[-SCANNED:]}"
    terms = terms_of(text)
    if not terms or not EffortState.objects.filter(branch=branch).exists():
        return []
    found = {one.effort.pk: one for one in by_name(branch, text, terms)}
    found |= {one.effort.pk: one for one in by_keywords(branch, terms, beside=found)}
    return [found[key] for key in sorted(found)]


def words_here(branch: Branch, terms: Collection[str], *, of_name: bool) -> QuerySet[EffortWord]:
    return EffortWord.objects.filter(session=branch.session_id, of_name=of_name, word__in=set(terms))


def by_name(branch: Branch, text: str, terms: Collection[str]) -> Iterator[Reference]:
    named = words_here(branch, terms, of_name=True).values("effort")
    for effort in Effort.objects.filter(pk__in=named, states__branch=branch):
        if name := mentioned((effort.slug, effort.name), text):
            yield Reference(effort=effort, how="name", words=(name,))


def by_keywords(branch: Branch, terms: Sequence[str], *, beside: Collection[int]) -> Iterator[Reference]:
    """`beside`: efforts that are referred to already."""
    headlines = headlines_with(branch, {*terms, ALL})
    efforts = headlines.pop(ALL, 0)
    rare = [
        word
        for word, count in headlines.items()
        if not is_common(elsewhere=0, passages=0, headlines=count, efforts=efforts)
    ]
    if len(rare) < MIN_KEYWORD_OVERLAP:
        return
    own = own_passages(branch, rare, beside=beside)
    passages = passages_with(branch, {word for counts in own.values() for word in counts})
    length = max(len(terms) // PASSAGE_WORDS, 1)
    # The words of any branch's headlines lead to candidates; what counts is the one that stands here.
    for pointer in pointers_of(branch, own):
        assert pointer.effort is not None
        counts = own[pointer.effort.pk]
        words = shared(keywords_of(pointer.text), terms, partial(is_common_here, passages, counts, length))
        if len(words) >= MIN_KEYWORD_OVERLAP:
            yield Reference(effort=pointer.effort, how="keywords", words=words)


def is_common_here(passages: Counts, own: Counts, length: int, word: str) -> bool:
    """`own`: of the passages those of the effort itself, by the words that few headlines have; `length`: passages of
    the text."""
    if word not in own:
        return True
    elsewhere, outside = passages.get(word, 0) - own[word], passages.get(ALL, 0) - own.get(ALL, 0)
    return is_common(elsewhere=elsewhere, passages=outside, headlines=0, efforts=0, length=length)


def headlines_with(branch: Branch, words: Collection[str]) -> dict[str, int]:
    found = words_here(branch, words, of_name=False).values_list("word")
    return dict(found.annotate(Count("effort")).order_by())


def own_passages(branch: Branch, words: Sequence[str], *, beside: Collection[int]) -> dict[int, dict[str, int]]:
    """Of the efforts with enough of the words in their headlines, by word the passages of their own."""
    with_any = words_here(branch, words, of_name=False).exclude(effort__in=beside).values("effort")
    enough = with_any.annotate(words=Count("word")).filter(words__gte=MIN_KEYWORD_OVERLAP).values("effort")
    rows = words_here(branch, {*words, ALL}, of_name=False).filter(effort__in=enough)
    found: dict[int, dict[str, int]] = defaultdict(dict)
    for effort, word, passages in rows.values_list("effort", "word", "passages"):
        found[effort][word] = passages
    return found


def passages_with(branch: Branch, words: Collection[str]) -> dict[str, int]:
    # Everything that is indexed is counted under the empty term, which is ALL.
    rows = Frequency.objects.filter(session=branch.session_id, term__in=words)
    return dict(rows.values_list("term", "passages"))


def pointers_of(branch: Branch, efforts: Collection[int]) -> QuerySet[ContextPointer]:
    concluded = EffortState.objects.filter(branch=branch, status=EffortStatus.CONCLUDED, effort__in=efforts)
    active = ContextPointer.objects.filter(branch=branch, state=PointerState.ACTIVE)
    return active.filter(effort__in=concluded.values("effort")).select_related("effort")


@dataclass(frozen=True, kw_only=True)
class Keyword:
    """A word of a headline as it is spelled there; one that is said too often elsewhere tells nothing."""

    word: str
    is_common: bool


def keywords_here(branch: Branch, pointer: ContextPointer) -> list[Keyword]:
    """What of a headline counts as a reference now, as far as the number of its words goes."""
    typed = spelled(pointer.text)
    words = sorted(keywords_of(pointer.text))
    headlines = headlines_with(branch, {*words, ALL})
    passages = passages_with(branch, {*words, ALL})
    rows = words_here(branch, {*words, ALL}, of_name=False).filter(effort=pointer.effort)
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
