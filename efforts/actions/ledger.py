"""Decisions and open work: noted, confirmed, edited, replaced, done, reopened and dismissed.

What stands is the person's to say: the model proposes, and says what seems done.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from django.db import transaction
from django.db.models import QuerySet

from efforts.domain.effort.states import LIVE_ENTRIES, EntryBy, EntryKind, EntryState
from efforts.domain.errors import Refused
from efforts.domain.text.locating import Span, find_shown, find_words
from efforts.domain.text.source_text import NEVER_SOURCE
from efforts.log.timelines import branch_turns, in_timeline
from efforts.memory import entries, ledger
from efforts.memory.origins import Origin, Where
from efforts.models import Event, LedgerEntry, Message

from .names import checked_line
from .places import Place, where_of

LONGEST_ENTRY = 1_000
NO_ENTRY = "There is nothing to keep. Say what was decided, or what is still to be done."
REF = re.compile(r"(?:[a-z_]+-)?(\d{1,18})", re.IGNORECASE)
SAID = (Message.Role.USER, Message.Role.ASSISTANT)


def note_entry(
    place: Place, message: int, kind: EntryKind, text: str = "", *, words: str = "", replaces: int | None = None
) -> LedgerEntry:
    """By the person, confirmed at once. `words` are of that message, all of it where none are given; `text` says it in
    other words; `replaces` is the decision that this one supersedes."""
    with keeping(place) as where:
        said = said_here(place, message)
        origin = Origin(message=said, span=words_of(said, words or text, must=bool(words)))
        text = checked_entry(text or (origin.span.of(said.text) if origin.span else said.text))
        row = entries.keep(place.branch.session, kind, text, origin=origin, where=where)
        if replaces is not None:
            replace(known(place, replaces), row, where)
        return row


def confirm_entry(place: Place, pk: int) -> None:
    """What was proposed stands from now on."""
    with keeping(place) as where:
        entries.confirm(known(place, pk), where)


def edit_entry(place: Place, pk: int, text: str) -> None:
    """Other words for what is live. Raises `Refused` where it was changed meanwhile, or the words are kept already."""
    text = checked_entry(text)
    with keeping(place) as where:
        entries.edit(known(place, pk), text, where)


def supersede_entry(place: Place, pk: int, by: int) -> None:
    """Decision `pk` gives way to decision `by`."""
    with keeping(place) as where:
        replace(known(place, pk), known(place, by), where)


def finish_entry(place: Place, pk: int) -> None:
    """Open work is done."""
    with keeping(place) as where:
        row = known(place, pk)
        check_kind(row, EntryKind.OPEN_WORK, "A decision is not done; it is replaced by another, or dismissed.")
        entries.finish(row, where)


def reopen_entry(place: Place, pk: int) -> None:
    """What was done is to be done again."""
    with keeping(place) as where:
        entries.reopen(known(place, pk), where)


def dismiss_entry(place: Place, pk: int) -> None:
    """It does not stand, and is not proposed again."""
    with keeping(place) as where:
        entries.dismiss(known(place, pk), where)


def leave_open(place: Place, pk: int) -> None:
    """The answer to what the model said is done: it is not."""
    with keeping(place) as where:
        entries.leave_open(known(place, pk), where)


def propose_entry(place: Place, kind: EntryKind, text: str) -> LedgerEntry:
    """By the model: nothing stands until the person says so. Of one text there is one. Raises `Refused` where the
    person has dismissed it, or too many are kept."""
    text = checked_entry(text)
    with locked(place) as where:
        session, origin = place.branch.session, origin_in_turn(place, text)
        if row := entries.live_twin(session, kind, text):
            return row
        if entries.is_dismissed(session, kind, text, origin):
            raise Refused("dismissed", "This was dismissed. Do not record it again.")
        entries.check_room(session)
        waiting = entries.proposal_of(session, kind, text, origin)
        return waiting or entries.propose(session, kind, text, by=EntryBy.MODEL, origin=origin, where=where)


def resolve_entry(place: Place, ref: str) -> LedgerEntry:
    """By the model: what was only proposed is dropped; of what the person keeps, the person is asked. Raises `Refused`
    where `ref` names no open work here, or it has ended already."""
    found = REF.fullmatch(ref.strip())
    with locked(place) as where:
        row = open_work_here(place).filter(pk=int(found[1]) if found else 0).first()
        if row is None:
            live = open_work_here(place).filter(state__in=LIVE_ENTRIES).order_by("-pk")[:5]
            ids = ", ".join(one.name for one in live)
            text = f"There is no to-do {ref[:80]!r} here. {f'Open: {ids}.' if ids else 'None is noted.'}"
            raise Refused("unknown_entry", text)
        if row.state == EntryState.PROPOSED:
            entries.dismiss(row, where)
        elif row.state == EntryState.CONFIRMED:
            entries.suggest_done(row, where)
        else:
            raise Refused("changed", f"{row.name} is {row.state} already.")
        return row


def propose_again(place: Place, event: Event) -> None:
    """Undo of a proposal that the model dropped: it waits for the person as before. Raises `Refused` where more has
    happened to it since."""
    with keeping(place) as where:
        row = known(place, event.data["entry"])
        kind = EntryKind(row.kind)
        if event.actor_id is not None or entries.live_twin(row.session, kind, row.text):
            raise Refused("overtaken", "More has happened to it since. Use the page of the ledger.")
        span = Span(start=row.start, end=row.end) if row.start is not None and row.end is not None else None
        origin = Origin(message=row.source, span=span)
        entries.propose(row.session, kind, row.text, by=EntryBy(row.by), origin=origin, where=where, of=event.seq)


@contextmanager
def locked(place: Place) -> Iterator[Where]:
    """The session's ledger until the transaction ends, and what the events of a change carry."""
    with transaction.atomic():
        ledger.lock(place.branch.session)
        yield where_of(place)


