"""What is pinned in a branch, and every move of a hold: granted, referred to, ended by its age or with its effort.

Every function belongs inside the transaction of a caller that holds the lock of the branch.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet
from django.utils import timezone

from efforts.context.contents import BranchContents
from efforts.domain.effort.holds import KINDS, is_over, until
from efforts.domain.effort.notices import with_notice
from efforts.domain.effort.states import HOLD_MOVES, HoldBy, HoldEnd, HoldScope, HoldState
from efforts.domain.errors import Refused
from efforts.log import events
from efforts.memory import references
from efforts.memory.origins import Where
from efforts.models import Branch, Effort, EffortState, Hold, Run, Turn, moves

CHANGED = "This pin has just been changed elsewhere. Look again."


@dataclass(frozen=True, kw_only=True)
class Target:
    """One of the two."""

    turn: Turn | None = None
    effort: Effort | None = None

    def fields(self) -> dict[str, Any]:
        return {"turn": self.turn, "effort": self.effort}


@dataclass(frozen=True, kw_only=True)
class HoldSpan:
    """How long; `within` is the effort that ends it."""

    scope: HoldScope = HoldScope.ALWAYS
    turns: int = 0
    within: Effort | None = None

    def fields(self) -> dict[str, Any]:
        return {"kind": KINDS[self.scope], "scope": self.scope, "turns": self.turns, "within": self.within}


def live(branch: Branch) -> QuerySet[Hold]:
    found = Hold.objects.filter(branch=branch, state__in=(HoldState.SUGGESTED, HoldState.STANDING))
    return found.select_related("turn", "effort", "within")


def standing(branch: Branch) -> QuerySet[Hold]:
    return live(branch).filter(state=HoldState.STANDING)


def suggest(branch: Branch, target: Target, why: str, where: Where) -> Hold:
    row = Hold.objects.create(
        branch=branch, state=HoldState.SUGGESTED, by=HoldBy.MODEL, why=why, **target.fields(), **HoldSpan().fields()
    )
    record(row, "hold.suggested", where, why=why)
    return row


def grant(branch: Branch, target: Target, span: HoldSpan, clock: int, where: Where, **more: Any) -> Hold:
    """A new hold; or what was suggested stands now. What stood of the same ends."""
    row = live(branch).filter(**target.fields()).first()
    clocks = {"granted_clock": clock, "refreshed_clock": clock}
    if row and row.state == HoldState.SUGGESTED:
        move(row, HoldState.STANDING, **span.fields(), **clocks)
    else:
        if row:
            end(row, HoldEnd.REPLACED, where)
        row = Hold.objects.create(branch=branch, state=HoldState.STANDING, **target.fields(), **span.fields(), **clocks)
    record(row, "hold.granted", where, until=until_of(row), **more)
    return row


def end(row: Hold, how: HoldEnd, where: Where, **more: Any) -> None:
    clock = Branch.objects.values_list("clock", flat=True).get(pk=row.branch_id)
    move(row, HoldState.ENDED, ended=how, ended_clock=clock)
    record(row, "hold.ended", where, how=str(how), until=until_of(row), **more)


def dismiss(row: Hold, where: Where) -> None:
    move(row, HoldState.DISMISSED)
    record(row, "hold.dismissed", where)


def move(row: Hold, to: HoldState, **changes: Any) -> None:
    moves.move(row, to, HOLD_MOVES, Refused("changed", CHANGED), changed_at=timezone.now(), **changes)


def settle(run: Run, contents: BranchContents, *, completed: bool) -> None:
    """A turn has ended: what it refers to is young again; where it is completed, what is old enough leaves."""
    if not contents.has_holds:
        return
    branch = run.branch
    rows = [row for row in standing(branch) if row.scope not in (HoldScope.ALWAYS, HoldScope.EFFORT)]
    where = Where(turn=run.turn.number, branch=str(branch.pk), via="age")
    if any(row.scope == HoldScope.UNREFERENCED for row in rows):
        refresh(rows, run, where)
    for row in rows if completed else ():
        ages = {"granted": row.granted_clock, "refreshed": row.refreshed_clock, "now": branch.clock}
        if is_over(HoldScope(row.scope), row.turns, **ages):
            end(row, HoldEnd.AGED, where)


def refresh(rows: Iterable[Hold], run: Run, where: Where) -> None:
    turns, branch = references.turns_in(run), run.branch
    rows = list(rows)
    pinned = EffortState.objects.filter(branch=branch, effort__in={row.effort_id for row in rows if row.effort_id})
    ages = dict(pinned.values_list("effort", "referenced_clock"))
    for row in rows:
        meant = row.turn.number in turns if row.turn else ages.get(row.effort_id or 0, 0) > row.refreshed_clock
        if row.scope == HoldScope.UNREFERENCED and meant:
            Hold.objects.filter(pk=row.pk).update(refreshed_clock=branch.clock)
            row.refreshed_clock = branch.clock
            record(row, "hold.refreshed", where)


def end_with(branch: Branch, effort: Effort, where: Where) -> None:
    """The effort is concluded: what was pinned until then leaves."""
    for row in standing(branch).filter(within=effort):
        end(row, HoldEnd.CONCLUDED, where)


def until_of(row: Hold) -> str:
    return until(HoldScope(row.scope), row.turns, row.within.slug if row.within else "")


def what_of(row: Hold) -> str:
    return f"turn {row.turn.number}" if row.turn else f"effort {row.effort.slug}" if row.effort else ""


def record(row: Hold, kind: str, where: Where, **more: Any) -> None:
    data = {
        "hold": row.pk,
        **where.fields(),
        "pinned_turn": row.turn.number if row.turn else None,
        "pinned_effort": row.effort.slug if row.effort else None,
        "what": what_of(row),
        **more,
    }
    # What the person does here is seen where it is done, and one message's pin is over as it was meant to be.
    said = row.scope != HoldScope.TURN and more.get("how") in (HoldEnd.AGED, HoldEnd.CONCLUDED)
    events.append(row.branch.session_id, kind, with_notice(kind, data) if said else data, actor=where.actor)
