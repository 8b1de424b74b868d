"""`plan(inputs) -> Plan`, one pure function: the same inputs give the same bytes in every process.

Build the required set, fill the ambient layer with a contiguous newest run of whole turns, say what was left out
and why, render, count, hash (design section 5; seed 003). What the budget pushes out leaves in a block with
headroom, and stays out until the budget changes, so that the prompt grows at its end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from .assembly import Ambient, build, cost, cut_tokens, eligible_turns, required_parts
from .conversation import PastTurn
from .plan import Layout, Plan, PlanInputs, RequiredTooLarge

# When the budget forces turns out, this share of it is freed, so that the next turns need no new cut.
HEADROOM = 0.1
# Kept free for the ambient layer's label and stub.
LABEL_ROOM = 64


def plan(inputs: PlanInputs) -> Plan:
    """Raises `BudgetTooSmall` or `RequiredTooLarge`; otherwise the plan is within its budget."""
    inputs = replace(inputs, count=lru_cache(maxsize=None)(inputs.count))
    limit = inputs.budget.effective
    required = build(inputs, Ambient(turns=()))
    if required.tokens > limit:
        raise RequiredTooLarge(required_parts(inputs), limit)
    ambient = fill(
        inputs, keep_layout(eligible_turns(inputs), inputs.layout, limit), limit - required.tokens - LABEL_ROOM
    )
    candidate = build(inputs, ambient)
    while candidate.tokens > limit:
        ambient = replace(ambient, turns=ambient.turns[1:])
        candidate = build(inputs, ambient)
    return candidate


def keep_layout(eligible: Sequence[PastTurn], layout: Layout, limit: int) -> tuple[PastTurn, ...]:
    """What the budget pushed out earlier stays out while the budget is the same."""
    first = layout.first_kept if layout.budget == limit else 0
    return tuple(turn for turn in eligible if turn.number >= first)


def fill(inputs: PlanInputs, turns: Sequence[PastTurn], room: int) -> Ambient:
    """A contiguous newest run: all turns if need be with old large messages cut, else fewer turns with headroom."""
    whole = with_cuts(inputs, turns, room)
    if cost(inputs, whole) <= room:
        return whole
    all_cut = frozenset(message.id for turn in turns for message in turn.visible)
    roomy = newest_run(inputs, turns, room - int(inputs.budget.effective * HEADROOM), all_cut)
    return with_cuts(inputs, roomy or newest_run(inputs, turns, room, all_cut), room)


def with_cuts(inputs: PlanInputs, turns: Sequence[PastTurn], room: int) -> Ambient:
    """Cut large messages, oldest first, until the turns fit or none is left to cut."""
    needed = sum(turn.cost for turn in turns) - room
    cuts: set[int] = set()
    for message in (message for turn in turns for message in turn.visible):
        gain = message.tokens - cut_tokens(inputs, message)
        if needed > 0 and gain > 0:
            cuts.add(message.id)
            needed -= gain
    return Ambient(turns=tuple(turns), cuts=frozenset(cuts))


def newest_run(inputs: PlanInputs, turns: Sequence[PastTurn], room: int, cuts: frozenset[int]) -> tuple[PastTurn, ...]:
    kept: list[PastTurn] = []
    for turn in reversed(turns):
        room -= cost(inputs, Ambient(turns=(turn,), cuts=cuts))
        if room < 0:
            break
        kept.insert(0, turn)
    return tuple(kept)
