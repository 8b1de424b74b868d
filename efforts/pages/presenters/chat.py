"""Turns as the chat page shows them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Count, Q

from efforts.context.holds import rows_of
from efforts.context.scopes import CoverView, covers_of
from efforts.domain.effort.policy import ContextMode
from efforts.domain.effort.states import RETRYABLE, HoldState, RunState, Trigger
from efforts.domain.prompt.budget import Budget
from efforts.log.events import DELTA
from efforts.log.timelines import branch_turns
from efforts.models import Branch, ContextPlan, Event, Message, RetrievalSet, Run, Session, Turn, TurnLabel, Verdict
from efforts.pages.markdown import Cited, render
from efforts.pages.presenters.citations import cited_in
from efforts.pages.presenters.notices import NoticeGroup, notice_groups
from efforts.pages.presenters.siblings import PAGE, Family, Siblings, family_of


@dataclass(frozen=True, kw_only=True)
class PartView:
    """One piece of a reply: prose, or a tool call with its result."""

    kind: str
    message_id: int
    html: str = ""
    text: str = ""
    tool_name: str = ""
    tool_arguments: str = ""
    tool_result: str = ""
    tool_failed: bool = False


@dataclass(frozen=True, kw_only=True)
class RecallView:
    """What was recalled for a turn, as it was: how many passages its prompt quoted, and what they took."""

    mode: str
    passages: int
    tokens: int


@dataclass(frozen=True, kw_only=True)
class TurnView:
    number: int
    turn_id: int
    user_text: str
    created_at: datetime
    state: str
    state_label: str
    run_id: UUID
    attempt: int
    error_code: str
    error_text: str
    retryable: bool
    cancellable: bool
    fixes: tuple[dict[str, Any], ...]
    parts: tuple[PartView, ...]
    live_text: str
    live_call: int
    stopping: bool
    model: str
    calls: int = 0
    estimated_tokens: int | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cached_tokens: int | None = None
    elapsed_ms: int | None = None
    plan_id: UUID | None = None
    effort: str = ""
    pin: int | None = None
    notices: tuple[NoticeGroup, ...] = ()
    siblings: Siblings | None = None
    shared: bool = False
    verdict: Verdict | None = None
    recall: RecallView | None = None
    cover: CoverView | None = None


@dataclass(frozen=True, kw_only=True)
class ChatPage:
    """A stretch of the log, oldest first, with the number of the last event it includes.

    `notices` stand before the first turn.
    """

    seq: int
    turns: tuple[TurnView, ...]
    has_earlier: bool
    running: TurnView | None
    notices: tuple[NoticeGroup, ...] = ()


def chat_page(branch: Branch, *, before: int | None = None, count: int = PAGE) -> ChatPage:
    # The number first: what happens while the rest is read comes again as an event, and does no harm.
    seq = Session.objects.values_list("event_seq", flat=True).get(pk=branch.session_id)
    rows = branch_turns(branch).exclude(run=None).select_related("run").order_by("-number")
    if before is not None:
        rows = rows.filter(number__lt=before)
    newest = list(rows[: count + 1])
    turns = turn_views(branch, list(reversed(newest[:count])))
    running = next((turn for turn in turns if turn.state == RunState.RUNNING), None)
    has_earlier = len(newest) > count
    opening = () if has_earlier else notice_groups(branch, [0]).get(0, ())
    return ChatPage(seq=seq, turns=turns, has_earlier=has_earlier, running=running, notices=opening)


def turn_view(branch: Branch, number: int) -> TurnView | None:
    rows = branch_turns(branch).exclude(run=None).filter(number=number).select_related("run")
    return next(iter(turn_views(branch, list(rows))), None)


def turn_views(branch: Branch, turns: list[Turn]) -> tuple[TurnView, ...]:
    runs = [turn.run for turn in turns if turn.run is not None]
    messages = grouped(
        Message.objects.filter(Q(role="user") | Q(run__in=runs), turn__in=turns).order_by("id"), "turn_id"
    )
    # A plan's body is its large part, and is shown on the plan's own page.
    plans = grouped(ContextPlan.objects.filter(run__in=runs).defer("body").order_by("call"), "run_id")
    live = live_texts(branch.session_id, runs)
    notices = notice_groups(branch, [turn.number for turn in turns])
    family = family_of(branch)
    cited = cited_in(branch, {turn.number: messages[turn.pk][1:] for turn in turns})
    verdicts = {verdict.run_id: verdict for verdict in Verdict.objects.filter(run__in=runs)}
    recalls = recall_views(runs)
    covers = covers_of(branch, turns)
    pins = dict(rows_of(branch, HoldState.STANDING).filter(turn__in=turns).values_list("turn_id", "pk"))
    labels = dict(TurnLabel.objects.filter(branch=branch, turn__in=turns).values_list("turn_id", "effort__slug"))
    return tuple(
        replace(
            one_view(turn, turn.run, family, messages[turn.pk], plans.get(turn.run.pk, []), live, cited[turn.number]),
            effort=labels.get(turn.pk, ""),
            pin=pins.get(turn.pk),
            notices=notices.get(turn.number, ()),
            siblings=family.siblings(turn.number),
            verdict=verdicts.get(turn.run.pk),
            recall=recalls.get(turn.run.pk),
            cover=covers.get(turn.pk),
        )
        for turn in turns
        if turn.run is not None
    )


def recall_views(runs: list[Run]) -> dict[UUID, RecallView]:
    """Of the runs for which something was looked for."""
    looked = RetrievalSet.objects.filter(run__in=runs, trigger=Trigger.AUTO).exclude(query="").select_related("run")
    counted = looked.annotate(quoted=Count("items", filter=Q(items__included=True)))
    return {
        row.run_id: RecallView(
            mode=ContextMode(row.run.settings["context_mode"]).label, passages=row.quoted, tokens=row.tokens
        )
        for row in counted
    }


def grouped(rows: Iterable[Any], key: str) -> dict[Any, list[Any]]:
    groups: dict[Any, list[Any]] = {}
    for row in rows:
        groups.setdefault(getattr(row, key), []).append(row)
    return groups


def live_texts(session_id: UUID, runs: list[Run]) -> dict[str, tuple[int, str]]:
    """Of each running run the call being streamed and its committed text."""
    running = [str(run.pk) for run in runs if run.state == RunState.RUNNING]
    if not running:
        return {}
    live: dict[str, tuple[int, str]] = {}
    # Delta rows go when their message stands: these are of the calls that stream now.
    for row in Event.objects.filter(session=session_id, kind=DELTA).order_by("seq"):
        run, call, text = row.data["run"], row.data["call"], row.data["text"]
        before = live.get(run, (call, ""))
        live[run] = (call, before[1] + text if before[0] == call else text)
    return {run: text for run, text in live.items() if run in running}


def one_view(
    turn: Turn,
    run: Run,
    family: Family,
    messages: list[Message],
    plans: list[ContextPlan],
    live: Mapping[str, tuple[int, str]],
    cited: Cited,
) -> TurnView:
    state = RunState(run.state)
    live_call, live_text = live.get(str(run.pk), (0, ""))
    shared = family.shares(turn)
    retryable = state in RETRYABLE and turn.number == family.branch.head and not shared
    return TurnView(
        number=turn.number,
        turn_id=turn.pk,
        user_text=messages[0].text,
        created_at=turn.created_at,
        state=state,
        state_label=state.label,
        run_id=run.pk,
        attempt=run.attempt,
        error_code=run.error_code,
        error_text=run.error_text,
        retryable=retryable,
        shared=shared and state in RETRYABLE,
        cancellable=state == RunState.QUEUED and not run.is_note,
        fixes=fixes_of(run) if retryable else (),
        parts=tuple(parts_of(messages[1:], cited)),
        live_text=live_text,
        live_call=live_call,
        stopping=state == RunState.RUNNING and run.stop_requested_at is not None,
        model=run.settings.get("label", ""),
        **usage_of(plans),
    )


def usage_of(plans: list[ContextPlan]) -> dict[str, Any]:
    """Of the whole run; a sum only where every call reported."""
    if not plans:
        return {}
    return {
        "calls": len(plans),
        "estimated_tokens": sum(plan.tokens for plan in plans),
        "prompt_tokens": total([plan.prompt_tokens for plan in plans]),
        "completion_tokens": total([plan.completion_tokens for plan in plans]),
        "cached_tokens": total([plan.cached_tokens for plan in plans]),
        "elapsed_ms": total([plan.elapsed_ms for plan in plans]),
        "plan_id": plans[-1].pk,
    }


def total(counts: list[int | None]) -> int | None:
    # One call without a report makes the sum unknown: a part of it would pass for the whole.
    known = [count for count in counts if count is not None]
    return sum(known) if len(known) == len(counts) else None


def parts_of(messages: list[Message], cited: Cited) -> Iterable[PartView]:
    results = {row.tool_call_id: row for row in messages if row.role == Message.Role.TOOL}
    for row in messages:
        if row.role != Message.Role.ASSISTANT:
            continue
        if row.text.strip():
            yield PartView(kind="text", message_id=row.pk, text=row.text, html=render(row.text, cited))
        for call in row.tool_calls:
            yield tool_part(row, call, results.get(call["id"]))


def tool_part(row: Message, call: dict[str, str], result: Message | None) -> PartView:
    text = result.text if result else ""
    return PartView(
        kind="tool",
        message_id=row.pk,
        tool_name=call["name"],
        tool_arguments=call["arguments"],
        tool_result=text,
        # How every tool says that it failed (efforts/tools), canonical JSON having no spaces.
        tool_failed=text.startswith('{"error"'),
    )


def fixes_of(run: Run) -> tuple[dict[str, Any], ...]:
    """What can be changed with one click before trying again."""
    if run.error_code != "over_budget":
        return ()
    cut = {"label": "Send its beginning and end", "changes": {"cut_current": True}}
    needed, window = run.settings.get("needed"), run.settings.get("window")
    largest = Budget(setting=0, window=window).largest_setting
    if not needed or (largest is not None and needed > largest):
        return (cut,)
    return ({"label": f"Raise the budget to {needed:,}", "changes": {"budget": needed}}, cut)
