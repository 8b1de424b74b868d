"""Claims that nothing in the source bears out (gate B)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TypeVar

from compaction.domain.artifact import DraftItem, Item, Link, Quote
from compaction.domain.making import link_to
from compaction.domain.verdicts import Gate
from efforts.domain.source_text import Part, Source

from .kinds import Good, Mutant, edited, kind, kinds_in
from .words import FLAG, PATH, VERSION, another_figure, figures, replaced, share, spread, words

T = TypeVar("T")
planted = partial(kind, Gate.TRACEABILITY)

# No message has it.
NOWHERE = 987_654
# Of so many units a single one weighs less than the 2 % that may be untraceable.
MANY = 50
NOBODY_SAID = "The whole office moved to Lisbon in 1987."
SENTENCE = re.compile(r"[^.!?\n]{25,200}[.!?]")


def few_enough(good: Good) -> bool:
    """Whether one unit of all is more than 2 %, with some room for the sentences of the headline."""
    return len(good.items) + 5 < MANY


def linked(good: Good) -> list[tuple[int, Item]]:
    found = [(at, item) for at, item in enumerate(good.artifact.items) if item.links]
    return one_of(good, found)


def chosen(good: Good) -> list[DraftItem]:
    return one_of(good, good.items)


def one_of(good: Good, found: Sequence[T]) -> list[T]:
    """Another place in every scope."""
    at = len(good.case.source.text) % max(len(found), 1)
    return list(found[at : at + 1]) if few_enough(good) else []


def moved(link: Link, by: int) -> Link:
    return link.model_copy(update={"start": link.start + by, "end": link.end + by})


def forged(quote: str) -> str:
    """The same length, another word: the longest, backwards."""
    longest = max(re.findall(r"\w+", quote) or [quote], key=len)
    backwards = longest[::-1] if longest[::-1] != longest else "x" * len(longest)
    return quote.replace(longest, backwards, 1)


def saying(quote: Quote, words: str) -> Quote:
    return quote.model_copy(update={"quote": words})


def of_message(quote: Quote, message: int) -> Quote:
    return quote.model_copy(update={"message": message})


def in_source(source: Source, quote: str) -> bool:
    return any(link_to(source, message, quote) for message in {part.message for part in source.parts})


@planted(least=55)
def a_forged_quotation(good: Good) -> Iterator[Mutant]:
    """A word of every quotation is another one; the source has none of them."""
    for item in chosen(good):
        quotes = tuple(saying(quote, forged(quote.quote)) for quote in item.quotes)
        if not any(in_source(good.case.source, quote.quote) for quote in quotes):
            yield good.with_item(item, f"{item.id}: {quotes[0].quote!r}", quotes=quotes)


@planted(least=55)
def a_forged_quotation_at_true_offsets(good: Good) -> Iterator[Mutant]:
    """In a document: the places are right, the words that it shows are not what stands there."""
    for at, item in linked(good):
        links = [link.model_copy(update={"quote": forged(link.quote)}) for link in item.links]
        yield good.with_links(at, links, f"{item.id}: {links[0].quote!r}")


@planted(least=55)
def one_of_several_quotations_forged(good: Good) -> Iterator[Mutant]:
    """In a document, an item that is quoted twice or more: a reader is shown words that nobody said."""
    for at, item in one_of(good, [(at, item) for at, item in enumerate(good.artifact.items) if len(item.links) > 1]):
        first, *rest = item.links
        changed = first.model_copy(update={"quote": forged(first.quote)})
        yield good.with_links(at, [changed, *rest], f"{item.id}: {changed.quote!r}")


@planted(least=55)
def offsets_shifted_by_one(good: Good) -> Iterator[Mutant]:
    for at, item in linked(good):
        by = -1 if item.links[0].start else 1
        yield good.with_links(at, [moved(link, by) for link in item.links], f"{item.id}: every link by {by}")


@planted(least=55)
def offsets_behind_the_end_of_the_message(good: Good) -> Iterator[Mutant]:
    for at, item in linked(good):
        yield good.with_links(at, [moved(link, NOWHERE) for link in item.links], f"{item.id}: far behind the end")


@planted(least=55)
def a_link_out_of_scope(good: Good) -> Iterator[Mutant]:
    """In a document: to a message that the scope has not."""
    for at, item in linked(good):
        links = [link.model_copy(update={"message": NOWHERE}) for link in item.links]
        yield good.with_links(at, links, f"{item.id}: message {NOWHERE}")


@planted(least=55)
def a_quotation_of_a_message_out_of_scope(good: Good) -> Iterator[Mutant]:
    for item in chosen(good):
        quotes = tuple(of_message(quote, NOWHERE) for quote in item.quotes)
        yield good.with_item(item, f"{item.id}: message {NOWHERE}", quotes=quotes)


@planted(least=55)
def a_quotation_of_another_message_than_its_own(good: Good) -> Iterator[Mutant]:
    """The message is in the scope and does not say it."""
    for item in chosen(good):
        others = [part.message for part in good.case.source.parts]
        quotes = tuple(
            of_message(quote, other)
            for quote in item.quotes
            for other in [next((m for m in others if not link_to(good.case.source, m, quote.quote)), None)]
            if other is not None
        )
        if len(quotes) == len(item.quotes):
            yield good.with_item(item, f"{item.id}: message {quotes[0].message}", quotes=quotes)


@planted(least=55)
def a_link_to_another_part_of_its_message(good: Good) -> Iterator[Mutant]:
    """In a document: what was said is claimed of a tool's result."""
    for at, item in linked(good):
        links = [
            link.model_copy(update={"part": Part.TEXT if link.part == Part.RESULT else Part.RESULT})
            for link in item.links
        ]
        yield good.with_links(at, links, f"{item.id}: part {links[0].part}")


