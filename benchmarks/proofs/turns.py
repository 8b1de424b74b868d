"""Turns of a proof, through everything a turn is made of but a model: plans, tools, references, settling."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from benchmarks.scenes import Exchange
from efforts import actions
from efforts.domain.effort.states import SummaryState
from efforts.domain.prompt.conversation import ToolCall
from efforts.domain.prompt.plan import Plan
from efforts.domain.text.canonical import canonical_json
from efforts.models import EffortState, Run, Session
from efforts.tools import ToolContext, run_tool
from efforts.turns import recording
from efforts.turns.orchestrator import read_and_plan
from efforts.turns.recording import COMPLETED, CallReply, Lease
from efforts.turns.summaries import summarise_now

OWNER = "proof"

Call = tuple[str, dict[str, Any]]


@dataclass(frozen=True, kw_only=True)
class Taken:
    """A turn that completed: the plan of each of its calls, and what its tools gave."""

    number: int
    plans: tuple[Plan, ...]
    results: tuple[dict[str, Any], ...]


def take_turn(session: Session, exchange: Exchange, *calls: Call) -> Taken:
    """The model calls these tools, one in each call, and answers in the last."""
    # Not by the orchestrator: its threads have connections of their own, which do not see what is rolled back.
    client_id = f"proof-{session.messages.count()}"
    turn = actions.send_message(session, text=exchange.user, client_id=client_id, actor=session.owner)
    lease = recording.claim(Run.objects.select_related("turn", "branch").get(turn=turn), OWNER)
    assert lease
    run = recording.claimed_run(lease)
    steps = list(use_tools(lease, run, calls))
    answered = plan_call(lease, run, len(calls) + 1)
    recording.record_reply(lease, CallReply(call=len(calls) + 1, text=exchange.reply), COMPLETED)
    for state in EffortState.objects.filter(branch__session=session, summary=SummaryState.DUE).order_by("pk"):
        summarise_now(state)
    plans = (*(planned for planned, _ in steps), answered)
    return Taken(number=turn.number, plans=plans, results=tuple(result for _, result in steps))


def use_tools(lease: Lease, run: Run, calls: tuple[Call, ...]) -> Iterator[tuple[Plan, dict[str, Any]]]:
    for number, (name, arguments) in enumerate(calls, 1):
        planned = plan_call(lease, run, number)
        # Of the turn and not of the run, whose id is by chance: it is sent, and its tokens count.
        call_id = f"c{lease.turn_number}-{number}"
        call = ToolCall(id=call_id, name=name, arguments=canonical_json(arguments))
        recording.record_reply(lease, CallReply(call=number, text="", tool_calls=(call,)))
        tool = partial(run_tool, call, ToolContext(run=run))
        yield planned, json.loads(recording.run_and_record(lease, number, call, tool))


def plan_call(lease: Lease, run: Run, number: int) -> Plan:
    planned = read_and_plan(run, offer_tools=True)
    recording.record_plan(lease, number, planned)
    return planned
