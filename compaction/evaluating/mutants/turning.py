"""Claims in the words of their source that say it otherwise: denied, more or less binding, of others (gate D)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from compaction.domain.artifact import DraftItem, Quote, Status
from compaction.domain.making import link_to
from compaction.domain.verdicts import Gate

from .keeping import overlaps
from .kinds import Good, Mutant, edited, kind, kinds_in
from .words import (
    FLAG,
    PATH,
    REPEATS,
    VERSION,
    affirmed,
    another_figure,
    clause_with_negation,
    figures,
    follows_alike,
    has_word,
    is_negated,
    negated,
    repeats,
    replaced,
    says_enough,
    sentences,
    share,
    spread,
    stands_alike,
)

planted = partial(kind, Gate.CONTRADICTION)

# Such items say only that something was said, whatever it says.
SAID_ONLY = frozenset({Status.REJECTED, Status.SUPERSEDED, Status.PROPOSED, Status.DROPPED, Status.REVOKED})
# A scope has of each kind so many claims of the good artifact, and so many sentences told once more.
CLAIMS, RETOLD = 4, 1

# Of the words of each stand in the other.
NEARLY_ALL = 0.8
MODALS = (("must", "may"), ("cannot", "can"), ("required", "optional"), ("have to", "may"), ("has to", "may"))
SCOPES = (("all", "some"), ("every", "some"), ("always", "sometimes"), ("never", "sometimes"), ("none", "some"))
ORDERS = (("before", "after"), ("after", "before"), ("until", "from"))
# In these a word of the above does not mean what it means by itself.
IDIOMS = re.compile(
    r"\b(?:at|after|first of|all|you|we|us|they|them) all\b|\ball right\b|\bnot only\b|\bmore than (?:happy|welcome)\b",
    re.IGNORECASE,
)
# What may not be done either, or need not be.
PROHIBITED = re.compile(
    r"\bmust (?:not|never|only)\b|(?:n['’]t|\bnot) have to\b|\bmust have\b|\bI must\b", re.IGNORECASE
)
# What is asked, supposed or told of others says nothing for sure.
UNSURE = re.compile(
    r"\?|\bwhy (?:don|do)|\b(?:if|whether|unless|perhaps|maybe|might|could|would|suppose)\b", re.IGNORECASE
)


@dataclass(frozen=True, kw_only=True)
class Claim:
    """`said` is the sentence that the item repeats; where it is `retold`, in place of an item that quotes it."""

    item: DraftItem
    said: str
    retold: bool = False


Change = Callable[[Claim], str | None]


def asserting(good: Good) -> Iterator[DraftItem]:
    yield from (item for item in good.items if item.status not in SAID_ONLY)


def repeating(good: Good) -> Iterator[Claim]:
    """Items that say it in the words of one sentence of a quotation."""
    for item in asserting(good):
        said = [sentence for quote in item.quotes for sentence in sentences(quote.quote)]
        best = max(said, key=lambda sentence: share(item.text, sentence) + share(sentence, item.text), default="")
        if repeats(item.text, best) and not UNSURE.search(best):
            yield Claim(item=item, said=best)


def retelling(good: Good) -> Iterator[Claim]:
    """Sentences that items quote, in place of those: nothing that was taken back is known by them."""
    for item in asserting(good):
        for quote in item.quotes:
            for sentence in sentences(quote.quote):
                told = as_told(good, item, quote, sentence)
                if told and sentence != item.text and not UNSURE.search(sentence):
                    yield Claim(item=told, said=sentence, retold=True)


def as_told(good: Good, item: DraftItem, quote: Quote, sentence: str) -> DraftItem | None:
    part = next((part for part in good.case.source.parts if part.message == quote.message), None)
    shown = Quote(message=quote.message, quote=sentence)
    if part is None or len(sentence.split()) < 5 or not link_to(good.case.source, shown.message, sentence):
        return None
    told = edited(item, text=sentence, quotes=(shown,), actor=part.role, ledger=None)
    gone = (entry for entry in good.case.ledger if entry.status in SAID_ONLY)
    return None if any(overlaps(entry, told, good.case.source) for entry in gone) else told


def turned(good: Good, change: Change) -> Iterator[Mutant]:
    for claims, most in ((repeating(good), CLAIMS), (retelling(good), RETOLD)):
        found = [(claim, text) for claim in claims if (text := change(claim)) and text != claim.item.text]
        found = [(claim, text) for claim, text in found if says_enough(text, claim.item.text)]
        yield from (told(good, claim, text) for claim, text in spread(found, most))


def told(good: Good, claim: Claim, text: str) -> Mutant:
    changed = f"{claim.item.id}: {text!r}, and the source: {claim.said!r}"
    mutant = good.with_item(claim.item, changed, text=text)
    base = good.with_item(claim.item, changed).judged if claim.retold else None
    return replace(mutant, base=base)


@planted(least=55)
def a_figure_flipped(good: Good) -> Iterator[Mutant]:
    """The sentence that the claim repeats has the figure, the claim another one, which stands nowhere in the source."""

    def change(claim: Claim) -> str | None:
        common = [figure for figure in figures(claim.item.text) if figures(claim.said).count(figure) == 1]
        new = another_figure(common[0], good.case.source.text) if common else ""
        return replaced(claim.item.text, common[0], new) if common else None

    yield from turned(good, change)


def next_version(name: str) -> str:
    return re.sub(r"\d+(?=\D*$)", lambda found: str(int(found[0]) + 1), name)


def other_path(name: str) -> str:
    return re.sub(r"([\w-]+)(\.[a-z]{2,4})?$", r"\1_old\2", name)


def other_flag(name: str) -> str:
    return name.replace("--", "--no-", 1)


def other_name(good: Good, text: str, said: str) -> str | None:
    for pattern, other in ((PATH, other_path), (FLAG, other_flag), (VERSION, next_version)):
        found = pattern.search(text)
        new = other(found[0]) if found else ""
        if found and found[0] in said and new != found[0] and new not in good.case.source.text:
            return text.replace(found[0], new)
    return None


@planted(least=15)
def a_version_path_or_flag_changed(good: Good) -> Iterator[Mutant]:
    """The sentence that the claim repeats has the one, the claim another, which stands nowhere in the source."""
    yield from turned(good, lambda claim: other_name(good, claim.item.text, claim.said))


@planted(least=60)
def a_negation_added(good: Good) -> Iterator[Mutant]:
    """The claim repeats its source's words, in which there is no negation."""

    def change(claim: Claim) -> str | None:
        text = negated(claim.item.text, good.case.language)
        denies = text and share(clause_with_negation(text), claim.said) >= REPEATS
        return text if denies and not any(is_negated(quote.quote) for quote in claim.item.quotes) else None

    yield from turned(good, change)


