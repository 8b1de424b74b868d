"""What expanding an effort costs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from efforts.context.connections import KeyUnreadable
from efforts.context.planning import chosen_settings, draft_turn, plan_inputs, run_inputs
from efforts.domain.effort.chosen import BODY, RAW, SEED, span_of
from efforts.domain.errors import Refused
from efforts.domain.prompt.budget import BudgetTooSmall
from efforts.domain.prompt.layers import body_tokens
from efforts.domain.prompt.plan import PlanInputs, RequiredTooLarge
from efforts.domain.prompt.planner import budget_for, expansion_price, expansion_room, log_tokens, plan
from efforts.models import Branch, EffortState, Run
from efforts.standins.chosen import chosen_pointers, with_spans


@dataclass(frozen=True, kw_only=True)
class ExpansionPrice:
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


def price(branch: Branch, run: Run | None, slug: str, what: str = RAW) -> ExpansionPrice:
    """The difference of two plans over the same inputs, one with the effort, or chosen turns, expanded and one without.

    `what`: as their log, or as the body of their summary. `run`: the run that asks, between two of its calls; None for
    the next message. Raises `Refused` where nothing can be planned.
    """
    standing = expanded_here(branch)
    others = {id: as_what for id, as_what in standing.items() if id != slug}
    try:
        without = inputs_with(branch, run, others)
        expanded = inputs_with(branch, run, {**others, slug: what})
        if what == BODY and (slug == SEED or span_of(slug)):
            return body_price(expanded, without, slug)
        # It may have been reopened since somebody looked.
        if slug not in log_tokens(expanded):
            raise Refused("not_expandable", f"Nothing of {slug} can be expanded now.")
        needed, free = expansion_price(expanded, slug)
        return ExpansionPrice(
            tokens=plan(expanded).tokens - plan(without).tokens,
            needed=needed,
            free=max(free, 0),
            raise_to=expanded.budget.raised_for(budget_for(expanded, slug)),
        )
    except RequiredTooLarge as error:
        text = f"Too long: {error.needed:,} of {error.budget:,} tokens."
        raise Refused("over_budget", text) from error
    except (BudgetTooSmall, KeyUnreadable) as error:
        raise Refused("not_planned", str(error)) from error


def body_price(expanded: PlanInputs, without: PlanInputs, slug: str) -> ExpansionPrice:
    """Of chosen turns the body has a room of its own, and gives way to one line where it does not fit."""
    needed = sum(body_tokens(expanded, (one,)) for one in expanded.headlines if one.slug == slug)
    return ExpansionPrice(tokens=plan(expanded).tokens - plan(without).tokens, needed=needed, free=needed)


def free(branch: Branch, run: Run | None) -> int:
    """Tokens that one more expansion may take."""
    try:
        return max(expansion_room(inputs_with(branch, run, expanded_here(branch))), 0)
    except (RequiredTooLarge, BudgetTooSmall, KeyUnreadable):
        return 0


def expanded_here(branch: Branch) -> dict[str, str]:
    """Ids, and as what they are expanded."""
    states = EffortState.objects.filter(branch=branch, expanded_turn__isnull=False)
    chosen = with_spans(chosen_pointers(branch).filter(expanded_turn__isnull=False))
    return {**dict(states.values_list("effort__slug", "expanded_what")), **{one.id: RAW for one in chosen}}


def inputs_with(branch: Branch, run: Run | None, expanded: Mapping[str, str]) -> PlanInputs:
    """Without what recall may take of free room: it would give way to whatever is expanded."""
    if run:
        return replace(run_inputs(run, expanded=expanded), recall_most=0.0)
    return plan_inputs(branch, chosen_settings(branch.session), current=draft_turn(branch, ""), expanded=expanded)
