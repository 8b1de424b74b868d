"""What came of one model call: how its run ended, what the person thought of it, its tools and what they found."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Prefetch

from efforts.context.planning import mode_of
from efforts.domain.effort.policy import ContextMode
from efforts.domain.effort.states import RunState
from efforts.models import ContextPlan, RetrievalItem, RetrievalSet, ToolTrace, Verdict
from efforts.standins import coding


@dataclass(frozen=True, kw_only=True)
class OutcomeView:
    """`is_last_attempt`: this run is the one whose answer is read, and judged."""

    state: str
    state_label: str
    error_text: str
    verdict: Verdict | None
    is_last_attempt: bool
    tools: tuple[ToolTrace, ...]
    retrievals: tuple[RetrievalSet, ...]
    recall_is_off: bool
    proposed: tuple[coding.Proposed, ...]


def outcome_of(row: ContextPlan) -> OutcomeView:
    run = row.run
    hits = RetrievalItem.objects.select_related("effort", "turn", "message").defer("message__text")
    return OutcomeView(
        state=run.state,
        state_label=RunState(run.state).label,
        error_text=run.error_text,
        verdict=Verdict.objects.filter(run=run).first(),
        is_last_attempt=run.turn.run_id == run.pk,
        tools=tuple(row.tool_traces.all()),
        proposed=coding.registered().proposed([run.pk]).get(run.pk, ()),
        recall_is_off=mode_of(run.settings) == ContextMode.OFF,
        retrievals=tuple(row.retrieval_sets.prefetch_related(Prefetch("items", hits))),
    )
