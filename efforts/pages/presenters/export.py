"""Plans with what came of them, the ledger, and summaries, as lines of JSON (docs/export.md)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any

from django.db.models import Prefetch, Q, QuerySet

from efforts.domain.prompt.candidates import id_of, leaves_in, needs_of, priority_of
from efforts.domain.prompt.plan import Item
from efforts.domain.text.canonical import canonical_json
from efforts.domain.text.redaction import redact_all
from efforts.models import (
    Branch,
    Constraint,
    ContextPlan,
    LedgerEntry,
    PointerMove,
    RetrievalItem,
    RetrievalSet,
    Run,
    Session,
    ToolTrace,
)

# Whoever changes the shape of a line raises it.
VERSION = LEDGER_VERSION = SUMMARY_VERSION = 1
# Of a retrieval's params those that hold the words of its query.
WORDS = ("terms", "corrected")
# Plans in memory at a time.
CHUNK = 100


def plan_lines(session: Session) -> Iterator[list[str]]:
    """Branch by branch, oldest plan first, one line a plan; in chunks, so that the memory does not grow."""
    for branch in Branch.objects.filter(session=session).order_by("created_at", "pk"):
        rows = chunk(branch, None)
        while rows:
            yield [redacted_line(exported(row)) for row in rows]
            rows = chunk(branch, rows[-1])


def ledger_lines(session: Session) -> Iterator[list[str]]:
    """Decisions and open work in every state, then the conversation's own rules; oldest first, one line each."""
    rows = LedgerEntry.objects.filter(session=session).select_related("source__turn").order_by("pk")
    rules = Constraint.objects.filter(session=session).select_related("source__turn").order_by("pk")
    yield [redacted_line(entry_of(row)) for row in rows]
    yield [redacted_line(rule_of(row)) for row in rules]


def summary_lines(session: Session, artifacts: Iterable[dict[str, Any]]) -> Iterator[list[str]]:
    """Every artifact, then every move of what stands for turns; oldest first, one line each."""
    about = {"v": SUMMARY_VERSION, "session": str(session.pk)}
    for artifact in artifacts:
        yield [redacted_line({**about, "line": "artifact", **artifact})]
    moves = PointerMove.objects.filter(branch__session=session).select_related("pointer__effort", "actor")
    for move in moves.order_by("pk").iterator(chunk_size=CHUNK):
        yield [redacted_line({**about, "line": "move", **move_of(move)})]


def move_of(move: PointerMove) -> dict[str, Any]:
    pointer = move.pointer
    return {
        "move": move.pk,
        "kind": move.kind,
        "branch": str(move.branch_id),
        "pointer": pointer.pk,
        "artifact": pointer.artifact,
        "effort": pointer.effort.slug if pointer.effort else None,
        "headline": pointer.headline,
        "text": pointer.text,
        "digest": pointer.digest,
        "body": pointer.body,
        "before": move.before,
        "after": move.after,
        "by": move.actor.get_username() if move.actor else None,
        "via": move.via,
        "reason": move.reason,
        "clock": move.clock,
        "at": time_of(move.created_at),
    }


def entry_of(row: LedgerEntry) -> dict[str, Any]:
    return {
        **noted(row),
        "entry": row.name,
        "kind": row.kind,
        "superseded_by": row.superseded_by_id and f"decision-{row.superseded_by_id}",
        "ended_turn": row.ended_turn,
    }


def rule_of(row: Constraint) -> dict[str, Any]:
    return {**noted(row), "entry": f"constraint-{row.pk}", "kind": "constraint"}


def noted(row: LedgerEntry | Constraint) -> dict[str, Any]:
    turn = row.source.turn if row.source else None
    return {
        "v": LEDGER_VERSION,
        "session": str(row.session_id),
        "branch": str(turn.branch_id) if turn else None,
        "turn": turn.number if turn else None,
        "message": row.source_id,
        "start": row.start,
        "end": row.end,
        "text": row.text,
        "state": row.state,
        "by": row.by,
        "noted_at": time_of(row.created_at),
        "changed_at": time_of(row.changed_at),
    }


def chunk(branch: Branch, after: ContextPlan | None) -> list[ContextPlan]:
    rows = with_what_came_of_it(ContextPlan.objects.filter(branch=branch)).order_by("created_at", "pk")
    if after:
        rows = rows.filter(Q(created_at__gt=after.created_at) | Q(created_at=after.created_at, pk__gt=after.pk))
    return list(rows[:CHUNK])


