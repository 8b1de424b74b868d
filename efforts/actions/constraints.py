"""Rules: set, suggested, edited and taken back, in one session or standing for all of a person's."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from django.contrib.auth import get_user_model
from django.db import transaction

from efforts.domain.effort.states import ConstraintBy, ConstraintState, RunState
from efforts.domain.errors import Refused
from efforts.domain.text.locating import find_words, said_as_a_rule
from efforts.log.timelines import branch_turns
from efforts.memory import ledger
from efforts.memory.ledger import Book
from efforts.memory.origins import Origin, Where
from efforts.models import Constraint, Message

from .names import checked_line
from .places import Place, where_of

if TYPE_CHECKING:
    from django.contrib.auth.models import User

# Each is sent with every call, whole.
LONGEST_RULE = 1_000
NO_RULE = "The rule is empty. Say what shall hold, such as: never touch the production database."
# Messages that are looked through for what the model says that the user said.
MOST_MESSAGES = 1_000


def set_constraint(place: Place, text: str, *, turn: int | None = None) -> Constraint:
    """A person's rule, in force at once. `turn`: of the user's message that it was taken from."""
    text = checked_rule(text)
    with ruling(place) as (book, where):
        source = words_in_turn(place, turn, text) if turn is not None else None
        return ledger.put_in_force(book, text, by=ConstraintBy.PERSON, source=source, where=where)


def record_constraint(place: Place, text: str) -> Constraint:
    """A rule by the model: in force only where the user said just this, else a suggestion. Raises `Refused` where the
    user has taken it back, or it is in force already."""
    text = checked_rule(text)
    with ruling(place) as (book, where):
        source = own_words(place, text)
        if ledger.taken_back(book, text, source):
            raise Refused("taken_back", "The user has taken this rule back. Do not record it again.")
        if source:
            return ledger.put_in_force(book, text, by=ConstraintBy.MODEL, source=source, where=where)
        ledger.check_new(book, text)
        return ledger.suggestion_of(book, text) or ledger.suggest(book, text, where)


def accept_constraint(place: Place, pk: int) -> None:
    """A suggestion is in force from now on."""
    with ruling(place) as (book, where):
        ledger.accept(book, known(book, pk), where)


def edit_constraint(place: Place, pk: int, text: str) -> None:
    """Raises `Refused` where the rule is empty, too long, a second of its kind, or not known here."""
    text = checked_rule(text)
    with ruling(place) as (book, where):
        ledger.edit(book, known(book, pk), text, where)


def dismiss_constraint(place: Place, pk: int) -> None:
    """A suggestion is not made again."""
    with ruling(place) as (book, where):
        ledger.revoke(known(book, pk, ConstraintState.SUGGESTED), where)


def revoke_constraint(place: Place, pk: int) -> None:
    """A rule holds no more."""
    with ruling(place) as (book, where):
        ledger.revoke(known(book, pk, ConstraintState.IN_FORCE), where)


def revoke_set(place: Place, pk: int, seq: int) -> None:
    """Undo of event `seq`, by which the rule came in force."""
    with ruling(place) as (book, where):
        ledger.revoke(known(book, pk, ConstraintState.IN_FORCE), where, of=seq)


def set_standing_rule(owner: User, text: str) -> Constraint:
    """For all conversations of the owner, those that go on and new ones."""
    text = checked_rule(text)
    with ruling_all(owner) as book:
        return ledger.put_in_force(book, text, by=ConstraintBy.PERSON)


def edit_standing_rule(owner: User, pk: int, text: str) -> None:
    """The same of a rule for all conversations."""
    text = checked_rule(text)
    with ruling_all(owner) as book:
        ledger.edit(book, known(book, pk), text)


def revoke_standing_rule(owner: User, pk: int) -> None:
    """A rule for all conversations is in force no longer. Raises `Refused` where it is not known, or is not in
    force."""
    with ruling_all(owner) as book:
        ledger.revoke(known(book, pk, ConstraintState.IN_FORCE))


@contextmanager
def ruling(place: Place) -> Iterator[tuple[Book, Where]]:
    """The session's rules, locked until the transaction ends, and what the events of a change carry."""
    session = place.branch.session
    with transaction.atomic():
        ledger.lock(session)
        yield ledger.book_of(session), where_of(place)


@contextmanager
def ruling_all(owner: User) -> Iterator[Book]:
    with transaction.atomic():
        # no_key: rows that name this person may be written meanwhile.
        get_user_model().objects.select_for_update(no_key=True).get(pk=owner.pk)
        yield Book(owner_id=owner.pk)


def known(book: Book, pk: int, state: ConstraintState | None = None) -> Constraint:
    """The rule of that id; it must be in `state`, where one is given, or a page that is out of date would mislead."""
    row = book.rules.filter(pk=pk).first()
    if row is None:
        raise Refused("unknown_rule", "There is no such rule here.")
    if state and row.state != state:
        raise Refused("changed", ledger.CHANGED)
    return row


def checked_rule(text: str) -> str:
    """The words of a rule in one line. Raises `Refused` where there are none, or too many."""
    return checked_line(text, "rule", LONGEST_RULE, empty=NO_RULE)


def words_in_turn(place: Place, number: int, text: str) -> Origin | None:
    turns = branch_turns(place.branch).filter(number=number)
    message = Message.objects.filter(turn__in=turns, role=Message.Role.USER).first()
    span = find_words(text, message.text) if message else None
    return Origin(message=message, span=span) if message and span else None


def own_words(place: Place, text: str) -> Origin | None:
    """The newest message of the user's, up to this turn, that says just this."""
    turns = branch_turns(place.branch).filter(number__lte=place.turn).exclude(run__state=RunState.CANCELLED)
    longest = max(text.split(), key=len)
    said = Message.objects.filter(turn__in=turns, role=Message.Role.USER, text__contains=longest).order_by("-id")
    spans = ((message, said_as_a_rule(text, message.text)) for message in said[:MOST_MESSAGES])
    return next((Origin(message=message, span=span) for message, span in spans if span), None)
