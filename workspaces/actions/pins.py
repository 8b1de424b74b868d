"""Pins of code: a symbol or lines stay in the prompts of a conversation. Only a person makes one stand."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from efforts.domain.effort.states import HOLD_MOVES, HoldState
from efforts.domain.errors import Refused
from efforts.log import events
from efforts.models import Run, Session
from efforts.models.moves import locked, move
from workspaces.domain.states import SymbolKind
from workspaces.models import CodePin, File, Snapshot, Symbol

if TYPE_CHECKING:
    from django.contrib.auth.models import User

MOST_PINS = 20
LONGEST_WHY, LONGEST_REF = 300, 1_100
MOST_LINES = 200
LINES = re.compile(r"(?P<path>.+?):(?P<first>\d{1,7})(?:[-–](?P<last>\d{1,7}))?")
NUMBERS = re.compile(r"\d{1,7}(?: ?[-–] ?\d{1,7})?")
NOT_ATTACHED = "No code is attached to this conversation, or it is not indexed yet."
UNKNOWN = "Nothing in the attached code is called {ref}. Give a path, lines as in shop/cart.py:3-9, or a name."
SEVERAL = "{count} symbols are called {ref}: {names}. Give one of these names."
NO_LINES = "{path} has {lines:,} lines. Give lines that it has, {most} at most."
TOO_MANY = f"{MOST_PINS} symbols and lines are pinned already. Unpin one first."
PINNED = "{title} is pinned already."
OVER = "This pin is {state} already."
GONE = "The user has dismissed {title}. Do not suggest it again."


@transaction.atomic
def pin_code(session: Session, ref: str, *, actor: User, path: str = "") -> CodePin:
    """`ref`: an exact path, lines of one, a qualified name, or a name that only one symbol has; `path`: in which file,
    where several have it, or whose lines `ref` is the numbers of. Raises `Refused`."""
    session = Session.objects.select_for_update().get(pk=session.pk)
    pin = found(session, ref, path)
    if standing := same(pin).filter(state=HoldState.STANDING).first():
        return standing
    if session.code_pins.filter(state=HoldState.STANDING).count() >= MOST_PINS:
        raise Refused("too_many", TOO_MANY)
    if waiting := same(pin).filter(state=HoldState.SUGGESTED).first():
        # Its row goes on, with the lines as they are now.
        pin.pk, pin.run, pin.why, pin.created_at = waiting.pk, waiting.run, waiting.why, waiting.created_at
    pin.state = HoldState.STANDING
    pin.save()
    tell(pin, "workspace.pin_set", actor)
    return pin


@transaction.atomic
def suggest_code_pin(run: Run, ref: str, why: str) -> CodePin:
    """By a model: nothing is pinned before a person does. Raises `Refused` where it is pinned, the person has dismissed
    it, or `ref` means nothing in the code."""
    session = Session.objects.select_for_update().get(pk=run.turn.session_id)
    pin = found(session, ref)
    if same(pin).filter(state=HoldState.STANDING).exists():
        raise Refused("pinned", PINNED.format(title=pin.title))
    if same(pin).filter(state=HoldState.DISMISSED).exists():
        raise Refused("dismissed", GONE.format(title=pin.title))
    if waiting := same(pin).filter(state=HoldState.SUGGESTED).first():
        return waiting
    pin.state, pin.run, pin.why = HoldState.SUGGESTED, run, " ".join(why.split())[:LONGEST_WHY]
    pin.save()
    tell(pin, "workspace.pin_suggested", None)
    return pin


@transaction.atomic
def accept_code_pin(pin: CodePin, *, actor: User) -> CodePin:
    """What a model suggested is pinned. Raises `Refused` where it was answered already."""
    return moved(pin, HoldState.STANDING, "workspace.pin_set", actor)


@transaction.atomic
def unpin_code(pin: CodePin, *, actor: User) -> CodePin:
    """It stays no longer. Raises `Refused` where it is not pinned."""
    return moved(pin, HoldState.ENDED, "workspace.pin_ended", actor)


@transaction.atomic
def dismiss_code_pin(pin: CodePin, *, actor: User) -> CodePin:
    """A suggestion of the model's."""
    return moved(pin, HoldState.DISMISSED, "workspace.pin_dismissed", actor)


