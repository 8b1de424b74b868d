"""How much a symbol is on the mind of a conversation, and when that keeps it in the prompt for a while.

Integers, from what is stored of each turn: `a = a // 2 + 4 user + 3 model + 2 tool - 3 rejected - 2 error`, 0 to 20.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

MOST = 20
# In two turns: a symbol is kept then, until so many turns refer to it in no way.
HIGH, TIMES = 6, 2
LEASE = 3


@dataclass(frozen=True, kw_only=True)
class Signals:
    """Of one symbol in one turn: the message names it, the answer cites or names it, a tool read it, a person rejected
    an edit of it, a tool came to nothing about it."""

    turn: int
    user: bool = False
    model: bool = False
    tool: bool = False
    rejected: bool = False
    error: bool = False

    @property
    def is_reference(self) -> bool:
        return self.user or self.model or self.tool


@dataclass(frozen=True, kw_only=True)
class Kept:
    """`turns`: the two that promoted it; `left`: turns without a reference until it goes."""

    activation: int
    turns: tuple[int, ...]
    left: int

    @property
    def why(self) -> str:
        first, second = self.turns
        return f"Turns {first} and {second} referred to it. It stays until {LEASE} turns in a row do not."


def step(activation: int, one: Signals) -> int:
    gained = 4 * one.user + 3 * one.model + 2 * one.tool - 3 * one.rejected - 2 * one.error
    return max(0, min(MOST, activation // 2 + gained))


def kept(turns: Iterable[Signals]) -> Kept | None:
    """Whether the symbol is kept after these turns, oldest first, each turn once, also where nothing refers to it."""
    activation, high, unreferenced = 0, list[int](), 0
    for one in turns:
        activation = step(activation, one)
        unreferenced = 0 if one.is_reference else unreferenced + 1
        if unreferenced >= LEASE:
            high.clear()
        if activation >= HIGH and one.is_reference and len(high) < TIMES:
            high.append(one.turn)
    if len(high) < TIMES:
        return None
    return Kept(activation=activation, turns=tuple(high), left=LEASE - unreferenced)
