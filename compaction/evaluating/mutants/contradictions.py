"""Claims that the source, the ledger or another claim contradicts (gate D)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

from compaction.domain.artifact import Actor, DraftItem, Quote, Section, Status
from compaction.domain.ledger import Entry, Span
from compaction.domain.verdicts import Gate
from efforts.domain.conversation import Role
from efforts.domain.source_text import Part, SourcePart

from .keeping import KEEPING, kept, likeness, overlaps
from .kinds import Good, Mutant, edited, kind, kinds_in
from .words import (
    FLAG,
    PATH,
    VERSION,
    affirmed,
    another_figure,
    clause_with_negation,
    figures,
    has_word,
    is_negated,
    negated,
    replaced,
    share,
    spread,
    stands_alike,
)

planted = partial(kind, Gate.CONTRADICTION)

# Such items say only that something was said, whatever it says.
SAID_ONLY = frozenset({Status.REJECTED, Status.SUPERSEDED, Status.PROPOSED, Status.DROPPED, Status.REVOKED})
# A claim that repeats its source's words has so many of its own in one quotation.
REPEATS = 0.6
# What a scope's own decision is told by where it has taken another's place.
ABOUT = 0.3
TESTS_FAILED = re.compile(r"\bFAILED\b|\b[1-9]\d* failed, \d+ passed\b|\bTraceback\b|\bAssertionError\b")
TESTS_PASSED = re.compile(r"\b\d+ passed\b", re.IGNORECASE)
FAILING_RUN = "collected 42 items\nFAILED tests/test_planted.py::test_rounding\n1 failed, 41 passed in 0.66s"
CLAIMS_OF_SUCCESS = (
    (Section.FACT, Status.STATED, "All tests pass."),
    (Section.FACT, Status.STATED, "The tests ran without errors."),
    (Section.CHANGED, Status.DONE, "The failing test is fixed; the test suite passes."),
)

MODALS = (("must", "may"), ("cannot", "can"), ("required", "optional"), ("have to", "may"), ("has to", "may"))
SCOPES = (
    ("all", "some"),
    ("every", "some"),
    ("always", "sometimes"),
    ("never", "sometimes"),
    ("only", "also"),
    ("none", "some"),
)
ORDERS = (("before", "after"), ("after", "before"), ("until", "from"))
BOUNDS = (("at least", "at most"), ("at most", "at least"), ("more than", "less than"), ("less than", "more than"))
# In these a word of the above does not mean what it means by itself.
IDIOMS = re.compile(r"\b(?:at|after|first of|all) all\b|\ball right\b|\bnot only\b", re.IGNORECASE)
# What may not be done either, or need not be.
PROHIBITED = re.compile(r"\bmust (?:not|never|only)\b|(?:n['’]t|\bnot) have to\b", re.IGNORECASE)


def asserting(good: Good) -> Iterator[DraftItem]:
    yield from (item for item in good.items if item.status not in SAID_ONLY)


def repeating(good: Good) -> Iterator[tuple[DraftItem, str]]:
    """Items that say it in the words of a quotation, with that."""
    for item in asserting(good):
        quote = max(item.quotes, key=lambda quote: share(item.text, quote.quote)).quote
        if share(item.text, quote) >= REPEATS and not quote.rstrip().endswith("?"):
            yield item, quote


@planted(least=60)
def a_figure_flipped(good: Good) -> Iterator[Mutant]:
    """The quotation has the figure, the text another one, which stands nowhere in the source."""
    found = [
        (item, figure)
        for item in asserting(good)
        for figure in figures(item.text)[:1]
        if any(figure in figures(quote.quote) for quote in item.quotes)
    ]
    for item, figure in spread(found, 4):
        new = another_figure(figure, good.case.source.text)
        yield good.with_item(item, f"{item.id}: {new} for {figure}", text=replaced(item.text, figure, new))


def next_version(name: str) -> str:
    return re.sub(r"\d+(?=\D*$)", lambda found: str(int(found[0]) + 1), name)


def other_path(name: str) -> str:
    return re.sub(r"([\w-]+)(\.[a-z]{2,4})?$", r"\1_old\2", name)


def other_flag(name: str) -> str:
    return name.replace("--", "--no-", 1)


@planted(least=25)
def a_version_path_or_flag_changed(good: Good) -> Iterator[Mutant]:
    """The quotation has the one, the text another, which stands nowhere in the source."""
    for item in asserting(good):
        for pattern, other in ((PATH, other_path), (FLAG, other_flag), (VERSION, next_version)):
            found = pattern.search(item.text)
            new = other(found[0]) if found else ""
            quoted = found and any(found[0] in quote.quote for quote in item.quotes)
            if found and quoted and new != found[0] and new not in good.case.source.text:
                text = item.text.replace(found[0], new)
                yield good.with_item(item, f"{item.id}: {new} for {found[0]}", text=text)
                break


@planted(least=40)
def a_negation_added(good: Good) -> Iterator[Mutant]:
    """The claim repeats its source's words, in which there is no negation."""
    for item, quote in repeating(good):
        text = negated(item.text, good.case.language)
        repeats = text and share(clause_with_negation(text), quote) >= REPEATS
        if text and repeats and not any(is_negated(other.quote) for other in item.quotes):
            yield good.with_item(item, f"{item.id}: {text!r}, and the source: {quote!r}", text=text)


