"""Rules, as prompts and pages show them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import UUID

from django.db.models import F, Q, QuerySet

from efforts.domain.effort.states import ConstraintState
from efforts.domain.prompt.conversation import RuleInForce as Rule
from efforts.models import Branch, Constraint, Event, Session
from efforts.models.prepared import prepared

if TYPE_CHECKING:
    from django.contrib.auth.models import User


@dataclass(frozen=True, kw_only=True)
class ConstraintView:
    """`number` is its place in the prompt, 0 for a suggestion; `turn` that of the message it comes from."""

    id: int
    text: str
    number: int = 0
    standing: bool = False
    turn: int | None = None


@dataclass(frozen=True, kw_only=True)
class ConstraintsView:
    in_force: tuple[ConstraintView, ...]
    suggested: tuple[ConstraintView, ...]


def in_force(session_id: UUID) -> QuerySet[Constraint]:
    """In the order of the prompt: standing rules first, because they change least."""
    owner = Session.objects.filter(pk=session_id).values("owner")
    own = Q(session=session_id) | Q(session=None, owner__in=owner)
    return Constraint.objects.filter(own, state=ConstraintState.IN_FORCE).order_by(
        F("session").asc(nulls_first=True), "pk"
    )


def constraints_in_force(session_id: UUID) -> tuple[Rule, ...]:
    return tuple(Rule(id=pk, text=text) for pk, text in read_in_force(session_id))


@prepared
def read_in_force(session_id: UUID) -> QuerySet[Constraint, tuple[int, str]]:
    return in_force(session_id).values_list("pk", "text")


def constraints_view(branch: Branch) -> ConstraintsView:
    rules = in_force(branch.session_id).select_related("source__turn")
    waiting = Constraint.objects.filter(session=branch.session_id, state=ConstraintState.SUGGESTED).select_related(
        "source__turn"
    )
    return ConstraintsView(
        in_force=tuple(view_of(row, number, branch) for number, row in enumerate(rules, 1)),
        suggested=tuple(view_of(row, branch=branch) for row in suggested_here(branch, list(waiting))),
    )


def suggested_here(branch: Branch, rows: list[Constraint]) -> list[Constraint]:
    """Without those that were suggested in a turn of another branch: what led to them was never said here."""
    if not rows:
        return rows
    told = Event.objects.filter(
        session=branch.session_id, kind="constraint.suggested", data__constraint__in=[row.pk for row in rows]
    ).values_list("data", flat=True)
    here = {data["constraint"] for data in told if branch.owner_of(data["turn"]) == data["branch"]}
    return [row for row in rows if row.pk in here]


def standing_view(owner: User) -> tuple[ConstraintView, ...]:
    rows = Constraint.objects.filter(owner=owner, session=None, state=ConstraintState.IN_FORCE)
    return tuple(view_of(row, number) for number, row in enumerate(rows, 1))


def view_of(row: Constraint, number: int = 0, branch: Branch | None = None) -> ConstraintView:
    turn = row.source.turn if row.source else None
    return ConstraintView(
        id=row.pk,
        text=row.text,
        number=number,
        standing=row.session_id is None,
        # Said in another branch, it has no turn here.
        turn=turn.number if turn and branch and branch.has(turn) else None,
    )
