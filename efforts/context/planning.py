"""What the planner needs to know of a branch, read in O(window)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db.models import Count, Q, Sum
from django.utils import timezone

from efforts.context.connections import choose
from efforts.context.constraints import constraints_in_force
from efforts.context.holds import read_holds
from efforts.context.layers import read_ambient, read_efforts
from efforts.context.mentions import find_mentions
from efforts.context.moments import one_moment
from efforts.context.prompts import system_text
from efforts.context.recollections import recalled_for, recollect
from efforts.context.references import find_references
from efforts.domain.effort.policy import RECALL_SHARES, ContextMode
from efforts.domain.effort.states import RunState
from efforts.domain.prompt.budget import REPLY_RESERVE, Budget
from efforts.domain.prompt.conversation import MESSAGE_OVERHEAD, CurrentTurn, LogMessage
from efforts.domain.prompt.plan import Layout, PlanInputs
from efforts.domain.prompt.planner import plan
from efforts.domain.prompt.toolbox import TOOLS
from efforts.llm.tokens import get_counter
from efforts.log.timelines import branch_plans, log_message
from efforts.models import Branch, ContextPlan, Message, Run, Session, Turn


@dataclass(frozen=True, kw_only=True)
class RunSnapshot:
    """One running attempt, ready to be planned."""

    run_id: UUID
    session_id: UUID
    turn_number: int
    stop_requested: bool
    inputs: PlanInputs


def main_branch(session: Session) -> Branch:
    return session.branches.get(parent=None)


def read_run(run: Run, *, offer_tools: bool, known: PlanInputs | None = None) -> RunSnapshot:
    """`known`: its inputs, but for what was recalled since they were read."""
    inputs = replace(known, recalled=recalled_for(run.pk)) if known else run_inputs(run, offer_tools=offer_tools)
    return RunSnapshot(
        run_id=run.pk,
        session_id=run.turn.session_id,
        turn_number=run.turn.number,
        stop_requested=run.stop_requested_at is not None,
        inputs=inputs,
    )


def run_inputs(run: Run, *, offer_tools: bool = True, expanded: Collection[str] | None = None) -> PlanInputs:
    """Of the next call of a run, with all that was recalled for it."""
    inputs = plan_inputs(
        run.branch, run.settings, current=current_turn(run), offer_tools=offer_tools, expanded=expanded
    )
    return replace(inputs, recalled=recalled_for(run.pk))


def next_inputs(branch: Branch, chosen: dict[str, Any], text: str, expanded: Collection[str] | None) -> PlanInputs:
    """Of the next message, with what would be recalled for it. Raises what `plan` raises, where there is a text."""
    meant = {one.effort.slug for one in find_references(branch, text)}
    meant |= {one.chosen.id for one in find_mentions(branch, text)}
    inputs = plan_inputs(branch, chosen, current=draft_turn(branch, text), expanded=expanded, referenced=meant)
    if not text.strip():
        return inputs
    found = recollect(branch, plan(inputs), mode_of(chosen), today=timezone.now().date())
    return replace(inputs, recalled=found.passages) if found else inputs


def current_turn(run: Run) -> CurrentTurn:
    # Of this run: what an earlier attempt at the turn said must not be in the prompt of the next.
    log = run.turn.messages.filter(Q(role="user") | Q(run=run))
    user, *episodes = [log_message(row) for row in log]
    return CurrentTurn(number=run.turn.number, user=user, episodes=tuple(episodes))


def draft_turn(branch: Branch, text: str) -> CurrentTurn:
    """A message that is not sent yet."""
    # No stored message has this id, and no plan of it is stored.
    message = LogMessage(id=0, role="user", text=text, tokens=get_counter(settings.CCM_ENCODING).count(text))
    return CurrentTurn(number=branch.head + 1, user=message)


@one_moment()
def plan_inputs(
    branch: Branch,
    chosen: dict[str, Any],
    *,
    current: CurrentTurn,
    offer_tools: bool = True,
    expanded: Collection[str] | None = None,
    referenced: Collection[str] = (),
    at: datetime | None = None,
) -> PlanInputs:
    """`chosen` is a run's settings: model, budget, window, reply, reply_limit, ambient_window,
    prefer_cache, context_mode, cut_current.

    `expanded`: efforts to take for expanded instead of those that are; `referenced`: those that the message refers to,
    where that is not stored. `at`: only plans before it leave their layout.
    """
    budget = budget_of(chosen)
    past, older = read_ambient(branch, before=current.number, window=chosen["ambient_window"])
    layers = read_efforts(
        branch, before=current.number, room=budget.effective, expanded=expanded, referenced=referenced
    )
    params = {
        "model": chosen["model"],
        "stream": True,
        # Unasked, providers report no usage for a stream.
        "stream_options": {"include_usage": True},
        chosen["reply_limit"]: chosen["reply"],
    }
    inputs = PlanInputs(
        budget=budget,
        params=params,
        system_text=system_text(),
        tools=TOOLS if offer_tools else (),
        past=past,
        older=older,
        current=current,
        ambient_window=chosen["ambient_window"],
        layout=Layout(),
        count=get_counter(settings.CCM_ENCODING).count,
        cut_current=chosen.get("cut_current", False),
        efforts=layers.efforts,
        headlines=layers.headlines,
        unlisted=layers.unlisted,
        evicted=layers.evicted,
        epoch=branch.effort_epoch,
        constraints=constraints_in_force(branch.session_id),
        # A run from before there was this setting did without.
        prefer_cache=chosen.get("prefer_cache", False),
        holds=read_holds(branch, before=current.number),
        recall_share=RECALL_SHARES[mode_of(chosen)],
    )
    return replace(inputs, layout=read_layout(branch, inputs.layout_key, at))


def mode_of(chosen: Mapping[str, Any]) -> ContextMode:
    # A run from before there was this setting recalled nothing.
    return ContextMode(chosen.get("context_mode", ContextMode.OFF))


def budget_of(chosen: Mapping[str, Any]) -> Budget:
    return Budget(setting=chosen["budget"], window=chosen["window"], reply=chosen["reply"])


def read_layout(branch: Branch, key: str, at: datetime | None = None) -> Layout:
    """Of the newest call with the same key; else of the newest call. Of those before `at`, where it is given.

    A fork begins with what its parent left at that turn.
    """
    # A call from before an expansion has the key of one after it: what was expanded leaves no trace.
    newest = branch_plans(branch).order_by("-created_at")
    if at is not None:
        newest = newest.filter(created_at__lt=at)
    for plans in (newest.filter(layout_key=key), newest):
        # Only this key of one body is fetched; the rest is large.
        one = ContextPlan.objects.filter(pk__in=plans.values("pk")[:1])
        for stored in one.values_list("body__layout", flat=True):
            return Layout.from_json(stored)
    return Layout()


def counted_tokens(turn: Turn, run: Run) -> int:
    """What the turn adds to later prompts when this attempt is the one that counts."""
    said = Q(role=Message.Role.USER)
    if run.state in (RunState.COMPLETED, RunState.STOPPED):
        said |= Q(run=run)
    sums = Message.objects.filter(said, turn=turn).aggregate(tokens=Sum("tokens", default=0), messages=Count("id"))
    return int(sums["tokens"] + MESSAGE_OVERHEAD * sums["messages"])


def chosen_settings(session: Session) -> dict[str, Any]:
    """What a run is made with, as of now; kept with the run. Raises `KeyUnreadable`."""
    choice = choose(session)
    return {
        "kind": choice.kind,
        "endpoint": session.endpoint_id,
        "label": choice.label,
        "model": choice.model,
        "budget": session.budget,
        "window": choice.context_window,
        "reply": REPLY_RESERVE,
        "reply_limit": choice.reply_limit,
        "ambient_window": session.ambient_window,
        "prefer_cache": session.prefer_cache,
        "context_mode": str(session.context_mode),
    }
