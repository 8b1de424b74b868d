"""What came of a model call, written beside it: tools that ran, and what searches found."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.db.models import Max

from efforts.domain.canonical import canonical_json, sha256
from efforts.domain.conversation import ToolCall
from efforts.domain.lifecycle import RunState, Trigger
from efforts.models import ContextPlan, Effort, Message, RetrievalItem, RetrievalSet, Run, ToolTrace, Turn
from efforts.snapshots import branch_turns


@dataclass(frozen=True, kw_only=True)
class Hit:
    """Something that was found: an effort, or a message in its turn; `why` are sentences for people."""

    score: float
    why: tuple[str, ...]
    turn: Turn | None = None
    message: Message | None = None
    effort: Effort | None = None

    @property
    def target(self) -> list[Any]:
        return [part.pk if part else None for part in (self.effort, self.turn, self.message)]


@dataclass(frozen=True, kw_only=True)
class Retrieval:
    """`strategy` names what ranked, with its version; `params` all that the ranking depends on beside the log."""

    query: str
    strategy: str
    hits: Sequence[Hit]
    found: int
    trigger: Trigger = Trigger.TOOL
    params: Mapping[str, Any] = field(default_factory=dict)

    @property
    def result_hash(self) -> str:
        ranked = [[*hit.target, float(hit.score), list(hit.why)] for hit in self.hits]
        return sha256(canonical_json([self.found, ranked]))


def trace_tool(message: Message, call: ToolCall, elapsed_ms: int | None) -> None:
    """`message` is the result; without `elapsed_ms` the tool was never run."""
    assert message.run_id is not None
    ToolTrace.objects.create(
        session_id=message.session_id,
        run_id=message.run_id,
        plan_id=newest_plan(message.run_id),
        message=message,
        tool_call_id=call.id,
        name=call.name,
        arguments_sha256=sha256(call.arguments),
        result_sha256=sha256(message.text),
        elapsed_ms=elapsed_ms,
        error=error_in(message.text),
    )


def newest_plan(run_id: UUID) -> UUID | None:
    """Of the call that asked for the tools that are answered now: there is no later one before all are answered."""
    return ContextPlan.objects.filter(run_id=run_id).order_by("-call").values_list("pk", flat=True).first()


def error_in(result: str) -> str:
    """How every tool says that it failed (efforts/tools)."""
    # Canonical JSON: a result without an error, which may be long, is not parsed.
    return str(json.loads(result)["error"]) if result.startswith('{"error"') else ""


def record_retrieval(run: Run, retrieval: Retrieval) -> RetrievalSet:
    row = RetrievalSet.objects.create(
        session_id=run.turn.session_id,
        branch_id=run.branch_id,
        run=run,
        plan_id=newest_plan(run.pk),
        trigger=retrieval.trigger,
        query=retrieval.query,
        query_hash=sha256(retrieval.query),
        snapshot=snapshot_of(run),
        strategy=retrieval.strategy,
        params=dict(retrieval.params),
        found=retrieval.found,
        result_hash=retrieval.result_hash,
    )
    RetrievalItem.objects.bulk_create(
        RetrievalItem(
            retrieval=row,
            rank=rank,
            turn=hit.turn,
            message=hit.message,
            effort=hit.effort,
            score=hit.score,
            why=list(hit.why),
        )
        for rank, hit in enumerate(retrieval.hits, 1)
    )
    return row


def snapshot_of(run: Run) -> int:
    """The last message that a search in this run can find: nothing of its own turn."""
    earlier = branch_turns(run.branch).filter(number__lt=run.turn.number).exclude(run__state=RunState.CANCELLED)
    last = earlier.order_by("-number").values_list("pk", flat=True).first()
    newest: int | None = Message.objects.filter(turn=last).aggregate(newest=Max("id"))["newest"]
    return newest or 0