@planted(least=30)
def a_negation_removed(good: Good) -> Iterator[Mutant]:
    """The claim repeats nearly all of its source's words without their only negation."""

    def change(claim: Claim) -> str | None:
        close = min(share(claim.item.text, claim.said), share(claim.said, claim.item.text)) >= NEARLY_ALL
        return affirmed(claim.item.text) if close and is_negated(claim.said) else None

    yield from turned(good, change)


def exchanged(good: Good, pairs: Sequence[tuple[str, str]], alike: Callable[[str, str, str], bool]) -> Iterator[Mutant]:
    """The one word in the claim and in the sentence that it repeats, the other in none of its quotations."""
    yield from turned(good, lambda claim: with_other_word(claim, pairs, alike))


def with_other_word(
    claim: Claim, pairs: Iterable[tuple[str, str]], alike: Callable[[str, str, str], bool]
) -> str | None:
    text, said = claim.item.text, claim.said
    quoted = [quote.quote for quote in claim.item.quotes]
    if IDIOMS.search(text) or IDIOMS.search(said) or not is_said_once(text, pairs):
        return None
    for word, other in pairs:
        if alike(text, said, word) and not any(has_word(quote, other) for quote in quoted):
            return re.sub(rf"\b{word}\b", other, text, count=1, flags=re.IGNORECASE)
    return None


def is_said_once(text: str, pairs: Iterable[tuple[str, str]]) -> bool:
    """Where it is said twice, one word does not change it."""
    return sum(len(re.findall(rf"\b{word}\b", text, re.IGNORECASE)) for word, _ in pairs) == 1


@planted(least=35)
def another_modality(good: Good) -> Iterator[Mutant]:
    """“must” is “may”."""

    def alike(text: str, said: str, word: str) -> bool:
        return stands_alike(text, said, word) and not PROHIBITED.search(text)

    yield from exchanged(good, MODALS, alike)


@planted(least=35)
def another_scope(good: Good) -> Iterator[Mutant]:
    """“all” is “some”, “always” is “sometimes”."""
    yield from exchanged(good, SCOPES, stands_alike)


@planted(least=40)
def another_order(good: Good) -> Iterator[Mutant]:
    """“before” is “after”, of the same. Not in a denial: what is not done before may not be done after either."""

    def alike(text: str, said: str, word: str) -> bool:
        return follows_alike(text, said, word) and not is_negated(said)

    yield from exchanged(good, ORDERS, alike)


KINDS = kinds_in(globals())
