"""`plan(inputs) -> Plan`, one pure function: the same inputs give the same bytes in every process.

Build the required set, fill the ambient layer with a contiguous newest run of whole turns, say what was left out
and why, render, count, hash. What the budget pushes out leaves in a block with headroom, and stays out until the
budget changes, so that the prompt grows at its end (tests/planner/test_growth.py measures it: at the smallest budget
the beginning moves in a fifth of the calls, with a third as much headroom in two).
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
    # While a plan is fitted the same texts are counted again and again; the cache goes when the plan is made.
    inputs = replace(inputs, count=lru_cache(maxsize=None)(inputs.count))
    limit = inputs.budget.effective
    # First without any past: if that is over the budget nothing may be sent, and its items say what needs how much.
    required = build(inputs, Ambient(turns=()))
    if required.tokens > limit:
        raise RequiredTooLarge(required_parts(required), limit)
    ambient = fill(inputs, limit - required.tokens - LABEL_ROOM)
    candidate = build(inputs, ambient)
    # `fill` adds up stored sums; labels, stub and joined messages can add a little. The rendered request decides.
    while candidate.tokens > limit:
        ambient = replace(ambient, turns=ambient.turns[1:])
        candidate = build(inputs, ambient)
    return candidate


def fill(inputs: PlanInputs, room: int) -> Ambient:
    """A contiguous newest run, as the layout left it while it fits; else cut with headroom, messages before turns."""
    layout = inputs.layout.under(inputs.budget.effective)
    turns = tuple(turn for turn in eligible_turns(inputs) if turn.number >= layout.first_kept)
    standing = with_cuts(inputs, turns, layout.cut_through, None)
    # As the last call left it: an unchanged beginning is what a model's cache can use again.
    if cost(inputs, standing) <= room:
        return standing
    # Cutting just enough would mean to cut again at the next turn, and each cut has the model read all of it anew.
    roomy = room - int(inputs.budget.effective * HEADROOM)
    whole = with_cuts(inputs, turns, layout.cut_through, roomy)
    # Messages before turns: of a cut message the beginning and end are still there.
    if cost(inputs, whole) <= room:
        return whole
    all_cut = frozenset(message.id for turn in turns for message in turn.visible)
    # Rather no headroom than no turns at all.
    kept = newest_run(inputs, turns, roomy, all_cut) or newest_run(inputs, turns, room, all_cut)
    return with_cuts(inputs, kept, layout.cut_through, roomy)


def with_cuts(inputs: PlanInputs, turns: Sequence[PastTurn], through: int, room: int | None) -> Ambient:
    """Cut the large messages up to the id `through`, and more, oldest first, until the turns fit `room` tokens."""
    excess = 0 if room is None else sum(turn.cost for turn in turns) - room
    cuts: set[int] = set()
    for message in (message for turn in turns for message in turn.visible):
        gain = message.tokens - cut_tokens(inputs, message)
        # What was cut before stays cut, or the prompt would change in its middle.
        if gain > 0 and (message.id <= through or excess > 0):
            cuts.add(message.id)
            excess -= gain
    return Ambient(turns=tuple(turns), cuts=frozenset(cuts))


def newest_run(inputs: PlanInputs, turns: Sequence[PastTurn], room: int, cuts: frozenset[int]) -> tuple[PastTurn, ...]:
    kept: list[PastTurn] = []
    for turn in reversed(turns):
        room -= cost(inputs, Ambient(turns=(turn,), cuts=cuts))
        # Not `continue`: an older turn must not stand where a newer one is missing.
        if room < 0:
            break
        kept.insert(0, turn)
    return tuple(kept)
