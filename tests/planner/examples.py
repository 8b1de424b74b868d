"""The usual inputs of a plan, to be changed in the one thing that a test is about."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from efforts.domain.effort.states import RunState
from efforts.domain.prompt.budget import Budget
from efforts.domain.prompt.conversation import CurrentTurn, PastTurn
from efforts.domain.prompt.plan import Layout, PlanInputs
from efforts.domain.prompt.toolbox import TOOLS
from tests.planner.strategies import Log, four_letters, read_past

TODAY = "2026-03-05"


def turn(
    log: Log, number: int, user: str = "Hi", reply: str = "Hello.", state: RunState = RunState.COMPLETED
) -> PastTurn:
    said = [log.said("user", user)]
    return PastTurn(
        number=number, state=state, messages=(*said, log.said("assistant", reply)) if reply else tuple(said)
    )


def current(log: Log, number: int, message: str = "Go on.") -> CurrentTurn:
    return CurrentTurn(number=number, user=log.said("user", message), began_on=TODAY)


def asked_in(number: int) -> str:
    """How the current message begins where there are no efforts."""
    notes = f"[Notes for this turn, not from the user]\nToday is {TODAY}. This is turn {number}.\n[End of notes]"
    return f"[turn {number}]\n{notes}\n"


def about(
    log: Log, turns: Sequence[PastTurn] = (), *, budget: int = 16_000, message: str = "Go on.", **more: Any
) -> PlanInputs:
    window = more.pop("ambient_window", 10)
    past, older = read_past(turns, window)
    usual = {
        "params": {"model": "any"},
        "system_text": "You help.",
        "tools": TOOLS,
        "current": current(log, turns[-1].number + 1 if turns else 1, message),
        "layout": Layout(),
        "count": four_letters,
    }
    return PlanInputs(budget=Budget(setting=budget), past=past, older=older, ambient_window=window, **{**usual, **more})