@planted(least=25)
def a_negation_removed(good: Good) -> Iterator[Mutant]:
    """The claim repeats its source's words without their only negation."""
    for item, quote in repeating(good):
        text = affirmed(item.text)
        if text and is_negated(quote):
            yield good.with_item(item, f"{item.id}: {text!r}, and the source: {quote!r}", text=text)


def exchanged(good: Good, pairs: Sequence[tuple[str, str]], but: re.Pattern[str] = IDIOMS) -> Iterator[Mutant]:
    """The one word in the text and in the quotation that the text repeats, the other in none of its quotations."""
    for item, quote in repeating(good):
        for word, other in pairs:
            fits = stands_alike(item.text, quote, word)
            if fits and not but.search(item.text) and not any(has_word(q.quote, other) for q in item.quotes):
                text = re.sub(rf"\b{word}\b", other, item.text, count=1, flags=re.IGNORECASE)
                yield good.with_item(item, f"{item.id}: {other} for {word}, and the source: {quote!r}", text=text)
                break


@planted(least=10)
def another_modality(good: Good) -> Iterator[Mutant]:
    """“must” is “may”."""
    yield from exchanged(good, MODALS, PROHIBITED)


@planted(least=15)
def another_scope(good: Good) -> Iterator[Mutant]:
    """“all” is “some”, “always” is “sometimes”."""
    yield from exchanged(good, SCOPES)


@planted(least=10)
def another_order(good: Good) -> Iterator[Mutant]:
    """“before” is “after”."""
    yield from exchanged(good, ORDERS)


@planted(least=2)
def another_bound(good: Good) -> Iterator[Mutant]:
    """“at least” is “at most”."""
    yield from exchanged(good, BOUNDS)


def part_at(good: Good, span: Span) -> SourcePart:
    return good.case.source.by_place[span.message, span.part]


def quoted(good: Good, span: Span) -> Quote:
    return Quote(message=span.message, quote=part_at(good, span).text[span.start : span.end])


def claim_of(good: Good, entry: Entry, section: Section, status: Status) -> DraftItem:
    """The entry as an item, in its own words and under its own quotation."""
    return DraftItem(
        id=f"planted-{entry.id}",
        section=section,
        status=status,
        actor=part_at(good, entry.spans[0]).role,
        text=entry.text,
        quotes=(quoted(good, entry.spans[0]),),
    )


def instead(good: Good, claim: DraftItem, entry: Entry, statuses: Sequence[Status], changed: str) -> Mutant:
    """In place of the item that tells the entry as it is, where there is one."""
    telling = [item for item in good.items if item.status in statuses and share(entry.text, item.text) > ABOUT]
    best = max(telling, key=lambda item: likeness(entry, item, good.case.source), default=None)
    kept_items = (item for item in good.items if best is None or item.id != best.id)
    return good.with_items((*kept_items, claim), changed)


def revived(good: Good, status: Status, *, verbatim: bool = False) -> Iterator[Mutant]:
    for entry in good.entries(Section.DECISION, status):
        claim = claim_of(good, entry, Section.DECISION, Status.ACCEPTED)
        if verbatim:
            claim = edited(claim, text=claim.quotes[0].quote)
        yield instead(good, claim, entry, (status,), f"{entry.id} is {status}, and told as accepted: {claim.text!r}")


@planted(least=12)
def a_superseded_decision_as_accepted(good: Good) -> Iterator[Mutant]:
    yield from revived(good, Status.SUPERSEDED)


@planted(least=12)
def a_superseded_decision_as_accepted_in_its_own_words(good: Good) -> Iterator[Mutant]:
    """The words are theirs, the status is ours."""
    yield from revived(good, Status.SUPERSEDED, verbatim=True)


@planted(least=40)
def a_rejected_proposal_as_accepted(good: Good) -> Iterator[Mutant]:
    yield from revived(good, Status.REJECTED)


@planted(least=30)
def a_rejected_proposal_as_accepted_in_its_own_words(good: Good) -> Iterator[Mutant]:
    """The words are theirs, the status is ours. Not where the words themselves are the refusal, or another decision."""
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
        if len(entry.spans) > 1 and not shared and not is_negated(quoted(good, span).quote):
            claim = claim_of(good, entry, Section.DECISION, Status.ACCEPTED)
            claim = edited(claim, text=claim.quotes[0].quote)
            yield instead(good, claim, entry, (Status.REJECTED,), f"{entry.id} is rejected, and told as accepted")


@planted(least=15)
def a_proposal_that_nobody_took_up_as_accepted(good: Good) -> Iterator[Mutant]:
    yield from revived(good, Status.PROPOSED)


