"""L1: a stored plan made again from what it was made from, whatever has happened in the conversation since.

Its inputs were stored with it as of its place in the event log. What the log tells of efforts up to there must be what
they say: a pass over the events of each branch, forward only, tells that for all of its plans.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from efforts.context.layers import FinishedTurn, past_turns
from efforts.context.plans import fragments_by_hash
from efforts.context.recollections import recalled_for
from efforts.domain.effort.reducer import STEPS, Course, Happening
from efforts.domain.prompt.budget import BudgetTooSmall
from efforts.domain.prompt.plan import PLANNER_VERSION, Plan, PlanInputs, RequiredTooLarge
from efforts.domain.prompt.planner import plan
from efforts.domain.prompt.stored_inputs import InputsLost, Log, hashes_in, named_in, restore, unfold, untold
from efforts.domain.text.canonical import canonical_json
from efforts.llm.tokens import get_counter
from efforts.log.timelines import branch_events, branch_turns, log_message
from efforts.models import Branch, ContextPlan, Message

OTHER_VERSION = "other planner version"
NOT_STORED = "inputs not stored with it"
ANOTHER = "planned again from the same inputs it is another request"
OTHERWISE = "planned again from the same inputs its {} are others"
# In one error: more would hide what they have in common.
MOST_TOLD = 3


@dataclass(frozen=True, kw_only=True)
class Replanned:
    """`apart`: why the plan is not promised to be made again; else `problem` says why it is not the one stored, empty
    where it is."""

    apart: str = ""
    problem: str = ""

    @property
    def same(self) -> bool:
        return not self.apart and not self.problem


class CoursePass:
    """What the events of a branch come to, up to one number after another."""

    def __init__(self, branch: Branch) -> None:
        self.branch = branch
        self.begin()

    def begin(self) -> None:
        told = branch_events(self.branch).filter(kind__in=STEPS).values_list("seq", "kind", "data")
        self.course, self.reached = Course(), 0
        self.events: Iterator[tuple[int, str, Mapping[str, Any]]] = told.iterator()
        self.ahead = next(self.events, None)

    def up_to(self, seq: int) -> Course:
        # Plans of which two stand the other way round than they were made: their clock was set back.
        if seq < self.reached:
            self.begin()
        while self.ahead and self.ahead[0] <= seq:
            number, kind, data = self.ahead
            self.course.take(Happening(seq=number, kind=kind, data=data))
            self.ahead = next(self.events, None)
        self.reached = seq
        return self.course


def plan_again(row: ContextPlan, told: CoursePass | None = None) -> Replanned:
    """Of a plan that renders to what was sent. `told`: the pass over its branch, where several are made again."""
    if row.planner_version != PLANNER_VERSION:
        return Replanned(apart=OTHER_VERSION)
    if row.body["v"] < 2:
        return Replanned(apart=NOT_STORED)
    try:
        inputs = inputs_again(row)
        planned = plan(inputs)
    except InputsLost as lost:
        return Replanned(problem=str(lost))
    # It was made once, of the same inputs.
    except (BudgetTooSmall, RequiredTooLarge):
        return Replanned(problem=ANOTHER)
    if problem := difference(row, planned):
        return Replanned(problem=problem)
    try:
        course = (told or CoursePass(row.branch)).up_to(inputs.as_of)
    # A log that names what it does not tell of, or has not the form of one.
    except (AttributeError, KeyError, TypeError, ValueError):
        return Replanned(problem="the event log cannot be gone through")
    wrong = list(islice(untold(inputs, course), MOST_TOLD))
    return Replanned(problem=f"the event log does not tell what it was made from: {', '.join(wrong)}" if wrong else "")


def inputs_again(row: ContextPlan) -> PlanInputs:
    """Raises `InputsLost`."""
    stored = row.body["inputs"]
    # Twice: what stands apart may name further texts.
    apart = fragments_by_hash(row, list(hashes_in(stored)))
    values = unfold(stored, apart)
    named = named_in(values)
    messages = Message.objects.filter(session=row.session_id, pk__in=named.messages)
    turns = branch_turns(row.branch).filter(number__in=named.turns).exclude(run__state="cancelled")
    log = Log(
        turns={turn.number: turn for turn in past_turns(FinishedTurn.read(turns))} if named.turns else {},
        messages={message.pk: log_message(message) for message in messages},
        fragments=fragments_by_hash(row, list(hashes_in(values))),
        recalled=recalled_for(row.run_id),
    )
    return restore(values, log, get_counter(row.encoding).count)


def difference(row: ContextPlan, planned: Plan) -> str:
    """What of the plan made again is not what is stored."""
    if planned.request_sha256 != row.request_sha256:
        return ANOTHER
    made = json.loads(canonical_json(planned.body()))
    parts = [name for name, value in made.items() if row.body.get(name) != value]
    if (planned.tokens, planned.budget.effective, planned.layout_key) != (row.tokens, row.budget, row.layout_key):
        parts.append("tokens, budget or key of its layout")
    return OTHERWISE.format(", ".join(parts)) if parts else ""