@transaction.atomic
def let_go(session: Session, ref: str, *, actor: User, path: str = "") -> CodePin:
    """What is kept by itself is not, from the next message on."""
    session = Session.objects.select_for_update().get(pk=session.pk)
    pin = found(session, ref, path)
    pin.state, pin.ended_at = HoldState.DISMISSED, timezone.now()
    pin.save()
    tell(pin, "workspace.pin_dismissed", actor)
    return pin


def moved(pin: CodePin, state: HoldState, kind: str, actor: User) -> CodePin:
    pin = locked(pin)
    over = Refused("over", OVER.format(state=pin.state))
    move(pin, state, HOLD_MOVES, over, ended_at=None if state == HoldState.STANDING else timezone.now())
    tell(pin, kind, actor)
    return pin


def same(pin: CodePin) -> QuerySet[CodePin]:
    what = {"qualified": pin.qualified} if pin.qualified else {"first_line": pin.first_line, "last_line": pin.last_line}
    return CodePin.objects.filter(session=pin.session_id, workspace=pin.workspace_id, path=pin.path, **what)


def found(session: Session, ref: str, path: str = "") -> CodePin:
    """What a reference means in the folder as it is indexed now; not stored."""
    attached = session.attachments.filter(detached_at=None).select_related("workspace__current").first()
    if attached is None or attached.workspace.current is None:
        raise Refused("not_attached", NOT_ATTACHED)
    snapshot, ref = attached.workspace.current, ref.strip().strip("`").strip("[]")[:LONGEST_REF]
    if "\x00" in ref + path:
        raise Refused("unknown", UNKNOWN.format(ref=ref.replace("\x00", "\ufffd")[:200]))
    if path and NUMBERS.fullmatch(ref):
        ref = f"{path}:{ref.replace(' ', '')}"
    if lines := LINES.fullmatch(ref):
        return lines_at(session, snapshot, lines)
    symbol = symbol_meant(snapshot, ref, path)
    text = symbol.file.text.split("\n")[symbol.first_line - 1 : symbol.last_line]
    return CodePin(
        session=session,
        workspace=attached.workspace,
        qualified=symbol.qualified,
        kind=symbol.kind,
        path=symbol.file.path,
        first_line=symbol.first_line,
        last_line=symbol.last_line,
        text="\n".join(text),
        number=snapshot.number,
    )


def lines_at(session: Session, snapshot: Snapshot, ref: re.Match[str]) -> CodePin:
    file = File.objects.filter(snapshot.standing, path=ref["path"]).first()
    if file is None:
        raise Refused("unknown", UNKNOWN.format(ref=ref[0][:200]))
    first, last = int(ref["first"]), int(ref["last"] or ref["first"])
    if not 1 <= first <= last <= file.lines or last - first >= MOST_LINES:
        raise Refused("lines", NO_LINES.format(path=file.path, lines=file.lines, most=MOST_LINES))
    return CodePin(
        session=session,
        workspace=snapshot.workspace,
        path=file.path,
        first_line=first,
        last_line=last,
        text="\n".join(file.text.split("\n")[first - 1 : last]),
        number=snapshot.number,
    )


def symbol_meant(snapshot: Snapshot, ref: str, path: str) -> Symbol:
    name = ref.removesuffix("()").replace("::", ".").strip(".")
    standing = Symbol.objects.filter(snapshot.standing_by_file, workspace=snapshot.workspace_id)
    standing = standing.exclude(kind=SymbolKind.SECTION).select_related("file").defer("terms", "names")
    by_name = standing.filter(name=name.rpartition(".")[2]).order_by("is_test", "pk")
    rows = [one for one in by_name[:200] if not path or one.file.path == path]
    for fits in (
        list(standing.filter(file__path=ref, parent=None)[:1]),
        [one for one in rows if one.qualified == name],
        [one for one in rows if one.qualified.endswith(f".{name}") and not one.is_test],
        [one for one in rows if one.qualified.endswith(f".{name}")],
    ):
        if len(fits) == 1:
            return fits[0]
        if fits:
            names = ", ".join(dict.fromkeys(f"{one.qualified} in {one.file.path}" for one in fits[:4]))
            raise Refused("several", SEVERAL.format(count=len(fits), ref=ref[:80], names=names))
    raise Refused("unknown", UNKNOWN.format(ref=ref[:200]))


def tell(pin: CodePin, kind: str, actor: User | None) -> None:
    events.append(pin.session_id, kind, {"pin": pin.pk, "what": pin.title, "path": pin.path}, actor=actor)
