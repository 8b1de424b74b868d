"""Decisions, open work and rules that are not handed on as they are (gate C)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import pairwise

from compaction.domain.artifact import DraftItem, Section, Status
from compaction.domain.ledger import Entry
from compaction.domain.verdicts import Gate

from .keeping import Kept, kept, overlaps, rules
from .kinds import Good, Mutant, edited, kind, kinds_in
from .traceability import anchors, sentence_without
from .words import is_negated, negated, replaced, share, spread

planted = partial(kind, Gate.RETENTION)

VAGUE = "Some matters were settled, as was said."
# A rule that no longer says the same, by one word.
WEAKER = (
    ("must not", "should not"),
    ("never", "rarely"),
    ("always", "mostly"),
    ("only", "mainly"),
    ("do not", "rather do not"),
    ("don't", "rather don't"),
    ("must", "should"),
    ("all", "most"),
    ("no", "hardly any"),
    ("every", "nearly every"),
    ("nie", "selten"),
    ("immer", "meistens"),
    ("nicht", "kaum"),
    ("jamais", "rarement"),
    ("nunca", "rara vez"),
)
LONGEST_WORD = re.compile(r"\w{4,}")


def dropped(good: Good, section: Section) -> Iterator[Mutant]:
    for pair in kept(good, section):
        yield good.without(pair.item, f"without {pair.entry.id}: {pair.entry.text!r}")


@planted(least=185)
def a_decision_left_out(good: Good) -> Iterator[Mutant]:
    """Each accepted decision once."""
    yield from dropped(good, Section.DECISION)


@planted(least=175)
def open_work_left_out(good: Good) -> Iterator[Mutant]:
    """Each piece of open or blocked work once."""
    yield from dropped(good, Section.OPEN_WORK)


@planted(least=90)
def a_rule_left_out(good: Good) -> Iterator[Mutant]:
    """Each rule in force once, where no second item holds its words."""
    for entry, item in rules(good):
        yield good.without(item, f"without {entry.id}: {entry.text!r}")


def reworded(good: Good, entry: Entry, item: DraftItem, text: str) -> Iterator[Mutant]:
    if " ".join(entry.text.split()) not in " ".join(text.split()):
        yield good.with_item(item, f"{item.id}: {text!r}", text=text)


@planted(least=45)
def a_rule_weakened_by_a_word(good: Good) -> Iterator[Mutant]:
    for entry, item in rules(good):
        text = weakened(item.text)
        if text:
            yield from reworded(good, entry, item, text)


def weakened(text: str) -> str | None:
    for strong, weak in WEAKER:
        found = re.search(rf"\b{strong}\b", text, re.IGNORECASE)
        if found:
            return text[: found.start()] + weak + text[found.end() :]
    return None


@planted(least=90)
def a_rule_in_other_words(good: Good) -> Iterator[Mutant]:
    """One word less: nearly what was said, and not word for word."""
    for entry, item in rules(good):
        found = LONGEST_WORD.search(entry.text)
        if found:
            yield from reworded(good, entry, item, item.text.replace(found[0], "", 1))


@planted(least=90)
def a_rule_told_as_a_fact(good: Good) -> Iterator[Mutant]:
    for entry, item in rules(good):
        changed = f"{entry.id} is a fact: {entry.text!r}"
        yield good.with_item(item, changed, section=Section.FACT, status=Status.STATED)


@planted(least=90)
def a_rule_marked_as_revoked(good: Good) -> Iterator[Mutant]:
    for entry, item in rules(good):
        yield good.with_item(item, f"{entry.id} is revoked: {entry.text!r}", status=Status.REVOKED)


@planted(least=80)
def a_decision_marked_as_proposed_or_rejected(good: Good) -> Iterator[Mutant]:
    for number, pair in enumerate(spread(kept(good, Section.DECISION))):
        status = (Status.PROPOSED, Status.REJECTED)[number % 2]
        changed = f"{pair.entry.id} is {status}: {pair.entry.text!r}"
        yield good.with_item(pair.item, changed, section=Section.DECISION, status=status)


@planted(least=85)
def open_work_marked_as_done_or_dropped(good: Good) -> Iterator[Mutant]:
    for number, pair in enumerate(spread(kept(good, Section.OPEN_WORK))):
        status = (Status.DONE, Status.DROPPED)[number % 2]
        changed = f"{pair.entry.id} is {status}: {pair.entry.text!r}"
        yield good.with_item(pair.item, changed, section=Section.OPEN_WORK, status=status)


@planted(least=80)
def a_decision_told_as_a_fact(good: Good) -> Iterator[Mutant]:
    for pair in spread(kept(good, Section.DECISION), 2):
        changed = f"{pair.entry.id} is a fact: {pair.entry.text!r}"
        yield good.with_item(pair.item, changed, section=Section.FACT, status=Status.STATED)


@planted(least=85)
def open_work_told_as_a_risk(good: Good) -> Iterator[Mutant]:
    for pair in spread(kept(good, Section.OPEN_WORK), 2):
        changed = f"{pair.entry.id} is a risk: {pair.entry.text!r}"
        yield good.with_item(pair.item, changed, section=Section.RISK, status=Status.STATED)


def merged(good: Good, first: Kept, second: Kept, text: str, changed: str) -> Mutant:
    """One item in place of two, with the quotations of both."""
    quotes = tuple(dict.fromkeys((*first.item.quotes, *second.item.quotes)))
    items = [
        edited(item, text=text, quotes=quotes) if item.id == first.item.id else item
        for item in good.items
        if item.id != second.item.id
    ]
    return good.with_items(items, changed)


@planted(least=70)
def two_decisions_in_one_vague_line(good: Good) -> Iterator[Mutant]:
    for first, second in spread(pairwise(kept(good, Section.DECISION)), 2):
        yield merged(good, first, second, VAGUE, f"{first.entry.id} and {second.entry.id} are {VAGUE!r}")


@planted(least=70)
def two_decisions_in_one_item(good: Good) -> Iterator[Mutant]:
    """Everything is said, and whoever reads the list counts one less: entries and items match one to one."""
    for first, second in spread(pairwise(kept(good, Section.DECISION)), 2):
        text = f"{first.item.text.rstrip('.')}; {second.item.text}"
        yield merged(good, first, second, text, f"{first.entry.id} and {second.entry.id} in one item")


@planted(least=75)
def two_pieces_of_work_in_one_vague_line(good: Good) -> Iterator[Mutant]:
    for first, second in spread(pairwise(kept(good, Section.OPEN_WORK)), 2):
        text = "Some things are still to be done."
        yield merged(good, first, second, text, f"{first.entry.id} and {second.entry.id} are {text!r}")


@planted(least=60)
def one_decision_twice_in_place_of_two(good: Good) -> Iterator[Mutant]:
    """The item of another matter says what the first says; their words and places differ."""
    for first, second in spread(pairwise(kept(good, Section.DECISION)), 2):
        apart = share(second.entry.text, first.item.text) < 0.4 and not overlaps(
            second.entry, first.item, good.case.source
        )
        if apart:
            changed = f"{second.item.id} says again what {first.item.id} says"
            yield good.with_item(second.item, changed, text=first.item.text, quotes=first.item.quotes)


@planted(least=75)
def a_decision_by_its_id_alone(good: Good) -> Iterator[Mutant]:
    """The item names the entry and says nothing of it, under a quotation of another matter."""
    for pair in spread(kept(good, Section.DECISION), 2):
        other = sentence_without(good, pair.item, [pair.entry.text])
        if other and not overlaps(pair.entry, edited(pair.item, quotes=(other,)), good.case.source):
            changed = f"{pair.item.id} has the id {pair.entry.id} and says {VAGUE!r}"
            yield good.with_item(pair.item, changed, text=VAGUE, quotes=(other,), ledger=pair.entry.id)


def words_of(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


@planted(least=15)
def the_polarity_of_a_decision_flipped(good: Good) -> Iterator[Mutant]:
    """A negation in the main clause of a decision that says it word for word as its entry, and neither has one, nor a
    quotation."""
    for pair in kept(good, Section.DECISION):
        alike = words_of(pair.item.text) == words_of(pair.entry.text)
        text = negated(pair.item.text, good.case.language) if alike else None
        if text and not any(is_negated(said) for said in (pair.entry.text, *(q.quote for q in pair.item.quotes))):
            yield good.with_item(pair.item, f"{pair.item.id}: {text!r}", text=text)


def named(good: Good, pair: Kept) -> list[str]:
    """What the entry, the words that it is known by, and the item all name: figures, paths, versions, flags."""
    place = pair.entry.spans[0]
    said = good.case.source.by_place[place.message, place.part].text[place.start : place.end]
    return [
        name
        for name in anchors(pair.entry.text)
        if name in anchors(said) and name in anchors(pair.item.text) and any(name in q.quote for q in pair.item.quotes)
    ]


def unnamed(text: str, name: str) -> str:
    return replaced(text, name, "some") if name not in replaced(text, name, "some") else text.replace(name, "some")


@planted(least=35)
def a_value_left_out_of_text_and_quotations(good: Good) -> Iterator[Mutant]:
    """What an entry and its place name stands neither in the item nor in what is left of its quotations."""
    for section in (Section.DECISION, Section.OPEN_WORK):
        for pair in kept(good, section):
            for name in named(good, pair)[:1]:
                quotes = tuple(quote for quote in pair.item.quotes if name not in quote.quote)
                text = unnamed(pair.item.text, name)
                yield good.with_item(pair.item, f"{pair.item.id} lacks {name}: {text!r}", text=text, quotes=quotes)


@planted(least=105)
def a_candidate_that_no_item_covers(good: Good) -> Iterator[Mutant]:
    """Nobody has confirmed the entry, its item is left out, and no other item quotes its place."""
    for section in (Section.DECISION, Section.OPEN_WORK):
        for pair in spread(kept(good, section), 2):
            others = [item for item in good.items if item.id != pair.item.id]
            if not any(overlaps(pair.entry, item, good.case.source) for item in others):
                mutant = good.without(pair.item, f"the candidate {pair.entry.id}: {pair.entry.text!r}")
                candidates = (replace(pair.entry, confirmed=False),)
                base = replace(good.judged, ledger=(), candidates=candidates)
                yield replace(mutant, judged=replace(mutant.judged, ledger=(), candidates=candidates), base=base)


KINDS = kinds_in(globals())
