"""What a session must not forget: the rules in force and those that are suggested, and every move of one.

Every function belongs inside the transaction of a caller that has locked the session, or the owner of a standing rule,
before it looked.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet
from django.utils import timezone

from efforts.domain.effort.notices import with_notice
from efforts.domain.effort.states import CONSTRAINT_MOVES, ConstraintBy, ConstraintState
from efforts.domain.errors import Refused
from efforts.log import events
from efforts.memory.origins import Origin, Where, is_given_up
from efforts.models import Constraint, Session, moves

CHANGED = "This rule has just been changed elsewhere. Look again."


@dataclass(frozen=True, kw_only=True)
class Book:
    """Where a rule belongs: a session, or none for those that an owner has for all."""

    owner_id: int
    session: Session | None = None

    @property
    def rules(self) -> QuerySet[Constraint]:
        return Constraint.objects.filter(owner=self.owner_id, session=self.session)


def book_of(session: Session) -> Book:
    return Book(owner_id=session.owner_id, session=session)


def lock(session: Session) -> None:
    Session.objects.select_for_update().get(pk=session.pk)


def suggest(book: Book, text: str, where: Where) -> Constraint:
    """By the model, in words that the person has not said."""
    row = create(book, text, ConstraintState.SUGGESTED, ConstraintBy.MODEL)
    record(row, "constraint.suggested", where, by=row.by)
    return row


def put_in_force(
    book: Book, text: str, *, by: ConstraintBy, source: Origin | None = None, where: Where | None = None
) -> Constraint:
    """A new rule; or the suggestion of these words, in force from now on. Raises `Refused` for a twin."""
    check_new(book, text)
    row = suggestion_of(book, text)
    if row is None:
        row = create(book, text, ConstraintState.IN_FORCE, by, source)
    else:
        move(row, ConstraintState.IN_FORCE, text=text, **(source.fields() if source else {}))
    record(row, "constraint.set", where, by=str(by))
    return row


def accept(book: Book, row: Constraint, where: Where) -> None:
    """A suggestion is in force from now on."""
    check_new(book, row.text, besides=row.pk)
    move(row, ConstraintState.IN_FORCE)
    record(row, "constraint.set", where, by=row.by)


def edit(book: Book, row: Constraint, text: str, where: Where | None = None) -> None:
    """Other words for a rule in force or a suggestion; where it comes from stays."""
    old = row.text
    if text == old:
        return
    check_new(book, text, besides=row.pk)
    unchanged = book.rules.filter(pk=row.pk, state=row.state, text=old).exclude(state=ConstraintState.REVOKED)
    if not unchanged.update(text=text, changed_at=timezone.now()):
        raise Refused("changed", CHANGED)
    row.refresh_from_db()
    record(row, "constraint.edited", where, old=old)


def revoke(row: Constraint, where: Where | None = None, **more: Any) -> None:
    """Take a rule back, or dismiss a suggestion."""
    was = row.state
    move(row, ConstraintState.REVOKED)
    record(row, "constraint.revoked", where, was=was, **more)


def move(row: Constraint, to: ConstraintState, **changes: Any) -> None:
    moves.move(row, to, CONSTRAINT_MOVES, Refused("changed", CHANGED), changed_at=timezone.now(), **changes)


def create(book: Book, text: str, state: ConstraintState, by: ConstraintBy, source: Origin | None = None) -> Constraint:
    fields = source.fields() if source else {}
    return Constraint.objects.create(
        owner_id=book.owner_id, session=book.session, text=text, state=state, by=by, **fields
    )


def check_new(book: Book, text: str, *, besides: int = 0) -> None:
    standing = Constraint.objects.filter(owner=book.owner_id, session=None)
    twins = (book.rules | standing).filter(text__iexact=text, state=ConstraintState.IN_FORCE)
    if twins.exclude(pk=besides).exists():
        raise Refused("in_force", "This rule is in force already.")


def suggestion_of(book: Book, text: str) -> Constraint | None:
    return book.rules.filter(state=ConstraintState.SUGGESTED, text__iexact=text).first()


def taken_back(book: Book, text: str, source: Origin | None) -> bool:
    """The person has revoked or dismissed this, and not said it again since."""
    return is_given_up(book.rules.filter(state=ConstraintState.REVOKED), text, source)


def record(row: Constraint, kind: str, where: Where | None, **more: Any) -> None:
    data = {"constraint": row.pk, "text": row.text, **more}
    if row.session_id is None or where is None:
        events.account(row.owner, kind.replace("constraint", "standing_rule"), data)
        return
    data |= where.fields()
    # Dismissing a suggestion changes nothing that a prompt holds: no line says so.
    quiet = more.get("was") == ConstraintState.SUGGESTED
    events.append(row.session_id, kind, data if quiet else with_notice(kind, data), actor=where.actor)