@contextmanager
def keeping(place: Place) -> Iterator[Where]:
    if place.actor is None:
        raise Refused("person_only", "Only the user says what stands. record proposes it.")
    with locked(place) as where:
        yield where


def known(place: Place, pk: int) -> LedgerEntry:
    row = here(place).filter(pk=pk).first()
    if row is None:
        raise Refused("unknown_entry", "There is no such entry here.")
    return row


def here(place: Place) -> QuerySet[LedgerEntry]:
    """What stands in the timeline of the branch."""
    rows = LedgerEntry.objects.filter(in_timeline(place.branch, "source__turn__"), session=place.branch.session_id)
    return rows.select_related("session", "source")


def open_work_here(place: Place) -> QuerySet[LedgerEntry]:
    return here(place).filter(kind=EntryKind.OPEN_WORK)


def replace(row: LedgerEntry, new: LedgerEntry, where: Where) -> None:
    for one in (row, new):
        check_kind(one, EntryKind.DECISION, "Only a decision is replaced, and only by a decision.")
    if row.pk == new.pk:
        raise Refused("itself", "A decision cannot replace itself. Choose another one.")
    if new.state not in LIVE_ENTRIES:
        raise Refused("changed", entries.CHANGED)
    entries.supersede(row, new, where)


def check_kind(row: LedgerEntry, kind: EntryKind, text: str) -> None:
    if row.kind != kind:
        raise Refused("wrong_kind", text)


def checked_entry(text: str) -> str:
    """The entry in one line. Raises `Refused` where it is empty or too long."""
    return checked_line(text, "text", LONGEST_ENTRY, empty=NO_ENTRY)


def said_here(place: Place, message: int) -> Message:
    """A message of the person's or the model's in the timeline of the branch."""
    row = Message.objects.filter(pk=message, role__in=SAID, turn__in=branch_turns(place.branch)).first()
    if row is None:
        raise Refused("unknown_message", "There is no such message here.")
    return row


def words_of(message: Message, words: str, *, must: bool) -> Span | None:
    span = (find_words(words, message.text) or find_shown(words, message.text)) if words else None
    if must and span is None:
        raise Refused("not_said", "These words do not stand in that message. Select them there again.")
    return span


def origin_in_turn(place: Place, text: str) -> Origin:
    """Where the text stands in the messages of the running turn, the user's first; else the user's message."""
    assert place.run is not None
    said = Message.objects.filter(turn=place.run.turn_id).order_by("pk")
    own = [one for one in said if one.role == Message.Role.USER or one.run_id == place.run.pk]
    found = ((one, find_words(text, one.text)) for one in own if one.tool_name not in NEVER_SOURCE)
    spans = (Origin(message=one, span=span) for one, span in found if span)
    return next(spans, Origin(message=own[0]))
