"""What is pinned, as prompts and pages show it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from efforts.domain.conversation import Hold as Held
from efforts.domain.lifecycle import HoldKind, HoldScope, HoldState
from efforts.models import Branch, Hold

from .layers import finished_turns, past_turns

if TYPE_CHECKING:
    pass


@dataclass(frozen=True, kw_only=True)
class HoldView:
    """`where` is how the next prompt has it, `fits` whether it has it at all; `age` is in completed turns."""

    id: int
    turn: int | None
    effort: str
    until: str
    age: int
    tokens: int
    why: str = ""
    where: str = ""
    fits: bool = True

    @property
    def what(self) -> str:
        return f"Turn {self.turn}" if self.turn else self.effort


@dataclass(frozen=True, kw_only=True)
class HoldsView:
    standing: tuple[HoldView, ...] = ()
    suggested: tuple[HoldView, ...] = ()

    @property
    def out(self) -> int:
        return sum(not one.fits for one in self.standing)

    def of(self, *, turn: int | None = None, effort: str = "") -> int | None:
        """Id of what stands of a turn or an effort."""
        return next((one.id for one in self.standing if (one.turn, one.effort) == (turn, effort)), None)


def read_holds(branch: Branch, *, before: int) -> tuple[Held, ...]:
    """Those that stand, in the order of the prompt: for good first, each by its grant."""
    rows = list(rows_of(branch, HoldState.STANDING))
    numbers = [row.turn_id for row in rows if row.turn_id]
    turns = finished_turns(branch, before=before).filter(pk__in=numbers).select_related("run") if numbers else ()
    past = {turn.number: turn for turn in past_turns(turns)}
    held = [
        Held(
            id=row.pk,
            kind=HoldKind(row.kind),
            scope=HoldScope(row.scope),
            turns=row.turns,
            within=row.within.slug if row.within else "",
            turn=past.get(row.turn.number) if row.turn else None,
            effort=row.effort.slug if row.effort else "",
        )
        for row in rows
    ]
    return tuple(sorted((hold for hold in held if hold.turn or hold.effort), key=lambda hold: not hold.is_sticky))


def rows_of(branch: Branch, *states: HoldState) -> list[Hold]:
    rows = Hold.objects.filter(branch=branch, state__in=states).select_related("turn", "effort", "within")
    return list(rows.order_by("granted_clock", "pk"))
