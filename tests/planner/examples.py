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


def turn(
    log: Log, number: int, user: str = "Hi", reply: str = "Hello.", state: RunState = RunState.COMPLETED
) -> PastTurn:
    said = [log.said("user", user)]
    return PastTurn(
        number=number, state=state, messages=(*said, log.said("assistant", reply)) if reply else tuple(said)
    )


def about(
    log: Log, turns: Sequence[PastTurn] = (), *, budget: int = 16_000, message: str = "Go on.", **more: Any
) -> PlanInputs:
    window = more.pop("ambient_window", 10)
    past, older = read_past(turns, window)
    usual = {
        "params": {"model": "any"},
        "system_text": "You help.",
        "tools": TOOLS,
        "current": CurrentTurn(number=turns[-1].number + 1 if turns else 1, user=log.said("user", message)),
        "layout": Layout(),
        "count": four_letters,
    }
    return PlanInputs(budget=Budget(setting=budget), past=past, older=older, ambient_window=window, **{**usual, **more})
