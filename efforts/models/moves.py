"""How a row goes from state to state: by the table of its machine, and only from the state in which it was seen."""

from __future__ import annotations

from typing import Any, TypeVar

from django.db.models import Model

from efforts.domain.effort.states import Moves, S
from efforts.domain.errors import Refused

Row = TypeVar("Row", bound=Model)


def move(row: Any, to: S, moves: Moves[S], refusal: Refused, **changes: Any) -> None:
    """The row is in its new state, with `changes`. Raises `refusal` where the machine has no such move, or somebody
    else has moved the row meanwhile."""
    # One update that must change a row: of two who move it at once, one is told.
    unchanged = type(row)._base_manager.filter(pk=row.pk, state=row.state)
    if to not in moves[row.state] or not unchanged.update(state=to, **changes):
        raise refusal
    row.refresh_from_db()


def locked(row: Row, *related: str) -> Row:
    """As it is now, and nobody else changes it until the transaction ends; with its `related` rows."""
    return type(row)._base_manager.select_for_update(of=("self",)).select_related(*related).get(pk=row.pk)
