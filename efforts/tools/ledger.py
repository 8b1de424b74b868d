"""What the model asks to be kept."""

from __future__ import annotations

from typing import Any

from efforts import actions
from efforts.domain.effort.states import ConstraintState, EntryKind, EntryState
from efforts.domain.errors import Refused
from efforts.memory.holds import what_of
from efforts.standins import coding

from .base import ToolContext


def suggest_pin(context: ToolContext, *, ref: str, why: str) -> dict[str, Any]:
    try:
        what = what_of(actions.suggest_pin(context.place, ref, why))
    except Refused as error:
        # What no effort is called may be a symbol of attached code, or lines of it.
        if error.code != "unknown" or not context.run.settings.get("workspace"):
            raise
        what = coding.registered().suggest_pin(context.run, ref, why)
    return {"suggested": what, "note": "Nothing is pinned: the user is asked."}


def record(context: ToolContext, *, kind: str, text: str) -> dict[str, Any]:
    if kind == "constraint":
        rule = actions.record_constraint(context.place, text)
        if rule.state == ConstraintState.IN_FORCE:
            return {"recorded": kind, "state": "in force"}
        return {"recorded": kind, "state": "suggested", "note": "Not the user's own words: the user is asked."}
    row = actions.propose_entry(context.place, EntryKind(kind), text)
    result = {"recorded": kind, "id": row.name, "state": row.state}
    return result if row.state == EntryState.CONFIRMED else {**result, "note": "Proposed: the user is asked."}


def resolve_open_work(context: ToolContext, *, id: str) -> dict[str, Any]:
    row = actions.resolve_entry(context.place, id)
    if row.state == EntryState.DISMISSED:
        return {"resolved": row.name, "note": "It was only proposed, and is dropped."}
    return {"suggested": row.name, "note": "The user is asked whether it is done."}
