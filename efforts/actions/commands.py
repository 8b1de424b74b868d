"""What a person types in the composer: a message is sent, a command is done by the same functions as its control."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode
from uuid import UUID

from django.db import transaction
from django.urls import reverse

from efforts.context.planning import main_branch
from efforts.domain.commands import COMMANDS, Doubtful, Given, Said, read_turns, read_typed
from efforts.domain.effort.states import EntryKind, RunState
from efforts.domain.errors import Refused
from efforts.log import events
from efforts.log.timelines import branch_turns
from efforts.models import Branch, Event, Message, Session, Turn

from .constraints import set_constraint
from .conversations import check_client_id, check_message, collapse_when_idle, put_message, send_message, sent_before
from .efforts import close_effort, collapse_effort, expand_effort, open_effort, switch_effort
from .focus import end_focus, focus_effort
from .holds import TURN_REF, pin_effort, pin_turn
from .ledger import note_entry
from .places import Place, here, with_id
from .scopes import compact_turns
from .shares import check_share

if TYPE_CHECKING:
    from django.contrib.auth.models import User

DOUBTFUL = "There is no /{typed}. Did you mean /{meant}? Send it as a message?"
NEEDS = "/{name} needs more: {argument}. For example: {example}"
NO_TURNS = "These are no turns. Give the first and the last, such as: /summarise 3-9."
OFF = "off"
NOTHING_TO_PIN = "No turn has been answered yet, so there is nothing to pin."

Note = Callable[[Place, Turn, str], object]


@dataclass(frozen=True, kw_only=True)
class Typed:
    """What came of a text: the turn that it began, or where the person goes on; of other commands neither."""

    turn: Turn | None = None
    go: str = ""

    @property
    def made(self) -> dict[str, Any]:
        """As browsers are told."""
        if self.turn:
            return {"turn": self.turn.number, "run": str(self.turn.run_id)}
        return {"go": self.go} if self.go else {}


def check_typed(session: Session, *, text: str, client_id: str, actor: User, plain: bool) -> None:
    """What `take_typed` asks before it sends a message, without writing. Raises `Refused` as that does."""
    check_client_id(client_id)
    typed = read_typed(text)
    sends = plain or not isinstance(typed, Given) or typed.command.name == "aside"
    try:
        if sends:
            check_share(actor)
    except Refused:
        # Sent again, it asks for nothing new.
        if not sent_before(session, client_id):
            raise


def take_typed(
    session: Session,
    *,
    text: str,
    client_id: str,
    actor: User,
    branch: Branch | None = None,
    cut: bool = False,
    aside: bool = False,
    plain: bool = False,
    files: Sequence[UUID] = (),
    checked: bool = False,
) -> Typed:
    """Do the command that the text is, or send the text. Sent twice with one `client_id`, it is done once.

    `plain`: it is a message, whatever it looks like. `files` go with a message; a command leaves them where they are.
    `checked`: `check_typed` has just been asked. Raises `Refused` with `doubtful` where it may be a slip for a
    command; then, as wherever a command cannot be done, nothing has happened.
    """
    check_message(text, client_id)
    branch = branch or main_branch(session)
    typed = Said(text=text) if plain else read_typed(text)
    if isinstance(typed, Doubtful):
        raise Refused("doubtful", DOUBTFUL.format(typed=typed.typed, meant=typed.meant.name))
    if isinstance(typed, Given):
        command, words = typed.command, typed.argument.strip()
        if command.needs_argument and not words:
            needs = NEEDS.format(name=command.name, argument=command.argument, example=command.example)
            raise Refused("incomplete", needs)
        name = command.name
        if name == "search":
            return Typed(go=f"{reverse('search')}?{urlencode({'q': words})}")
        if name in NOTES:
            chosen = {"aside": aside, "note": True}
            return Typed(turn=write_down(branch, NOTES[name], text, words, client_id, actor, chosen))
        if name in DO:
            do_once(branch, name, words, client_id, actor)
            return Typed()
        text, aside = typed.argument, True
    else:
        text = typed.text
    # Sent again, it asks for nothing new.
    if not checked and not sent_before(session, client_id):
        check_share(actor)
    turn = send_message(
        session, text=text, client_id=client_id, actor=actor, branch=branch, cut=cut, aside=aside, files=files
    )
    return Typed(turn=turn)


def write_down(
    branch: Branch, note: Note, text: str, words: str, client_id: str, actor: User, chosen: Mapping[str, bool]
) -> Turn:
    """The turn of the note: the text as it was typed."""
    session = branch.session
    collapse_when_idle(session, actor)
    with transaction.atomic():
        locked = Branch.objects.select_for_update().get(pk=branch.pk)
        if sent := sent_before(session, client_id):
            return sent
        turn = put_message(session, locked.pk, text=text, client_id=client_id, actor=actor, chosen=chosen)
        note(Place(branch=branch, turn=turn.number, actor=actor), turn, words)
        return turn


def do_once(branch: Branch, name: str, words: str, client_id: str, actor: User) -> None:
    session = branch.session
    with transaction.atomic():
        # Locked first: by socket and by POST at once it is still one command.
        locked = Branch.objects.select_for_update().get(pk=branch.pk)
        if Event.objects.filter(session=session, kind="command.given", data__client_id=client_id).exists():
            return
        DO[name](here(session, actor=actor, branch=locked), words)
        data = {"branch": str(branch.pk), "client_id": client_id, "command": name}
        events.append(session.pk, "command.given", data, actor=actor)


def pin(place: Place, argument: str) -> object:
    if not argument:
        return pin_turn(place, last_answered(place.branch))
    found = TURN_REF.fullmatch(argument)
    return pin_turn(place, int(found[1])) if found else pin_effort(place, argument)


def last_answered(branch: Branch) -> int:
    answered = branch_turns(branch).filter(run__state__in=(RunState.COMPLETED, RunState.STOPPED))
    number = answered.order_by("-number").values_list("number", flat=True).first()
    if number is None:
        raise Refused("nothing_to_pin", NOTHING_TO_PIN)
    return number


def focus(place: Place, argument: str) -> None:
    # An effort may be called so.
    if not argument or (argument.lower() == OFF and with_id(place.branch, argument) is None):
        end_focus(place)
    else:
        focus_effort(place, argument)


def summarise(place: Place, argument: str) -> object:
    turns = read_turns(argument)
    if turns is None:
        raise Refused("which_turns", NO_TURNS)
    return compact_turns(place, *turns)


def keep(kind: EntryKind, place: Place, turn: Turn, text: str) -> object:
    said = turn.messages.get(role=Message.Role.USER)
    return note_entry(place, said.pk, kind, words=text)


# By the commands' names. What is written down is a message of the person's own too: so it has a sentence to cite.
NOTES: Mapping[str, Note] = {
    "rule": lambda place, turn, text: set_constraint(place, text, turn=turn.number),
    "todo": partial(keep, EntryKind.OPEN_WORK),
    "decided": partial(keep, EntryKind.DECISION),
}
DO: Mapping[str, Callable[[Place, str], object]] = {
    "effort": open_effort,
    "done": lambda place, slug: close_effort(place, slug or None),
    "switch": switch_effort,
    "expand": expand_effort,
    "collapse": collapse_effort,
    "focus": focus,
    "pin": pin,
    "summarise": summarise,
}
assert {command.name for command in COMMANDS} == {*NOTES, *DO, "aside", "search"}
