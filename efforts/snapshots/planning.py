"""What the planner needs to know of a branch, read in O(window)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db.models import Count, Q, QuerySet, Sum

from efforts.connections import choose
from efforts.domain.budget import REPLY_RESERVE, Budget
from efforts.domain.conversation import MESSAGE_OVERHEAD, CurrentTurn, LogMessage, OlderTurns, PastTurn, ToolCall
from efforts.domain.lifecycle import UNFINISHED, RunState
from efforts.domain.plan import Layout, PlanInputs
from efforts.domain.toolbox import TOOLS
from efforts.llm.tokens import get_counter
from efforts.models import Branch, ContextPlan, Message, Run, Session, Turn
from efforts.prompts import system_text


@dataclass(frozen=True, kw_only=True)
class RunSnapshot:
    """One running attempt, ready to be planned."""

    run_id: UUID
    session_id: UUID
    turn_number: int
    stop_requested: bool
    inputs: PlanInputs


def main_branch(session: Session) -> Branch:
    return Branch.objects.get(session=session, parent=None)


def branch_turns(branch: Branch) -> QuerySet[Turn]:
    """The turns of a branch's timeline: the parents' up to each fork, then its own."""
    timeline = Q(branch=branch)
    while branch.parent is not None and branch.fork_turn is not None:
        timeline |= Q(branch=branch.parent, number__lte=branch.fork_turn)
        branch = branch.parent
    return Turn.objects.filter(timeline)


def read_run(run: Run, *, offer_tools: bool) -> RunSnapshot:
    turn, chosen = run.turn, run.settings
    # Of this run: what an earlier attempt at the turn said must not be in the prompt of the next.
    log = list(turn.messages.filter(Q(role="user") | Q(run=run)))
    user, *episodes = [log_message(row) for row in log]
    session = turn.session
    return RunSnapshot(
        run_id=run.pk,
        session_id=session.pk,
        turn_number=turn.number,
        stop_requested=run.stop_requested_at is not None,
        inputs=plan_inputs(
            run.branch,
            chosen,
            current=CurrentTurn(number=turn.number, user=user, episodes=tuple(episodes)),
            offer_tools=offer_tools,
        ),
    )


def plan_inputs(
    branch: Branch, chosen: dict[str, Any], *, current: CurrentTurn, offer_tools: bool = True
) -> PlanInputs:
    """`chosen` is a run's settings: model, budget, window, reply, reply_limit, ambient_window, cut_current."""
    past, older = read_past(branch, before=current.number, window=chosen["ambient_window"])
    params = {
        "model": chosen["model"],
        "stream": True,
        # Unasked, providers report no usage for a stream.
        "stream_options": {"include_usage": True},
        chosen["reply_limit"]: chosen["reply"],
    }
    return PlanInputs(
        budget=Budget(setting=chosen["budget"], window=chosen["window"], reply=chosen["reply"]),
        params=params,
        system_text=system_text(),
        tools=TOOLS if offer_tools else (),
        past=past,
        older=older,
        current=current,
        ambient_window=chosen["ambient_window"],
        layout=read_layout(branch),
        count=get_counter(settings.CCM_ENCODING).count,
        cut_current=chosen.get("cut_current", False),
    )


def read_past(branch: Branch, *, before: int, window: int) -> tuple[tuple[PastTurn, ...], OlderTurns]:
    """The newest `window` finished turns, oldest first, and the running sum of all before them."""
    finished = branch_turns(branch).filter(number__lt=before).exclude(run__state__in=[RunState.CANCELLED, *UNFINISHED])
    # One more than the window: its running sum stands for all before it, so no plan reads the whole history.
    newest = list(finished.select_related("run").order_by("-number")[: window + 1])
    shown, beyond = newest[:window], newest[window:]
    older = (
        OlderTurns(last=beyond[0].number, tokens=beyond[0].tokens_before + beyond[0].tokens) if beyond else OlderTurns()
    )
    return tuple(reversed(past_turns(shown))), older


def past_turns(turns: Iterable[Turn]) -> list[PastTurn]:
    turns = [turn for turn in turns if turn.run is not None]
    said: dict[int, list[LogMessage]] = {turn.pk: [] for turn in turns}
    counts = Q(role="user") | Q(run__in=[turn.run_id for turn in turns])
    for row in Message.objects.filter(counts, turn__in=said).order_by("id"):
        said[row.turn_id].append(log_message(row))
    return [
        PastTurn(number=turn.number, state=RunState(turn.run.state), messages=tuple(said[turn.pk]))
        for turn in turns
        if turn.run is not None
    ]


def counted_tokens(turn: Turn, run: Run) -> int:
    """What the turn adds to later prompts when this attempt is the one that counts."""
    said = Q(role=Message.Role.USER)
    if run.state in (RunState.COMPLETED, RunState.STOPPED):
        said |= Q(run=run)
    sums = Message.objects.filter(said, turn=turn).aggregate(tokens=Sum("tokens", default=0), messages=Count("id"))
    return int(sums["tokens"] + MESSAGE_OVERHEAD * sums["messages"])


def log_message(row: Message) -> LogMessage:
    return LogMessage(
        id=row.pk,
        role=row.role,  # type: ignore[arg-type]  # the database holds nothing else
        text=row.text,
        tokens=row.tokens,
        tool_calls=tuple(ToolCall(**call) for call in row.tool_calls),
        tool_call_id=row.tool_call_id,
    )


def read_layout(branch: Branch) -> Layout:
    # Only this key of the body is fetched; the rest is large.
    body = ContextPlan.objects.filter(branch=branch).order_by("-created_at").values_list("body__layout", flat=True)[:1]
    stored = next(iter(body), None)
    return Layout.from_json(stored or {})


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
    }
