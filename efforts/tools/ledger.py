"""What the model asks to be kept."""

from __future__ import annotations

from typing import Any

from efforts import actions
from efforts.domain.lifecycle import ConstraintState
from efforts.holds import what_of

from .base import ToolContext


def suggest_pin(context: ToolContext, *, ref: str, why: str) -> dict[str, Any]:
    row = actions.suggest_pin(context.place, ref, why)
    return {"suggested": what_of(row), "note": "Nothing is pinned: the user is asked."}


def record(context: ToolContext, *, kind: str, text: str) -> dict[str, Any]:
    row = actions.record_constraint(context.place, text)
    if row.state == ConstraintState.IN_FORCE:
        return {"recorded": kind, "state": "in force"}
    return {"recorded": kind, "state": "suggested", "note": "Not the user's own words: the user is asked."}