@planted(least=55)
def a_quotation_too_short_to_mean_anything(good: Good) -> Iterator[Mutant]:
    """The first letters of each, which do stand there."""
    for item in chosen(good):
        quotes = tuple(saying(quote, beginning(quote.quote)) for quote in item.quotes)
        yield good.with_item(item, f"{item.id}: {quotes[0].quote!r}", quotes=quotes)


def beginning(quote: str) -> str:
    """Scripts without spaces say much in a few characters."""
    return quote[: 6 if " " in quote.strip() else 2].strip()


@planted(least=55)
def no_quotation_at_all(good: Good) -> Iterator[Mutant]:
    for item in chosen(good):
        yield good.with_item(item, f"{item.id} has no quotations", quotes=())


@planted(least=55)
def one_item_of_twenty_without_quotation(good: Good) -> Iterator[Mutant]:
    """The artifact's items again and again until they are twenty, and the last has no quotation."""
    copies: list[DraftItem] = []
    while len(good.items) + len(copies) < 20:
        copies.append(edited(good.items[len(copies) % len(good.items)], id=f"copy{len(copies)}"))
    if copies:
        last = edited(copies[-1], quotes=())
        mutant = good.with_items((*good.items, *copies[:-1], last), f"{last.id}, the last of twenty, has no quotations")
        yield replace(mutant, base=good.with_items((*good.items, *copies), "").judged)


@planted(least=110)
def no_item_has_a_link(good: Good) -> Iterator[Mutant]:
    """Once by leaving all quotations out, once by dropping the links of the document."""
    yield good.with_items((edited(item, quotes=()) for item in good.items), "no item has a quotation")
    items = tuple(item.model_copy(update={"links": ()}) for item in good.artifact.items)
    yield good.document(good.artifact.model_copy(update={"items": items}), "no item of the document has a link")


@planted(least=75)
def a_figure_that_no_quotation_has(good: Good) -> Iterator[Mutant]:
    """A figure of the text is another one, which stands nowhere in the source."""
    found = [(item, figure) for item in good.items for figure in figures(item.text)[:1]]
    for item, figure in spread(found, 3) if few_enough(good) else []:
        new = another_figure(figure, good.case.source.text)
        yield good.with_item(item, f"{item.id}: {new} for {figure}", text=replaced(item.text, figure, new))


@planted(least=55)
def a_figure_added(good: Good) -> Iterator[Mutant]:
    for item in chosen(good):
        new = another_figure("37", good.case.source.text)
        yield good.with_item(item, f"{item.id}: ({new} in all)", text=f"{item.text.rstrip('.')} ({new} in all).")


@planted(least=55)
def a_path_added(good: Good) -> Iterator[Mutant]:
    for item in chosen(good):
        text = f"{item.text.rstrip('.')} (in src/legacy/old_ledger_sync.py)."
        yield good.with_item(item, f"{item.id}: src/legacy/old_ledger_sync.py", text=text)


@planted(least=55)
def an_identifier_added(good: Good) -> Iterator[Mutant]:
    for item in chosen(good):
        text = f"{item.text.rstrip('.')} (see `LedgerSyncWorker` and --purge-all)."
        yield good.with_item(item, f"{item.id}: LedgerSyncWorker, --purge-all", text=text)


@planted(least=50)
def a_quotation_of_another_matter(good: Good) -> Iterator[Mutant]:
    """True words of the scope that have nothing of what the text names, which has a figure, path, version or flag."""
    for item in spread([item for item in good.items if anchors(item.text)], 2) if few_enough(good) else []:
        if other := sentence_without(good, item, anchors(item.text)):
            yield good.with_item(item, f"{item.id}: {other.quote!r}", quotes=(other,))


def anchors(text: str) -> list[str]:
    found = [match[0] for pattern in (PATH, VERSION, FLAG) for match in pattern.finditer(text)]
    # A small figure may stand in the other sentence as a word.
    return found + [figure for figure in figures(text) if len(figure) > 1]


def sentence_without(good: Good, item: DraftItem, named: Iterable[str]) -> Quote | None:
    for part in good.case.source.parts:
        for found in SENTENCE.finditer(part.text):
            quote = found[0].strip()
            if share(item.text, quote) == 0 and len(words(quote)) > 4 and not any(name in quote for name in named):
                return Quote(message=part.message, quote=quote)
    return None


@planted(least=55)
def a_sentence_of_the_headline_that_nothing_backs(good: Good) -> Iterator[Mutant]:
    if few_enough(good):
        headline = f"{good.draft.headline} {NOBODY_SAID}"
        yield good.offering(good.draft.model_copy(update={"headline": headline}), NOBODY_SAID)


@planted(least=20)
def a_figure_of_the_headline_that_nothing_backs(good: Good) -> Iterator[Mutant]:
    for figure in figures(good.draft.headline)[:1] if few_enough(good) else []:
        new = another_figure(figure, good.case.source.text)
        headline = replaced(good.draft.headline, figure, new)
        yield good.offering(good.draft.model_copy(update={"headline": headline}), f"headline: {new} for {figure}")


KINDS = kinds_in(globals())
