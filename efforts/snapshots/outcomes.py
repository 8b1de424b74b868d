"""What came of one model call: how its run ended, what the person thought of it, its tools and what they found."""

from __future__ import annotations

from dataclasses import dataclass

from efforts.domain.lifecycle import RunState
from efforts.models import ContextPlan, RetrievalSet, ToolTrace, Verdict


@dataclass(frozen=True, kw_only=True)
class OutcomeView:
    state: str
    state_label: str
    error_text: str
    verdict: Verdict | None
    tools: tuple[ToolTrace, ...]
    retrievals: tuple[RetrievalSet, ...]


def outcome_of(row: ContextPlan) -> OutcomeView:
    run = row.run
    return OutcomeView(
        state=run.state,
        state_label=RunState(run.state).label,
        error_text=run.error_text,
        verdict=Verdict.objects.filter(run=run).first(),
        tools=tuple(row.tool_traces.all()),
        retrievals=tuple(row.retrieval_sets.prefetch_related("items__effort", "items__turn")),
    )
