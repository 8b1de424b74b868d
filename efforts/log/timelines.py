"""What stands in the timeline of a branch: its ancestors' up to each fork, then its own."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any
from uuid import UUID

from django.db.models import Max, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce

from efforts.domain.effort.states import UNFINISHED, RunState
from efforts.domain.prompt.conversation import OF_PERSON, LogMessage, ToolCall
from efforts.models import Branch, ContextPlan, Event, Message, Run, Session, Turn
from efforts.models.prepared import in_one_row, prepared


def clock_of(branch: Branch) -> int:
    """The completed turns of the branch; a turn that is running counts as one, as what happens in it does."""
    clock = Branch.objects.values_list("clock", flat=True).get(pk=branch.pk)
    return clock + Run.objects.filter(branch=branch, state=RunState.RUNNING).exists()


def in_timeline(branch: Branch, turn: str = "") -> Q:
    """The parents' turns up to each fork, then its own. `turn`: the way to the turn, as in "message__turn__"."""
    timeline = Q(**{f"{turn}branch": branch})
    for one in branch.ancestors:
        timeline |= Q(**{f"{turn}branch": one.branch, f"{turn}number__lte": one.last})
    return timeline


def last_used(sessions: Collection[Session]) -> dict[UUID, Branch]:
    """By conversation the branch in which something was said last, or that was begun since."""
    head = Turn.objects.filter(branch=OuterRef("pk"), number=OuterRef("head"))
    used = Coalesce(Subquery(head.values("created_at")), "created_at")
    rows = Branch.objects.filter(session__in=sessions, archived_at=None).order_by(used)
    return {row.session_id: row for row in rows}


def branch_turns(branch: Branch) -> QuerySet[Turn]:
    turns = Turn.objects.filter(in_timeline(branch))
    # With the session, so that its newest turns are met one by one and not all of them sorted.
    return turns.filter(session=branch.session_id) if branch.lineage else turns


def branch_plans(branch: Branch) -> QuerySet[ContextPlan]:
    """The plans of the turns of its timeline."""
    timeline = Q(branch=branch)
    for one in branch.ancestors:
        timeline |= Q(branch=one.branch, run__turn__number__lte=one.last)
    return ContextPlan.objects.filter(timeline)


def seal_at(parent: Branch, after: int) -> str:
    """Of the last plan that a fork at the end of the turn `after` shares: the first of the fork's own names it."""
    shared = branch_plans(parent).filter(run__turn__number__lte=after)
    return shared.order_by("-created_at").values_list("seal", flat=True).first() or ""


def branch_events(branch: Branch) -> QuerySet[Event]:
    """What happened in its timeline: the parents' events up to each fork, then its own."""
    timeline = Q(data__branch=str(branch.pk))
    for one in branch.ancestors:
        timeline |= Q(data__branch=one.branch, seq__lte=one.seq)
    return Event.objects.filter(timeline, session=branch.session_id).order_by("seq")


def finished_turns(branch: Branch, *, before: int) -> QuerySet[Turn]:
    return branch_turns(branch).filter(number__lt=before).exclude(run__state__in=[RunState.CANCELLED, *UNFINISHED])


LOG_FIELDS = ("id", "role", "text", "tokens", "tool_calls", "tool_call_id", "tool_name", "continues", "picture")


def log_message(row: Message) -> LogMessage:
    return log_message_of([getattr(row, name) for name in LOG_FIELDS])


def said_in(run: Run) -> list[LogMessage]:
    """The person's message first, with its files, and all that came of this attempt at its turn."""
    return [log_message_of(values) for values in said_rows(run.turn_id, run.pk)]


@prepared
def said_rows(turn: int, run: UUID) -> QuerySet[Message, tuple[Any, ...]]:
    rows = Message.objects.filter(Q(role__in=OF_PERSON) | Q(run=run), turn=turn)
    return rows.order_by("id").values_list(*LOG_FIELDS)


def log_message_of(values: Sequence[Any]) -> LogMessage:
    given = dict(zip(LOG_FIELDS, values, strict=True))
    calls = tuple(ToolCall(**call) for call in given["tool_calls"])
    return LogMessage(**{**given, "tool_calls": calls})


def last_said_before(branch: Branch, number: int) -> int:
    """Id of the last message that a search made in the turn `number` can find; 0 where there is none."""
    [(newest,)] = newest_before(branch, number)
    return newest


@prepared
def newest_before(branch: Branch, number: int) -> QuerySet[Message, tuple[int, ...]]:
    earlier = branch_turns(branch).filter(number__lt=number).exclude(run__state=RunState.CANCELLED)
    last = Subquery(earlier.order_by("-number").values("pk")[:1])
    return in_one_row(Message.objects.filter(turn=last), newest=Max("id", default=0))