@planted(least=12)
def a_superseded_decision_under_the_quotations_of_its_successor(good: Good) -> Iterator[Mutant]:
    """The item of an accepted decision about the same says what had been decided before."""
    for entry in good.entries(Section.DECISION, Status.SUPERSEDED):
        best = max(kept(good, Section.DECISION), key=lambda p: likeness(entry, p.item, good.case.source), default=None)
        if best:
            yield good.with_item(best.item, f"{best.item.id} says {entry.text!r}", text=entry.text)


@planted(least=80)
def open_work_told_as_done(good: Good) -> Iterator[Mutant]:
    """Once by its status, once as something changed."""
    for number, pair in enumerate(spread(kept(good, Section.OPEN_WORK), 4)):
        section = (Section.OPEN_WORK, Section.CHANGED)[number % 2]
        changed = f"{pair.entry.id} is {pair.entry.status}, and told as done ({section}): {pair.item.text!r}"
        yield good.with_item(pair.item, changed, section=section, status=Status.DONE)


def reopened(good: Good, status: Status) -> Iterator[Mutant]:
    for entry in good.entries(Section.OPEN_WORK, status):
        claim = claim_of(good, entry, Section.OPEN_WORK, Status.OPEN)
        yield instead(good, claim, entry, (status,), f"{entry.id} is {status}, and told as open: {claim.text!r}")


@planted(least=15)
def done_work_told_as_open(good: Good) -> Iterator[Mutant]:
    yield from reopened(good, Status.DONE)


@planted(least=6)
def work_given_up_told_as_open(good: Good) -> Iterator[Mutant]:
    yield from reopened(good, Status.DROPPED)


@planted(least=3)
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


def claims_of_success(good: Good, message: int, line: str) -> Iterator[Mutant]:
    for section, status, text in CLAIMS_OF_SUCCESS:
        quotes = (Quote(message=message, quote=line),)
        claim = DraftItem(id="planted", section=section, status=status, actor="tool", text=text, quotes=quotes)
        yield replace(good.with_new(claim, f"{text!r} under {line!r}"), base=good.judged)


@planted(least=3)
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


@planted(least=40)
def tests_that_pass_against_a_run_that_was_added(good: Good) -> Iterator[Mutant]:
    """The scope ends with one more turn, in which the tests fail."""
    if good.case.traits & {"code", "coding_run"}:
        later = added(good, ("user", Part.TEXT, "Run the tests once more."), ("tool", Part.RESULT, FAILING_RUN))
        yield from claims_of_success(later, later.case.source.parts[-1].message, FAILING_RUN.splitlines()[1])


@planted(least=30)
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
    """A figure alone tells no correction: the item repeats the sentence, in which it stands once."""
    common = [figure for figure in figures(item.text) if figures(quote.quote).count(figure) == 1]
    return bool(common) and good.case.language == "en" and share(item.text, quote.quote) >= REPEATS


def roles_of(good: Good, item: DraftItem) -> set[str]:
    by_message = {part.message: str(part.role) for part in good.case.source.parts}
    return {by_message[quote.message] for quote in item.quotes}


def others_than(roles: set[str]) -> list[Actor]:
    actors: tuple[Actor, ...] = ("user", "assistant", "tool")
    return [actor for actor in actors if actor not in roles]


@planted(least=80)
def an_actor_who_said_none_of_it(good: Good) -> Iterator[Mutant]:
    """No quotation is of a message of that role."""
    for item in spread(asserting(good), 2):
        actor = others_than(roles_of(good, item))[0]
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


@planted(least=80)
def a_decision_both_accepted_and_rejected(good: Good) -> Iterator[Mutant]:
    for item in spread([item for item in good.items if item.status == Status.ACCEPTED], 2):
        other = edited(item, id=f"{item.id}-again", status=Status.REJECTED)
        yield good.with_new(other, f"{item.id} a second time, as rejected")


@planted(least=60)
def work_both_open_and_done(good: Good) -> Iterator[Mutant]:
    open_work = [item for item in good.items if (item.section, item.status) in KEEPING[Section.OPEN_WORK]]
    for item in spread(open_work, 2):
        other = edited(item, id=f"{item.id}-again", section=Section.OPEN_WORK, status=Status.DONE)
        yield good.with_new(other, f"{item.id} a second time, as done")


@planted(least=30)
def two_items_of_other_figures(good: Good) -> Iterator[Mutant]:
    """A second item says the same with another figure, which stands nowhere in the source."""
    for item in spread([item for item in asserting(good) if figures(item.text)], 2):
        figure = figures(item.text)[0]
        new = another_figure(figure, good.case.source.text)
        other = edited(item, id=f"{item.id}-again", text=replaced(item.text, figure, new))
        yield good.with_new(other, f"{item.id} a second time, with {new} for {figure}")


@planted(least=30)
def two_items_of_which_one_denies_the_other(good: Good) -> Iterator[Mutant]:
    for item in asserting(good):
        text = negated(item.text, good.case.language)
        if text:
            yield good.with_new(edited(item, id=f"{item.id}-again", text=text), f"{item.id}, and {text!r}")
            return


KINDS = kinds_in(globals())
