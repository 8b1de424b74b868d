"""How long what is pinned stays so."""

from __future__ import annotations

from efforts.domain.effort.states import HoldKind, HoldScope

KINDS: dict[HoldScope, HoldKind] = {
    HoldScope.ALWAYS: HoldKind.STICKY,
    HoldScope.TURN: HoldKind.EPHEMERAL,
    HoldScope.EFFORT: HoldKind.LEASE,
    HoldScope.TURNS: HoldKind.LEASE,
    HoldScope.UNREFERENCED: HoldKind.LEASE,
}
COUNTED = frozenset({HoldScope.TURN, HoldScope.TURNS, HoldScope.UNREFERENCED})
UNTIL = {
    HoldScope.ALWAYS: "for good",
    HoldScope.TURN: "with one message",
    HoldScope.EFFORT: "until {within} is concluded",
    HoldScope.TURNS: "for {turns} turns",
    HoldScope.UNREFERENCED: "until {turns} turns do not mention it",
}
ONE = {HoldScope.TURNS: "for 1 turn", HoldScope.UNREFERENCED: "until 1 turn does not mention it"}


def turns_said(turns: int) -> str:
    """The number of turns, as people read it."""
    return f"{turns} turn{'' if turns == 1 else 's'}"


def until(scope: HoldScope, turns: int, within: str) -> str:
    """How long, as people read it."""
    text = ONE.get(scope, UNTIL[scope]) if turns == 1 else UNTIL[scope]
    return text.format(turns=turns, within=within)


def leaves_at(scope: HoldScope, turns: int, *, granted: int, refreshed: int) -> int | None:
    """The completed turn at whose end a hold leaves, all counted on the same clock; None where none is counted."""
    if scope not in COUNTED:
        return None
    return (refreshed if scope == HoldScope.UNREFERENCED else granted) + turns


def is_over(scope: HoldScope, turns: int, *, granted: int, refreshed: int, now: int) -> bool:
    """Whether a hold leaves when the branch has completed its turn number `now`."""
    end = leaves_at(scope, turns, granted=granted, refreshed=refreshed)
    return end is not None and now >= end
