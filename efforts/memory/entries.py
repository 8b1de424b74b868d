"""Decisions and open work of a session: every move of one, with its event.

Every function belongs inside the transaction of a caller that has locked the session before it looked.
"""

from __future__ import annotations

from typing import Any

from django.utils import timezone

from efforts.domain.effort.notices import with_notice
from efforts.domain.effort.states import ENTRY_MOVES, LIVE_ENTRIES, EntryBy, EntryKind, EntryState
from efforts.domain.errors import Refused
from efforts.log import events
from efforts.memory.origins import Origin, Where, is_given_up, overlapping
from efforts.models import LedgerEntry, Session, moves

CHANGED = "This has just been changed elsewhere. Look again."
KEPT = "This is kept already."
# Each is read for the page of the ledger.
MOST_LIVE = 1_000
ENDED = {EntryState.SUPERSEDED, EntryState.DONE, EntryState.DISMISSED}
NOT_ENDED = {"ended_turn": None, "ended_branch": None}


def propose(
    session: Session, kind: EntryKind, text: str, *, by: EntryBy, origin: Origin, where: Where, **more: Any
) -> LedgerEntry:
    row = create(session, kind, text, EntryState.PROPOSED, by, origin)
    record(row, "ledger.proposed", where, by=str(by), **more)
    return row


def keep(session: Session, kind: EntryKind, text: str, *, origin: Origin, where: Where) -> LedgerEntry:
    """By the person: confirmed at once; or the proposal that these words answer. Raises `Refused` for a twin."""
    check_new(session, kind, text)
    row = proposal_of(session, kind, text, origin)
    if row is None:
        check_room(session)
        row = create(session, kind, text, EntryState.CONFIRMED, EntryBy.PERSON, origin, confirmed_by=where.actor)
    else:
        move(row, EntryState.CONFIRMED, where, text=text, confirmed_by=where.actor, **origin.fields())
    record(row, "ledger.confirmed", where, by=row.by)
    return row


def confirm(row: LedgerEntry, where: Where) -> None:
    check_new(row.session, EntryKind(row.kind), row.text, besides=row.pk)
    move(row, EntryState.CONFIRMED, where, confirmed_by=where.actor)
    record(row, "ledger.confirmed", where, by=row.by)


def edit(row: LedgerEntry, text: str, where: Where) -> None:
    """Other words for what is live; where it comes from stays."""
    old = row.text
    if text == old:
        return
    check_new(row.session, EntryKind(row.kind), text, besides=row.pk)
    unchanged = LedgerEntry.objects.filter(pk=row.pk, state__in=LIVE_ENTRIES, text=old)
    if not unchanged.update(text=text, changed_at=timezone.now()):
        raise Refused("changed", CHANGED)
    row.refresh_from_db()
    record(row, "ledger.edited", where, old=old)


def supersede(row: LedgerEntry, new: LedgerEntry, where: Where) -> None:
    """A decision gives way to a later one, which is confirmed with it."""
    if new.state == EntryState.PROPOSED:
        confirm(new, where)
    move(row, EntryState.SUPERSEDED, where, superseded_by=new)
    record(row, "ledger.superseded", where, superseded_by=new.pk)


def finish(row: LedgerEntry, where: Where) -> None:
    move(row, EntryState.DONE, where, seems_done_turn=None)
    record(row, "ledger.done", where)


def reopen(row: LedgerEntry, where: Where) -> None:
    check_new(row.session, EntryKind(row.kind), row.text, besides=row.pk)
    move(row, EntryState.CONFIRMED, where)
    record(row, "ledger.reopened", where)


def dismiss(row: LedgerEntry, where: Where) -> None:
    was = row.state
    move(row, EntryState.DISMISSED, where, seems_done_turn=None)
    record(row, "ledger.dismissed", where, was=was)


def suggest_done(row: LedgerEntry, where: Where) -> None:
    """By the model; the person answers with `finish` or `leave_open`."""
    if set_seems_done(row, where.turn, was=None):
        record(row, "ledger.done_suggested", where)


def leave_open(row: LedgerEntry, where: Where) -> None:
    if row.seems_done_turn is None or not set_seems_done(row, None, was=row.seems_done_turn):
        raise Refused("changed", CHANGED)
    record(row, "ledger.left_open", where)


def set_seems_done(row: LedgerEntry, turn: int | None, *, was: int | None) -> bool:
    unchanged = LedgerEntry.objects.filter(pk=row.pk, state=EntryState.CONFIRMED)
    unchanged = unchanged.filter(seems_done_turn__isnull=True) if was is None else unchanged.filter(seems_done_turn=was)
    changed = unchanged.update(seems_done_turn=turn, changed_at=timezone.now())
    row.refresh_from_db()
    return bool(changed)


def move(row: LedgerEntry, to: EntryState, where: Where, **changes: Any) -> None:
    ended = {"ended_turn": where.turn, "ended_branch": where.branch} if to in ENDED else NOT_ENDED
    legal = ENTRY_MOVES[EntryKind(row.kind)]
    moves.move(row, to, legal, Refused("changed", CHANGED), changed_at=timezone.now(), **ended, **changes)


def create(
    session: Session, kind: EntryKind, text: str, state: EntryState, by: EntryBy, origin: Origin, **more: Any
) -> LedgerEntry:
    return LedgerEntry.objects.create(
        session=session, kind=kind, text=text, state=state, by=by, **origin.fields(), **more
    )


def check_new(session: Session, kind: EntryKind, text: str, *, besides: int = 0) -> None:
    twins = session.ledger.filter(kind=kind, text__iexact=text, state=EntryState.CONFIRMED)
    if twins.exclude(pk=besides).exists():
        raise Refused("kept", KEPT)


def check_room(session: Session) -> None:
    if session.ledger.filter(state__in=LIVE_ENTRIES).count() >= MOST_LIVE:
        raise Refused("too_many", f"{MOST_LIVE:,} are kept already. Mark some done or dismiss them first.")


def proposal_of(session: Session, kind: EntryKind, text: str, origin: Origin) -> LedgerEntry | None:
    """Of the same text, or from the same place in a message."""
    waiting = session.ledger.filter(kind=kind, state=EntryState.PROPOSED)
    return waiting.filter(text__iexact=text).first() or overlapping(waiting, origin).first()


def live_twin(session: Session, kind: EntryKind, text: str) -> LedgerEntry | None:
    return session.ledger.filter(kind=kind, text__iexact=text, state__in=LIVE_ENTRIES).first()


def is_dismissed(session: Session, kind: EntryKind, text: str, origin: Origin) -> bool:
    """It was dismissed, and has not been said again since."""
    return is_given_up(session.ledger.filter(kind=kind, state=EntryState.DISMISSED), text, origin)


def record(row: LedgerEntry, kind: str, where: Where, **more: Any) -> None:
    data = {"entry": row.pk, "section": row.kind, "text": row.text, **where.fields(), **more}
    # Of what a person does the page of the ledger tells; between the turns it would be noise.
    events.append(row.session_id, kind, data if where.actor else with_notice(kind, data), actor=where.actor)