def with_what_came_of_it(plans: QuerySet[ContextPlan]) -> QuerySet[ContextPlan]:
    items = RetrievalItem.objects.select_related("effort", "turn")
    sets = RetrievalSet.objects.prefetch_related(Prefetch("items", items))
    return plans.select_related("run__turn", "run__verdict").prefetch_related(
        "tool_traces", "run__thinking", Prefetch("retrieval_sets", sets)
    )


def redacted_line(values: dict[str, Any]) -> str:
    redacted = redact_all(values)
    return canonical_json({**redacted.value, "masked": redacted.masked})


def exported(row: ContextPlan) -> dict[str, Any]:
    run, body = row.run, row.body
    return {
        "v": VERSION,
        "plan": str(row.pk),
        "session": str(row.session_id),
        "branch": str(row.branch_id),
        "run": str(row.run_id),
        "turn": run.turn.number,
        "attempt": run.attempt,
        "call": row.call,
        "made_at": time_of(row.created_at),
        "planner": row.planner_version,
        "encoding": row.encoding,
        "model": run.settings.get("model", ""),
        "budget": {**body["budget"], "effective": row.budget},
        "sections": body["sections"],
        "items": items_in(body),
        "layout_key": row.layout_key,
        "request_sha256": row.request_sha256,
        "usage": usage_of(row),
        "tools": [tool_of(trace) for trace in row.tool_traces.all()],
        "retrievals": [retrieval_of(found) for found in row.retrieval_sets.all()],
        "thinking": next((thought.text for thought in row.run.thinking.all() if thought.call == row.call), None),
        "outcome": outcome_of(run),
    }


def items_in(body: dict[str, Any]) -> list[dict[str, Any]]:
    items = [Item.from_json(item) for item in body["items"]]
    return [
        {
            **item.to_json(),
            "id": id_of(item),
            "priority": priority_of(item),
            "leaves_in": leaves_in(item),
            "stands_with": needs_of(item, items),
            "sentence": item.sentence,
            "remedy": "" if item.included else item.remedy,
        }
        for item in items
    ]


def usage_of(row: ContextPlan) -> dict[str, int | None]:
    return {
        "counted": row.tokens,
        "reported": row.prompt_tokens,
        "cached": row.cached_tokens,
        "completion": row.completion_tokens,
        "first_token_ms": row.first_token_ms,
        "elapsed_ms": row.elapsed_ms,
    }


def tool_of(trace: ToolTrace) -> dict[str, Any]:
    return {
        "id": trace.tool_call_id,
        "name": trace.name,
        "arguments_sha256": trace.arguments_sha256,
        "result_sha256": trace.result_sha256,
        "message": trace.message_id,
        "elapsed_ms": trace.elapsed_ms,
        "error": trace.error,
    }


def retrieval_of(found: RetrievalSet) -> dict[str, Any]:
    return {
        "retrieval": str(found.pk),
        "trigger": found.trigger,
        "query": found.query,
        "query_hash": found.query_hash,
        "snapshot": found.snapshot,
        "strategy": found.strategy,
        # A secret is known by its shape: in the query it is masked, and among the words by themselves it would not be.
        "params": {name: value for name, value in found.params.items() if name not in WORDS},
        "found": found.found,
        "why": found.why,
        "quoted_tokens": found.tokens,
        "result_hash": found.result_hash,
        "items": [hit_of(item) for item in found.items.all()],
    }


def hit_of(item: RetrievalItem) -> dict[str, Any]:
    return {
        "rank": item.rank,
        "turn": item.turn.number if item.turn else None,
        "message": item.message_id,
        "effort": item.effort.slug if item.effort else None,
        "start": item.start,
        "end": item.end,
        "included": item.included,
        "score": item.score,
        "why": item.why,
    }


def outcome_of(run: Run) -> dict[str, Any]:
    verdict = getattr(run, "verdict", None)
    return {
        "state": run.state,
        "finish_reason": run.finish_reason,
        "error_code": run.error_code,
        "error_text": run.error_text,
        "ended_at": time_of(run.ended_at),
        "verdict": verdict.value if verdict else None,
        "why": verdict.why if verdict else "",
    }


def time_of(moment: datetime | None) -> str | None:
    return moment.isoformat() if moment else None
