"""Claims that the source, the ledger or another claim contradicts (gate D)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial

from compaction.domain.artifact import Actor, DraftItem, Quote, Section, Status
from compaction.domain.ledger import Entry, Span
from compaction.domain.verdicts import Gate
from efforts.domain.conversation import Role
from efforts.domain.source_text import Part, SourcePart

from .keeping import KEEPING, Kept, is_alike, kept, likeness, overlaps, rules
from .kinds import Good, Mutant, edited, kind, kinds_in
from .turning import asserting
from .words import (
    another_figure,
    figures,
    is_negated,
    negated,
    repeats,
    replaced,
    share,
    spread,
    words,
)

ALIKE_WORK = 0.5
planted = partial(kind, Gate.CONTRADICTION)

# What a scope's own decision is told by where it has taken another's place.
ABOUT = 0.3
TESTS_FAILED = re.compile(r"\bFAILED\b|\b[1-9]\d* failed, \d+ passed\b|\bTraceback\b|\bAssertionError\b")
TESTS_PASSED = re.compile(r"\b\d+ passed\b", re.IGNORECASE)
DAY = re.compile(r"\b\d+(?:st|nd|rd|th)\b|\b\d+ (?:January|February|March|April|May|June|July|August|\w+ber)\b")
FAILING_RUN = "collected 42 items\nFAILED tests/test_planted.py::test_rounding\n1 failed, 41 passed in 0.66s"
CLAIMS_OF_SUCCESS = (
    (Section.FACT, Status.STATED, "All tests pass."),
    (Section.FACT, Status.STATED, "The tests ran without errors."),
    (Section.CHANGED, Status.DONE, "The failing test is fixed; the test suite passes."),
)


def part_at(good: Good, span: Span) -> SourcePart:
    return good.case.source.by_place[span.message, span.part]


def quoted(good: Good, span: Span) -> Quote:
    return Quote(message=span.message, quote=part_at(good, span).text[span.start : span.end])


def claim_of(good: Good, entry: Entry, section: Section, status: Status) -> DraftItem:
    """The entry as an item, in its own words and under its own quotation."""
    return naming(
        entry,
        DraftItem(
            id=f"planted-{entry.id}",
            section=section,
            status=status,
            actor=part_at(good, entry.spans[0]).role,
            text=entry.text,
            quotes=(quoted(good, entry.spans[0]),),
        ),
    )


def naming(entry: Entry, item: DraftItem) -> DraftItem:
    """Who only quotes says what was said then, and claims nothing; unless it is offered as that entry."""
    return edited(item, ledger=entry.id) if is_quotation(item) else item


def is_quotation(item: DraftItem) -> bool:
    text = " ".join(item.text.split())
    return any(text == " ".join(quote.quote.split()) for quote in item.quotes) or " … " in text


def instead(good: Good, claim: DraftItem, entry: Entry, statuses: Sequence[Status], changed: str) -> Mutant:
    """In place of the item that tells the entry as it is, where there is one."""
    telling = [item for item in good.items if item.status in statuses and share(entry.text, item.text) > ABOUT]
    best = max(telling, key=lambda item: likeness(entry, item, good.case.source), default=None)
    kept_items = (item for item in good.items if best is None or item.id != best.id)
    return good.with_items((*kept_items, claim), changed)


def tells_it(quote: str) -> bool:
    """“OK, Monday” says nothing by itself."""
    return len(words(quote)) > 2


def is_open_too(good: Good, entry: Entry) -> bool:
    """Much of it is said by open work as well, which does stand."""
    work = (other for state in (Status.OPEN, Status.BLOCKED) for other in good.entries(Section.OPEN_WORK, state))
    return any(share(other.text, entry.text) >= ALIKE_WORK for other in work)


def revived(good: Good, status: Status, *, verbatim: bool = False) -> Iterator[Mutant]:
    for entry in good.entries(Section.DECISION, status):
        if is_open_too(good, entry):
            continue
        claim = claim_of(good, entry, Section.DECISION, Status.ACCEPTED)
        if verbatim:
            claim = naming(entry, edited(claim, text=claim.quotes[0].quote))
        if not verbatim or tells_it(claim.text):
            changed = f"{entry.id} is {status}, and told as accepted: {claim.text!r}"
            yield instead(good, claim, entry, (status,), changed)


@planted(least=12)
def a_superseded_decision_as_accepted(good: Good) -> Iterator[Mutant]:
    yield from revived(good, Status.SUPERSEDED)


@planted(least=11)
def a_superseded_decision_as_accepted_in_its_own_words(good: Good) -> Iterator[Mutant]:
    """The words are theirs, the status and the entry that it is offered as are ours."""
    yield from revived(good, Status.SUPERSEDED, verbatim=True)


@planted(least=40)
def a_rejected_proposal_as_accepted(good: Good) -> Iterator[Mutant]:
    yield from revived(good, Status.REJECTED)


@planted(least=25)
def a_rejected_proposal_as_accepted_in_its_own_words(good: Good) -> Iterator[Mutant]:
    """The words are theirs, the status is ours, and it is offered as that entry.

    Not where the words themselves are the refusal, or another decision.
    """
    for entry in good.entries(Section.DECISION, Status.REJECTED):
        span = entry.spans[0]
        shared = any(
            other.id != entry.id
            and (span.message, span.part) == (place.message, place.part)
            and place.start < span.end
            and span.start < place.end
            for other in good.case.ledger
            for place in other.spans
        )
        said = quoted(good, span).quote
        if len(entry.spans) > 1 and not shared and not is_negated(said) and tells_it(said):
            claim = claim_of(good, entry, Section.DECISION, Status.ACCEPTED)
            claim = naming(entry, edited(claim, text=claim.quotes[0].quote))
            yield instead(good, claim, entry, (Status.REJECTED,), f"{entry.id} is rejected, and told as accepted")


@planted(least=15)
def a_proposal_that_nobody_took_up_as_accepted(good: Good) -> Iterator[Mutant]:
    yield from revived(good, Status.PROPOSED)


@planted(least=9)
def a_superseded_decision_under_the_quotations_of_its_successor(good: Good) -> Iterator[Mutant]:
    """The item of an accepted decision about the same says what had been decided before."""
    for entry in good.entries(Section.DECISION, Status.SUPERSEDED):
        best = max(kept(good, Section.DECISION), key=lambda p: likeness(entry, p.item, good.case.source), default=None)
        if best:
            yield good.with_item(best.item, f"{best.item.id} says {entry.text!r}", text=entry.text)


@planted(least=85)
def open_work_told_as_done(good: Good) -> Iterator[Mutant]:
    """Once by its status, once as something changed."""
    for number, pair in enumerate(spread(kept(good, Section.OPEN_WORK))):
        section = (Section.OPEN_WORK, Section.CHANGED)[number % 2]
        changed = f"{pair.entry.id} is {pair.entry.status}, and told as done ({section}): {pair.item.text!r}"
        ledger = naming(pair.entry, pair.item).ledger
        yield good.with_item(pair.item, changed, section=section, status=Status.DONE, ledger=ledger)


def reopened(good: Good, status: Status) -> Iterator[Mutant]:
    for entry in good.entries(Section.OPEN_WORK, status):
        claim = claim_of(good, entry, Section.OPEN_WORK, Status.OPEN)
        yield instead(good, claim, entry, (status,), f"{entry.id} is {status}, and told as open: {claim.text!r}")


@planted(least=15)
def done_work_told_as_open(good: Good) -> Iterator[Mutant]:
    yield from reopened(good, Status.DONE)


@planted(least=8)
def work_given_up_told_as_open(good: Good) -> Iterator[Mutant]:
    yield from reopened(good, Status.DROPPED)


@planted(least=2)
def a_revoked_rule_as_in_force(good: Good) -> Iterator[Mutant]:
    for entry in good.entries(Section.CONSTRAINT, Status.REVOKED):
        claim = claim_of(good, entry, Section.CONSTRAINT, Status.IN_FORCE)
        yield instead(good, claim, entry, (Status.REVOKED,), f"{entry.id} is revoked, and told as in force")


def added(good: Good, *said: tuple[Role, Part, str]) -> Good:
    """The same artifact of a scope in which one more turn was said."""
    last = good.case.source.parts[-1]
    parts = tuple(
        SourcePart(
            message=last.message + number,
            turn=last.turn + 1,
            role=role,
            part=part,
            text=text,
            tool="run_tests" if part == Part.RESULT else "",
        )
        for number, (role, part, text) in enumerate(said, 1)
    )
    source = replace(good.case.source, parts=good.case.source.parts + parts)
    return Good(replace(good.case, source=source), good.count)


def overtaken(good: Good, pair: Kept, status: Status, lead: str) -> Mutant:
    """The scope ends with a turn that takes the entry back; the ledger has it so, the artifact tells it as before."""
    said = f"{lead}: {pair.entry.text}"
    later = added(good, ("user", Part.TEXT, said))
    place = Span(message=later.case.source.parts[-1].message, part=Part.TEXT, start=0, end=len(said))
    entry = replace(pair.entry, status=status, spans=(*pair.entry.spans, place))
    ledger = tuple(entry if other.id == entry.id else other for other in good.case.ledger)
    later = Good(replace(later.case, ledger=ledger), good.count)
    changed = f"{entry.id} is {status} by a turn that was added, and told as {pair.item.status}: {pair.item.text!r}"
    return later.with_item(pair.item, changed, ledger=naming(entry, pair.item).ledger)


def taken_back(good: Good, pairs: Iterable[Kept]) -> list[Kept]:
    """Items in the words that the ledger has, which deny nothing, and about nothing else in it."""
    return spread(pair for pair in pairs if says_just(good, pair) and not is_negated(pair.entry.text))


def says_just(good: Good, pair: Kept) -> bool:
    others = (entry for entry in good.case.ledger if entry.id != pair.entry.id)
    alike = any(is_alike(entry, pair.item, good.case.source) for entry in others)
    return repeats(pair.item.text, pair.entry.text) and not alike


@planted(least=40)
def a_decision_that_was_taken_back_in_a_turn_that_was_added(good: Good) -> Iterator[Mutant]:
    for pair in taken_back(good, kept(good, Section.DECISION)):
        yield overtaken(good, pair, Status.SUPERSEDED, "We do this no longer")


@planted(least=40)
def work_that_was_done_or_given_up_in_a_turn_that_was_added(good: Good) -> Iterator[Mutant]:
    for number, pair in enumerate(taken_back(good, kept(good, Section.OPEN_WORK))):
        status, lead = ((Status.DONE, "This is done"), (Status.DROPPED, "We give this up"))[number % 2]
        yield overtaken(good, pair, status, lead)


@planted(least=40)
def a_rule_that_was_lifted_in_a_turn_that_was_added(good: Good) -> Iterator[Mutant]:
    pairs = [Kept(entry, item) for entry, item in rules(good)]
    for pair in spread(pair for pair in pairs if says_just(good, pair)):
        yield overtaken(good, pair, Status.REVOKED, "This rule no longer applies")


def claims_of_success(good: Good, message: int, line: str) -> Iterator[Mutant]:
    for section, status, text in CLAIMS_OF_SUCCESS:
        quotes = (Quote(message=message, quote=line),)
        claim = DraftItem(id="planted", section=section, status=status, actor="tool", text=text, quotes=quotes)
        yield replace(good.with_new(claim, f"{text!r} under {line!r}"), base=good.judged)


@planted(least=4)
def tests_that_pass_against_the_last_run(good: Good) -> Iterator[Mutant]:
    """The last result of a tool that tells how tests ended tells that some failed."""
    runs = [
        part
        for part in good.case.source.parts
        if part.part == Part.RESULT and (TESTS_FAILED.search(part.text) or TESTS_PASSED.search(part.text))
    ]
    if runs and TESTS_FAILED.search(runs[-1].text):
        lines = [line.strip() for line in runs[-1].text.splitlines() if TESTS_FAILED.search(line)]
        yield from claims_of_success(good, runs[-1].message, max(lines, key=len))


@planted(least=35)
def tests_that_pass_against_a_run_that_was_added(good: Good) -> Iterator[Mutant]:
    """The scope ends with one more turn, in which the tests fail."""
    if good.case.traits & {"code", "coding_run"}:
        later = added(good, ("user", Part.TEXT, "Run the tests once more."), ("tool", Part.RESULT, FAILING_RUN))
        yield from claims_of_success(later, later.case.source.parts[-1].message, FAILING_RUN.splitlines()[1])


@planted(least=20)
def a_figure_that_was_corrected_in_a_turn_that_was_added(good: Good) -> Iterator[Mutant]:
    """The scope ends with a correction of the sentence that an item quotes; the item still tells the earlier figure.

    The ledger has no entry of that sentence: what the ledger says is not what is tried.
    """
    found = [(item, quote) for item in asserting(good) for quote in item.quotes[:1] if corrigible(good, item, quote)]
    for number, (item, quote) in enumerate(spread(found, 2)):
        figure = next(figure for figure in figures(item.text) if figure in figures(quote.quote))
        new = another_figure(figure, good.case.source.text)
        lead = (f"Correction: it is {new} instead of {figure}.", "That has changed, it is now:")[number % 2]
        later = added(good, ("user", Part.TEXT, f"{lead} {replaced(quote.quote, figure, new)}"))
        ledger = tuple(e for e in good.case.ledger if not overlaps(e, item, good.case.source))
        later = Good(replace(later.case, ledger=ledger), good.count)
        yield later.with_items(later.items, f"{item.id} tells {figure}, which was corrected to {new}")


def corrigible(good: Good, item: DraftItem, quote: Quote) -> bool:
    """A figure alone tells no correction: the item repeats the statement, in which it stands once. Not a day's.

    Who only quotes says what was said then, and is not wrong of what was said later.
    """
    common = [figure for figure in figures(item.text) if figures(quote.quote).count(figure) == 1]
    unsure = quote.quote.rstrip().endswith("?") or DAY.search(item.text)
    tells = bool(common) and not unsure and not is_quotation(item)
    return tells and good.case.language == "en" and repeats(item.text, quote.quote)


def roles_of(good: Good, item: DraftItem) -> set[str]:
    by_message = {part.message: str(part.role) for part in good.case.source.parts}
    return {by_message[quote.message] for quote in item.quotes}


def others_than(roles: set[str]) -> list[Actor]:
    actors: tuple[Actor, ...] = ("user", "assistant", "tool")
    return [actor for actor in actors if actor not in roles]


@planted(least=110)
def an_actor_who_said_none_of_it(good: Good) -> Iterator[Mutant]:
    """No quotation is of a message of that role."""
    for item in spread(asserting(good), 2):
        for actor in others_than(roles_of(good, item))[:1]:
            yield good.with_item(item, f"{item.id}: {actor}, and it was {item.actor}", actor=actor)


def is_the_assistants(good: Good, item: DraftItem) -> bool:
    """Not of work: that the user may have asked for in a message that is not quoted."""
    work = item.section in (Section.OPEN_WORK, Section.NEXT_STEP)
    alone = item.actor == "assistant" and roles_of(good, item) == {"assistant"}
    return alone and not work and good.case.language == "en"


@planted(least=15)
def what_only_the_assistant_said_as_the_user_s_decision(good: Good) -> Iterator[Mutant]:
    """The item is the assistant's, every quotation is of the assistant, and the text tells of a user who decided."""
    for item in asserting(good):
        if is_the_assistants(good, item):
            text = f"The user decided: {item.text}"
            yield good.with_item(
                item, repr(text), section=Section.DECISION, status=Status.ACCEPTED, actor="user", text=text
            )


