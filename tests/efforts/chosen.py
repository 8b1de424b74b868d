"""Turns, summaries of some of them, and what of it the next prompt has."""

from __future__ import annotations

from typing import Any

from efforts.actions.pointers import StandIn, set_pointer
from efforts.context.planning import chosen_settings, draft_turn, plan_inputs
from efforts.context.sources import read_scope_log
from efforts.domain.prompt.plan import Plan
from efforts.domain.prompt.planner import plan
from efforts.models import ContextPointer
from efforts.turns.recording import count
from tests.efforts.talk import Talk

BODY = "Ferry tickets were compared.\nDecisions:\n- Take the Kiel ferry (turn 3)\nOpen work:\n- Book a cabin (turn 4)"
TEXT = "Ferry tickets were compared; the Kiel ferry it is."


def choose(talk: Talk, *numbers: int, text: str = TEXT, body: str = BODY) -> ContextPointer:
    """Somebody accepts a summary of these turns."""
    standing = StandIn(text=text, headline=text, tokens=count(text), body=body, body_tokens=count(body))
    log = read_scope_log(talk.branch, numbers)
    pointer = set_pointer(talk.branch, None, log, standing, actor=talk.session.owner, via="review")
    pointer.refresh_from_db()
    return pointer


def next_plan(talk: Talk, **more: Any) -> Plan:
    branch = talk.branch
    return plan(plan_inputs(branch, chosen_settings(branch.session), current=draft_turn(branch, "And now?"), **more))


def text_of(planned: Plan) -> str:
    return "\n".join(str(message["content"]) for message in planned.request["messages"])


def told(number: int) -> str:
    return f"Saying number {number} of the talk."


def ask(talk: Talk, first: int, last: int) -> None:
    for number in range(first, last + 1):
        talk.ask(told(number), reply=f"Answer {number}.")


def shown(talk: Talk) -> set[int]:
    """Numbers of the turns that stand as they were said in the next prompt."""
    sent = text_of(next_plan(talk))
    return {number for number in range(1, talk.branch.head + 1) if told(number) in sent}


def tier(talk: Talk) -> str:
    """How the one summary of chosen turns stands in the next prompt."""
    reasons = {item.reason.value for item in next_plan(talk).items if item.whose.startswith("turns-") and item.included}
    return {"body": "body", "chosen_headline": "headline", "expanded_effort": "raw"}.get("".join(reasons), "none")
