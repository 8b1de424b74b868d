"""What the next prompt shows of an effort, by planning it."""

from __future__ import annotations

from efforts.context.connections import KeyUnreadable
from efforts.context.expansion import expanded_here, inputs_with
from efforts.domain.effort.chosen import BODY
from efforts.domain.prompt.budget import BudgetTooSmall
from efforts.domain.prompt.plan import Plan, RequiredTooLarge, Section
from efforts.domain.prompt.planner import plan
from efforts.domain.prompt.showing import Shown, shown_of, shows_body
from efforts.models import Branch, Run

NOT_PLANNED = "read_effort reads it."
BODY_SHOWN = "The longer note is among your notes now; answer from it."
BODY_OUT = "There is no room for the longer note; read_effort reads the log."
FORMS: dict[Section, str] = {
    **dict.fromkeys(("active", "open", "awaiting", "expanded"), "log"),
    "body": "summary",
    "pin": "line",
    "summary": "line",
}


def in_the_prompt(branch: Branch, run: Run | None, slug: str, turns: int, what: str = "") -> str:
    """A sentence on how much of the log stands in the next prompt, or whether the body does where `what` is that.

    `run`: the run that asks, between two of its calls; None for the next message. `turns`: how many the effort has,
    for where nothing of it may stand in any prompt.
    """
    planned = planned_next(branch, run)
    if planned is None:
        return NOT_PLANNED
    if what == BODY:
        return BODY_SHOWN if shows_body(planned, slug) else BODY_OUT
    return (shown_of(planned, slug) or Shown(turns=0, of=turns)).sentence


def standing_in(planned: Plan | None) -> dict[str, tuple[str, int]]:
    """By their ids, as what efforts and chosen turns stand in a plan (`FORMS`), and how many tokens it has of them with
    what was recalled for their turns. Those are missing of which it has nothing."""
    found: dict[str, tuple[str, int]] = {}
    for item in planned.items if planned else ():
        if item.included and item.whose and item.section in FORMS:
            form, tokens = found.get(item.whose, (FORMS[item.section], 0))
            found[item.whose] = (form, tokens + item.tokens)
    return found


def planned_next(branch: Branch, run: Run | None) -> Plan | None:
    """None where nothing can be sent."""
    try:
        return plan(inputs_with(branch, run, expanded_here(branch)))
    except (RequiredTooLarge, BudgetTooSmall, KeyUnreadable):
        return None
