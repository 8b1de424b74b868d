"""L1: a stored plan made again, where all that it was made from can be read again unchanged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from django.conf import settings

from efforts.context.planning import plan_inputs
from efforts.context.recollections import recalled_for
from efforts.domain.prompt.budget import BudgetTooSmall
from efforts.domain.prompt.conversation import CurrentTurn, LogMessage
from efforts.domain.prompt.plan import PLANNER_VERSION, PlanInputs, RequiredTooLarge
from efforts.domain.prompt.planner import plan
from efforts.log.timelines import log_message
from efforts.models import ContextPlan, Message

OTHER_VERSION = "other planner version"
OTHER_TOKENIZER = "other tokenizer"
NOT_RECORDED = "inputs not recorded"
# What people know an input by; one that is not here goes by its own name.
NAMES = {
    "system_text": "system text",
    "past": "turns",
    "older": "turns",
    "current": "messages of the turn",
    "efforts": "efforts",
    "epoch": "efforts",
    "headlines": "summaries",
    "unlisted": "summaries",
    "evicted": "summaries",
    "params": "settings",
    "budget": "settings",
    "ambient_window": "settings",
    "cut_current": "settings",
    "prefer_cache": "settings",
    "holds": "pins",
    "recalled": "recalled passages",
    "recall_share": "settings",
}


@dataclass(frozen=True, kw_only=True)
class Replanned:
    """`apart`: why the plan could not be made again; else `same` says whether it is the plan that was stored."""

    same: bool = False
    apart: str = ""


def plan_again(row: ContextPlan) -> Replanned:
    """Of a plan that renders to what was sent."""
    if row.planner_version != PLANNER_VERSION:
        return Replanned(apart=OTHER_VERSION)
    if row.encoding != settings.CCM_ENCODING:
        return Replanned(apart=OTHER_TOKENIZER)
    if "inputs" not in row.body:
        return Replanned(apart=NOT_RECORDED)
    try:
        inputs = inputs_again(row)
    # A setting that there was none of when the run was made.
    except KeyError:
        return Replanned(apart=NOT_RECORDED)
    if changed := changes(row.body["inputs"], inputs.fingerprints):
        return Replanned(apart=changed)
    return Replanned(same=is_same(row, inputs))


def inputs_again(row: ContextPlan) -> PlanInputs:
    inputs = plan_inputs(
        row.branch,
        row.run.settings,
        current=current_again(row),
        offer_tools=bool(row.body["params"].get("tools")),
        at=row.created_at,
    )
    return replace(inputs, recalled=recalled_for(row.run_id))


def current_again(row: ContextPlan) -> CurrentTurn:
    """The turn as far as it had come: its recipe names the messages."""
    *_, asked = (part["m"] for entry in row.body["recipe"] for part in entry.get("parts", ()) if "m" in part)
    done = [id for entry in row.body["recipe"] for id in entry.get("messages", ())]
    said = messages([asked, *done])
    return CurrentTurn(number=row.run.turn.number, user=said[asked], episodes=tuple(said[id] for id in done))


def messages(ids: list[int]) -> Mapping[int, LogMessage]:
    return {row.pk: log_message(row) for row in Message.objects.filter(pk__in=ids)}


def changes(before: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    names = {NAMES.get(name, name) for name in {**before, **now} if before.get(name) != now.get(name)}
    return f"inputs changed since: {', '.join(sorted(names))}" if names else ""


def is_same(row: ContextPlan, inputs: PlanInputs) -> bool:
    try:
        return plan(inputs).request_sha256 == row.request_sha256
    # It was made once, of the same inputs.
    except (BudgetTooSmall, RequiredTooLarge):
        return False
