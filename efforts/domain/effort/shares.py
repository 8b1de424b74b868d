"""Whose waiting turn is answered next: nobody waits because one person has sent much."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

Id = TypeVar("Id")


@dataclass(frozen=True, kw_only=True)
class Waiting(Generic[Id]):
    """A run or a draft that could begin; `place` among those of its person, from 1; `since` orders them all."""

    run: Id
    person: int
    place: int
    since: Any


def next_to_run(
    waiting: Iterable[Waiting[Id]], running: Mapping[int, int], *, room: int, reserved: int = 0, each: int
) -> list[Id]:
    """At most `room` runs, in the order in which they begin: first those of people who have the fewest.

    `running`: how many each person has; `each`: the most that one may have; `reserved`: so much of the room is left to
    those who have none.
    """
    ranked = sorted(waiting, key=lambda one: (running.get(one.person, 0) + one.place, one.since))
    chosen: list[Id] = []
    for one in ranked:
        rank = running.get(one.person, 0) + one.place
        left = room - len(chosen) - (reserved if rank > 1 else 0)
        if left > 0 and rank <= each:
            chosen.append(one.run)
    return chosen
