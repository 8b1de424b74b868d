"""`plan(inputs) -> Plan`, one pure function: the same inputs give the same bytes in every process.

Build the required set, fill the ambient layer with a contiguous newest run of whole turns, say what was left out
and why, render, count, hash (design section 5; seed 003). What the budget pushes out leaves in a block with
headroom, and stays out until the budget changes, so that the prompt grows at its end (tests/planner/test_growth.py
measures it: at the smallest budget the beginning moves in a fifth of the calls, with a third as much headroom in two).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from .assembly import Ambient, build, cost, cut_tokens, eligible_turns, required_parts
from .conversation import PastTurn
from .plan import Plan, PlanInputs, RequiredTooLarge

# When the budget forces turns or messages out, this share of it is freed, so that the next turns need no new cut.
HEADROOM = 0.3
# Kept free for the ambient layer's label and stub.
LABEL_ROOM = 64


def plan(inputs: PlanInputs) -> Plan:
    """Raises `BudgetTooSmall` or `RequiredTooLarge`; otherwise the plan is within its budget."""
    inputs = replace(inputs, count=lru_cache(maxsize=None)(inputs.count))
    limit = inputs.budget.effective
    required = build(inputs, Ambient(turns=()))
    if required.tokens > limit:
        raise RequiredTooLarge(required_parts(required), limit)
    ambient = fill(inputs, limit - required.tokens - LABEL_ROOM)
    candidate = build(inputs, ambient)
    while candidate.tokens > limit:
        ambient = replace(ambient, turns=ambient.turns[1:])
        candidate = build(inputs, ambient)
    return candidate


def fill(inputs: PlanInputs, room: int) -> Ambient:
    """A contiguous newest run, as the layout left it while it fits; else cut with headroom, messages before turns."""
    layout = inputs.layout.under(inputs.budget.effective)
    turns = tuple(turn for turn in eligible_turns(inputs) if turn.number >= layout.first_kept)
    standing = with_cuts(inputs, turns, layout.cut_through, None)
    if cost(inputs, standing) <= room:
        return standing
    roomy = room - int(inputs.budget.effective * HEADROOM)
    whole = with_cuts(inputs, turns, layout.cut_through, roomy)
    if cost(inputs, whole) <= room:
        return whole
    all_cut = frozenset(message.id for turn in turns for message in turn.visible)
    kept = newest_run(inputs, turns, roomy, all_cut) or newest_run(inputs, turns, room, all_cut)
    return with_cuts(inputs, kept, layout.cut_through, roomy)


def with_cuts(inputs: PlanInputs, turns: Sequence[PastTurn], through: int, room: int | None) -> Ambient:
    """Cut the large messages up to the id `through`, and more, oldest first, until the turns fit `room` tokens."""
    excess = 0 if room is None else sum(turn.cost for turn in turns) - room
    cuts: set[int] = set()
    for message in (message for turn in turns for message in turn.visible):
        gain = message.tokens - cut_tokens(inputs, message)
        if gain > 0 and (message.id <= through or excess > 0):
            cuts.add(message.id)
            excess -= gain
    return Ambient(turns=tuple(turns), cuts=frozenset(cuts))


def newest_run(inputs: PlanInputs, turns: Sequence[PastTurn], room: int, cuts: frozenset[int]) -> tuple[PastTurn, ...]:
    kept: list[PastTurn] = []
    for turn in reversed(turns):
        room -= cost(inputs, Ambient(turns=(turn,), cuts=cuts))
        if room < 0:
            break
        kept.insert(0, turn)
    return tuple(kept)