@planted(least=15)
def what_only_the_assistant_said_as_the_user_s_wish(good: Good) -> Iterator[Mutant]:
    """The same in the words alone: the actor is right."""
    for item in asserting(good):
        if is_the_assistants(good, item):
            text = f"The user asked for this: {item.text}"
            yield good.with_item(item, f"{item.id}: {text!r}", text=text)


@planted(least=90)
def a_decision_both_accepted_and_rejected(good: Good) -> Iterator[Mutant]:
    for item in spread([item for item in good.items if item.status == Status.ACCEPTED], 2):
        other = edited(item, id=f"{item.id}-again", status=Status.REJECTED)
        yield good.with_new(other, f"{item.id} a second time, as rejected")


@planted(least=85)
def work_both_open_and_done(good: Good) -> Iterator[Mutant]:
    open_work = [item for item in good.items if (item.section, item.status) in KEEPING[Section.OPEN_WORK]]
    for item in spread(open_work, 2):
        other = edited(item, id=f"{item.id}-again", section=Section.OPEN_WORK, status=Status.DONE)
        yield good.with_new(other, f"{item.id} a second time, as done")


@planted(least=55)
def two_items_of_other_figures(good: Good) -> Iterator[Mutant]:
    """A second item says the same with another figure, which stands nowhere in the source; not of one in code."""
    for item in spread([item for item in asserting(good) if figures(item.text) and "`" not in item.text], 2):
        figure = figures(item.text)[0]
        new = another_figure(figure, good.case.source.text)
        other = edited(item, id=f"{item.id}-again", text=replaced(item.text, figure, new))
        yield good.with_new(other, f"{item.id} a second time, with {new} for {figure}")


@planted(least=45)
def two_items_of_which_one_denies_the_other(good: Good) -> Iterator[Mutant]:
    for item in asserting(good):
        text = negated(item.text, good.case.language)
        if text:
            yield good.with_new(edited(item, id=f"{item.id}-again", text=text), f"{item.id}, and {text!r}")
            return


KINDS = kinds_in(globals())
