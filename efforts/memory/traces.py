"""What came of a model call, written beside it: tools that ran, and what searches found."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.db.models import Case, Q, QuerySet, When

from efforts.domain.effort.states import Trigger
from efforts.domain.prompt.conversation import Recalled, ToolCall
from efforts.domain.text.canonical import canonical_json, sha256
from efforts.log.timelines import last_said_before
from efforts.models import ContextPlan, Effort, Message, RetrievalItem, RetrievalSet, Run, ToolTrace
from efforts.models.prepared import first, prepared
from efforts.retrieval.recall import Recollection
from efforts.standins.coding import STRATEGY as CODE

# A message, and of a passage its first character and its end.
Place = tuple[int | None, int | None, int | None]


@dataclass(frozen=True, kw_only=True)
class Hit:
    """Something that was found, by its key: an effort, or a message in its turn; `why` are sentences for people.

    `span`: first character and end of a passage.
    """

    score: float
    why: tuple[str, ...]
    turn: int | None = None
    message: int | None = None
    effort: int | None = None
    span: tuple[int, int] | None = None

    @property
    def place(self) -> Place:
        return self.message, *(self.span or (None, None))

    @property
    def target(self) -> list[Any]:
        return [self.effort, self.turn, self.message, *(self.span or ())]


@dataclass(frozen=True, kw_only=True)
class Retrieval:
    """`strategy` names what ranked, with its version; `params` all that the ranking depends on beside the log."""

    query: str
    strategy: str
    hits: Sequence[Hit]
    found: int
    trigger: Trigger = Trigger.TOOL
    params: Mapping[str, Any] = field(default_factory=dict)
    why: str = ""

    @property
    def result_hash(self) -> str:
        ranked = [[*hit.target, float(hit.score), list(hit.why)] for hit in self.hits]
        return sha256(canonical_json([self.found, ranked]))


@dataclass(frozen=True, kw_only=True)
class Quoted:
    """What a plan quotes of the passages that were found for its run, and the tokens that they take with what stands
    beside them; `stays`: what later prompts keep with the turn. The rest leaves, because it stood on free room."""

    plan: ContextPlan
    passages: Collection[Recalled] = ()
    stays: Collection[Recalled] = ()
    tokens: int = 0

    @property
    def places(self) -> set[Place]:
        return {place_of(one) for one in self.passages}

    @property
    def leaves(self) -> set[Place]:
        return self.places - {place_of(one) for one in self.stays}


def place_of(passage: Recalled) -> Place:
    return passage.message.id, passage.start, passage.end


# What was found in attached code has rows of its own (`standins/coding.py`).
IN_CODE = Q(strategy__startswith=CODE)


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
        # As every tool says that it failed. The JSON is canonical: a long result without an error is not parsed.
        error=str(json.loads(message.text)["error"]) if message.text.startswith('{"error"') else "",
    )


def newest_plan(run_id: UUID) -> UUID | None:
    """Of the call that asked for the tools that are answered now: there is no later one before all are answered."""
    return ContextPlan.objects.filter(run_id=run_id).order_by("-call").values_list("pk", flat=True).first()


def record_retrieval(run: Run, retrieval: Retrieval, quoted: Quoted | None = None) -> RetrievalSet:
    """`quoted`: of it by the plan that it was made for. Raises `KeyError` where that quotes what was not found."""
    if quoted and (unknown := quoted.places - {hit.place for hit in retrieval.hits}):
        raise KeyError(unknown)
    # What is found for a message comes before its first plan.
    asking = None if retrieval.trigger == Trigger.AUTO else newest_plan(run.pk)
    row = RetrievalSet.objects.create(
        session_id=run.turn.session_id,
        branch_id=run.branch_id,
        run=run,
        plan_id=quoted.plan.pk if quoted else asking,
        trigger=retrieval.trigger,
        query=retrieval.query,
        query_hash=sha256(retrieval.query),
        snapshot=last_said_before(run.branch, run.turn.number),
        strategy=retrieval.strategy,
        params=dict(retrieval.params),
        found=retrieval.found,
        why=retrieval.why,
        result_hash=retrieval.result_hash,
        tokens=quoted.tokens if quoted else 0,
    )
    stands, leaves = (quoted.places, quoted.leaves) if quoted else (set[Place](), set[Place]())
    RetrievalItem.objects.bulk_create(
        RetrievalItem(
            retrieval=row,
            rank=rank,
            turn_id=hit.turn,
            message_id=hit.message,
            effort_id=hit.effort,
            start=hit.span[0] if hit.span else None,
            end=hit.span[1] if hit.span else None,
            included=hit.place in stands,
            leaves=hit.place in leaves,
            score=hit.score,
            why=list(hit.why),
        )
        for rank, hit in enumerate(retrieval.hits, 1)
    )
    return row


def record_recall(run: Run, found: Recollection, quoted: Quoted | None = None) -> RetrievalSet:
    """What was found for the run, and what its first plan quotes of it; what its last quotes, the others tell."""
    return record_retrieval(run, retrieval_of(run.turn.session_id, found), quoted)


def retrieval_of(session_id: UUID, found: Recollection) -> Retrieval:
    turns = dict(turns_of([one.message.id for one in found.passages]))
    slugs = {one.effort for one in found.passages if one.effort}
    named = Effort.objects.filter(session=session_id, slug__in=slugs).values_list("slug", "pk")
    efforts = dict(named) if slugs else {}
    hits = [
        Hit(
            turn=turns[one.message.id],
            message=one.message.id,
            effort=efforts.get(one.effort),
            span=(one.start, one.end),
            score=one.score,
            why=one.why,
        )
        for one in found.passages
    ]
    return Retrieval(
        query=found.query,
        strategy=found.strategy,
        params=found.params,
        hits=hits,
        found=found.found,
        trigger=Trigger.AUTO,
        why=found.why,
    )


@prepared
def turns_of(messages: list[int]) -> QuerySet[Message, tuple[int, int]]:
    """By the key of each message that of its turn."""
    return Message.objects.filter(pk__in=messages).values_list("pk", "turn")


@prepared
def recalls_of(run: UUID) -> QuerySet[RetrievalSet]:
    return RetrievalSet.objects.filter(run=run, trigger=Trigger.AUTO).exclude(IN_CODE)[:1]


@prepared
def items_of(recall: UUID) -> QuerySet[RetrievalItem, tuple[int, int | None, int | None, int | None]]:
    return RetrievalItem.objects.filter(retrieval=recall).values_list("pk", "message", "start", "end")


def mark_quoted(quoted: Quoted) -> None:
    """What the prompt of a run's last call quotes, of what was found for an earlier one, is what later prompts keep
    with its turn."""
    recall = first(recalls_of(quoted.plan.run_id))
    if recall is None:
        return
    items = {tuple(place): pk for pk, *place in items_of(recall.pk)}
    stands, leaves = [items[place] for place in quoted.places], [items[place] for place in quoted.leaves]
    if items:
        recall.items.update(
            included=Case(When(pk__in=stands, then=True), default=False) if stands else False,
            leaves=Case(When(pk__in=leaves, then=True), default=False) if leaves else False,
        )
    # Of the first call: it is the one that it was made for.
    recall.plan_id, recall.tokens = recall.plan_id or quoted.plan.pk, quoted.tokens
    recall.save(update_fields=["plan", "tokens"])
