"""The page of what is pinned of attached code, and of what stays for a while by itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from efforts.context.planning import main_branch
from efforts.domain.effort.states import HoldState
from efforts.models import Session
from workspaces.models import CodePin, Snapshot, Symbol
from workspaces.retrieval.cards import address_of, place_of
from workspaces.retrieval.pins import Resolved, kept_now, pins_of


@dataclass(frozen=True, kw_only=True)
class CodePinView:
    """`place` and `address` are empty of what is gone."""

    pin: CodePin
    place: str
    address: str
    notes: Sequence[str]


@dataclass(frozen=True, kw_only=True)
class KeptView:
    symbol: Symbol
    place: str
    address: str
    why: str


@dataclass(frozen=True, kw_only=True)
class CodePinsView:
    name: str
    pinned: Sequence[CodePinView] = ()
    suggested: Sequence[CodePin] = ()
    kept: Sequence[KeptView] = ()


def code_pins_view(session: Session) -> CodePinsView | None:
    """None where no code is attached."""
    attached = session.attachments.filter(detached_at=None).select_related("workspace__current").first()
    if attached is None:
        return None
    snapshot, name = attached.workspace.current, attached.workspace.name
    if snapshot is None:
        return CodePinsView(name=name)
    pinned = list(pins_of(session, snapshot))
    here = {one.symbol.pk for one in pinned if one.symbol}
    newest = session.turns.select_related("branch").order_by("-created_at").first()
    branch = newest.branch if newest else main_branch(session)
    return CodePinsView(
        name=name,
        pinned=[pin_view(one, snapshot) for one in pinned],
        suggested=list(session.code_pins.filter(workspace=attached.workspace, state=HoldState.SUGGESTED)),
        kept=list(kept_views(kept_now(branch, snapshot), here, snapshot)),
    )


def pin_view(one: Resolved, snapshot: Snapshot) -> CodePinView:
    if one.symbol is None:
        return CodePinView(pin=one.pin, place="", address="", notes=())
    return CodePinView(pin=one.pin, place=place_of(one.symbol), address=address(one.symbol, snapshot), notes=one.notes)


def kept_views(kept: Sequence[tuple[Symbol, str]], here: set[int], snapshot: Snapshot) -> Iterator[KeptView]:
    for symbol, why in kept:
        if symbol.pk not in here:
            yield KeptView(symbol=symbol, place=place_of(symbol), address=address(symbol, snapshot), why=why)


def address(symbol: Symbol, snapshot: Snapshot) -> str:
    return address_of(snapshot.workspace_id, snapshot.number, symbol.file.path, symbol.first_line)
