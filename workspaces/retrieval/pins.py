"""Pinned symbols and lines in a snapshot: where they are by now, or that they are gone; and as cards of a prompt."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from efforts.domain.effort.policy import ContextMode
from efforts.domain.effort.states import HoldState
from efforts.models import Branch, Session
from workspaces.domain.cards import BODY, EXCERPT, SNIPPET, card_text
from workspaces.domain.following import Followed, follow
from workspaces.domain.ranking import Scored
from workspaces.domain.states import SymbolKind
from workspaces.models import CodePin, File, Snapshot, Symbol
from workspaces.retrieval.cards import FoundCard, card_of, counts_of
from workspaces.retrieval.uses import Key, kept_symbols

PINNED = "You pinned it."
MOVED = "It has moved: it was at {place}."
CHANGED = "It has changed since."
# Of all that is kept by itself: more would crowd out what the message asks for.
MOST_KEPT = 4
# Letters of a line by which other files are looked through, and how many of those.
LONGEST_SOUGHT, MOST_SOUGHT = 200, 20


@dataclass(frozen=True, kw_only=True)
class Resolved:
    """`symbol`: where it is, of lines a row that is not stored; None where it is gone. `notes`: for people."""

    pin: CodePin
    symbol: Symbol | None
    notes: tuple[str, ...] = ()


def pins_of(session: Session, snapshot: Snapshot) -> Sequence[Resolved]:
    """Those that stand, in the order in which they were pinned."""
    rows = CodePin.objects.filter(session=session, workspace=snapshot.workspace_id, state=HoldState.STANDING)
    return [resolved(pin, snapshot) for pin in rows.order_by("pk")]


def resolved(pin: CodePin, snapshot: Snapshot) -> Resolved:
    if pin.qualified:
        symbol = symbol_now(snapshot, pin.path, pin.qualified, pin.kind)
        same = bool(symbol) and text_of(symbol) == pin.text
    else:
        symbol, same = lines_now(pin, snapshot)
    if symbol is None:
        return Resolved(pin=pin, symbol=None)
    was = f"{pin.path}:{pin.first_line}-{pin.last_line}"
    # A symbol is where its name is: that others above it have grown is no move.
    moved = symbol.file.path != pin.path or (not pin.qualified and symbol.first_line != pin.first_line)
    notes = [MOVED.format(place=was)] if moved else []
    return Resolved(pin=pin, symbol=symbol, notes=tuple(notes if same else [*notes, CHANGED]))


def symbol_now(snapshot: Snapshot, path: str, qualified: str, kind: str) -> Symbol | None:
    """By its path and name, else by its qualified name, else by a name that only one of its kind has."""
    name = qualified.rpartition(".")[2]
    standing = Symbol.objects.filter(snapshot.standing_by_file, workspace=snapshot.workspace_id, name=name)
    rows = list(standing.select_related("file").defer("terms", "names").order_by("is_test", "pk")[:50])
    for fits in (
        [one for one in rows if (one.file.path, one.qualified) == (path, qualified)][:1],
        [one for one in rows if one.qualified == qualified],
        [one for one in rows if one.kind == kind and not one.is_test],
    ):
        if len(fits) == 1:
            return fits[0]
    return None


def lines_now(pin: CodePin, snapshot: Snapshot) -> tuple[Symbol | None, bool]:
    """And whether they are as they were."""
    file = File.objects.filter(snapshot.standing, path=pin.path).first()
    then = pin.workspace.snapshots.filter(number=pin.number).first()
    old = File.objects.filter(then.standing, path=pin.path).first() if then else None
    if file and old and (found := follow(lines_of(old), lines_of(file), pin.first_line, pin.last_line)):
        return as_symbol(pin, file, found), found.same
    # In another file, as they were: the file was renamed, or they were moved there.
    block = pin.text.split("\n")
    telling = max(block, key=len)[:LONGEST_SOUGHT]
    others = File.objects.filter(snapshot.standing, text__contains=telling).exclude(path=pin.path).order_by("path")
    elsewhere = [(other, follow(block, lines_of(other), 1, len(block))) for other in others[:MOST_SOUGHT]]
    there = [(other, found) for other, found in elsewhere if found and found.same]
    return (as_symbol(pin, *there[0]), True) if len(there) == 1 else (None, False)


def as_symbol(pin: CodePin, file: File, found: Followed) -> Symbol:
    """Not stored: its id, below 0, is that of no symbol."""
    return Symbol(
        pk=-pin.pk,
        workspace_id=pin.workspace_id,
        file=file,
        kind=SymbolKind.SECTION,
        name=file.path,
        qualified=f"{file.path}:{found.first}" + (f"-{found.last}" if found.last > found.first else ""),
        first_line=found.first,
        last_line=found.last,
    )


def text_of(symbol: Symbol | None) -> str:
    return "\n".join(lines_of(symbol.file)[symbol.first_line - 1 : symbol.last_line]) if symbol else ""


def lines_of(file: File) -> list[str]:
    return file.text.split("\n")


def standing_cards(branch: Branch, snapshot: Snapshot, mode: ContextMode) -> Iterator[FoundCard]:
    """What is pinned, and what the last turns referred to so often that it stays for a while."""
    shown = set[int]()
    for one in pins_of(branch.session, snapshot):
        if one.symbol and one.symbol.pk not in shown:
            shown.add(one.symbol.pk)
            yield standing_card(snapshot, one.symbol, (PINNED, *one.notes), mode)
    for symbol, why in kept_now(branch, snapshot):
        if symbol.pk not in shown:
            shown.add(symbol.pk)
            yield standing_card(snapshot, symbol, (why,), mode)


def kept_now(branch: Branch, snapshot: Snapshot) -> Sequence[tuple[Symbol, str]]:
    """With why it is kept. What a person has dismissed is not."""
    gone: set[Key] = set(
        CodePin.objects.filter(session=branch.session_id, state=HoldState.DISMISSED).values_list("path", "qualified")
    )
    found = list[tuple[Symbol, str]]()
    for (path, qualified), one in kept_symbols(branch).items():
        if len(found) == MOST_KEPT:
            break
        if (path, qualified) not in gone and (symbol := symbol_now(snapshot, path, qualified, "")):
            found.append((symbol, one.why))
    return found


def standing_card(snapshot: Snapshot, symbol: Symbol, why: tuple[str, ...], mode: ContextMode) -> FoundCard:
    card, source = card_of(symbol, counts_of(snapshot)), lines_of(symbol.file)
    most = BODY if mode == ContextMode.HEAVY else EXCERPT
    return FoundCard(
        scored=Scored(symbol=symbol.pk, score=0.0, words=()),
        symbol=symbol,
        text=card_text(card, source, (), most),
        short=card_text(card, source, (), SNIPPET),
        why=why,
    )
