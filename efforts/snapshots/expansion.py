"""What expanding an effort costs."""

from __future__ import annotations

from dataclasses import dataclass

from efforts.connections import KeyUnreadable
from efforts.domain.budget import BudgetTooSmall
from efforts.domain.plan import PlanInputs, RequiredTooLarge
from efforts.domain.planner import budget_for, expansion_price, expansion_room, log_tokens, plan
from efforts.errors import Refused
from efforts.models import Branch, EffortState, Run

from .planning import chosen_settings, draft_turn, plan_inputs, run_inputs


@dataclass(frozen=True, kw_only=True)
class Price:
    """In tokens: what the prompt grows by, what the raw log needs, and what expansions may still take.

    `raise_to`: a budget in which it fits; None where the model's window has no room for one.
    """

    tokens: int
    needed: int
    free: int
    raise_to: int | None = None

    @property
    def fits(self) -> bool:
        return self.needed <= self.free


def price(branch: Branch, run: Run | None, slug: str) -> Price:
    """The difference of two plans over the same inputs, one with the effort expanded and one without.

    `run`: the run that asks, between two of its calls; None for the next message. Raises `Refused` where nothing can be
    planned.
    """
    standing = expanded_slugs(branch)
    try:
        without = inputs_with(branch, run, standing - {slug})
        expanded = inputs_with(branch, run, standing | {slug})
        # It may have been reopened since somebody looked.
        if slug not in log_tokens(expanded):
            raise Refused("not_expandable", f"Nothing of {slug} can be expanded now.")
        needed, free = expansion_price(expanded, slug)
        return Price(
            tokens=plan(expanded).tokens - plan(without).tokens,
            needed=needed,
            free=max(free, 0),
            raise_to=expanded.budget.raised_for(budget_for(expanded, slug)),
        )
    except RequiredTooLarge as error:
        text = f"What must be sent needs {error.needed:,} tokens and the budget is {error.budget:,}."
        raise Refused("over_budget", text) from error
    except (BudgetTooSmall, KeyUnreadable) as error:
        raise Refused("not_planned", str(error)) from error


def free(branch: Branch, run: Run | None) -> int:
    """Tokens that one more expansion may take."""
    try:
        return max(expansion_room(inputs_with(branch, run, expanded_slugs(branch))), 0)
    except (RequiredTooLarge, BudgetTooSmall, KeyUnreadable):
        return 0


def expanded_slugs(branch: Branch) -> set[str]:
    states = EffortState.objects.filter(branch=branch, expanded_turn__isnull=False)
    return set(states.values_list("effort__slug", flat=True))


def inputs_with(branch: Branch, run: Run | None, expanded: set[str]) -> PlanInputs:
    if run:
        return run_inputs(run, expanded=expanded)
    return plan_inputs(branch, chosen_settings(branch.session), current=draft_turn(branch, ""), expanded=expanded)
