"""Turns as the chat page shows them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from itertools import takewhile
from typing import Any
from uuid import UUID

from django.db.models import Count, Q, QuerySet
from django.utils import timezone
from django.utils.safestring import SafeString

from efforts.actions.conversations import LARGEST_REPLY
from efforts.context.connections import label_of
from efforts.context.embedders import is_offered
from efforts.context.holds import read_standing
from efforts.context.scopes import CoverView, covers_of
from efforts.domain.effort.money import Money
from efforts.domain.effort.policy import ContextMode
from efforts.domain.effort.states import RETRYABLE, UNFINISHED, RunState, Trigger, is_cut_off
from efforts.domain.prompt import need
from efforts.domain.prompt.budget import Budget
from efforts.log.events import DELTA, THINKING
from efforts.log.exclusions import left_out
from efforts.log.timelines import branch_turns
from efforts.memory.traces import IN_CODE
from efforts.models import (
    Branch,
    ContextPlan,
    Event,
    Message,
    MessageFile,
    RetrievalSet,
    Run,
    Session,
    Thinking,
    Turn,
    TurnLabel,
    Verdict,
)
from efforts.models.prepared import prepared
from efforts.pages.markdown import Cited, render, render_finished
from efforts.pages.presenters.calls import readable, words_of
from efforts.pages.presenters.citations import cited_in
from efforts.pages.presenters.costs import cost_of
from efforts.pages.presenters.files import sent_views
from efforts.pages.presenters.notices import NoticeGroup, notice_groups
from efforts.pages.presenters.siblings import MOST, PAGE, Family, Siblings, family_of
from efforts.standins import coding

# Read at once of text that streams; a block has seldom more.
LIVE_ROWS = 50
THOUGHTS_APART = "\n\n"
# They were needed, and yet none is quoted.
NO_ROOM = "The prompt shows them already, or had no room for them."
# Neither id nor name.
NO_EFFORT = ("", "")


@dataclass(frozen=True, kw_only=True)
class PartView:
    """One piece of a reply: prose, or a tool call with its result."""

    kind: str
    message_id: int
    text: str = ""
    cited: Cited = ()
    tool_name: str = ""
    tool_words: str = ""
    tool_arguments: str = ""
    tool_result: str = ""
    tool_failed: bool = False

    @cached_property
    def html(self) -> SafeString:
        # Where it is shown alone: an export has the text.
        return render(self.text, self.cited)

    @property
    def tool_asked(self) -> str:
        return readable(self.tool_arguments)


@dataclass(frozen=True, kw_only=True)
class RecallView:
    """What was recalled for a turn, as it was: how many passages its prompt quoted of those that were found, and what
    they took; `why`: why none was; `needless`: none was needed; `fault`: why words alone were compared, where meanings
    should have been; `offered`: some were, and no model of meanings is connected that might find them; `plan_id`: of
    the call that looked."""

    mode: str
    passages: int
    tokens: int
    found: int = 0
    cards: int = 0
    code_tokens: int = 0
    fault: str = ""
    why: str = ""
    needless: bool = False
    offered: bool = False
    plan_id: UUID | None = None


@dataclass(frozen=True, kw_only=True)
class TurnView:
    number: int
    user_text: str
    created_at: datetime
    state: str
    run_id: UUID
    attempt: int
    error_code: str
    error_text: str
    retryable: bool
    cancellable: bool
    fixes: tuple[dict[str, Any], ...]
    parts: tuple[PartView, ...]
    live_text: str
    live_html: str
    live_from: int
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
    cost: Money | None = None
    effort: str = ""
    effort_name: str = ""
    pin: int | None = None
    notices: tuple[NoticeGroup, ...] = ()
    siblings: Siblings | None = None
    shared: bool = False
    verdict: Verdict | None = None
    recall: RecallView | None = None
    thinking: str = ""
    thinking_ms: int | None = None
    thought_length: int = 0
    waited_seconds: int = 0
    finish_reason: str = ""
    continuable: bool = False
    cover: CoverView | None = None
    left_out: bool = False
    # Of a turn that waits: how many turns of the same person come first; None where one before it in the branch does.
    ahead: int | None = None
    proposed: tuple[coding.Proposed, ...] = ()
    files: Sequence[MessageFile] = ()

    @property
    def live_tail(self) -> str:
        """What of the text that streams is no finished block yet."""
        return self.live_text[self.live_from :]

    @property
    def live_finished(self) -> str:
        return self.live_text[: self.live_from].rstrip("\n")


@dataclass(frozen=True, kw_only=True)
class ChatPage:
    """A stretch of the log, oldest first, with the number of the last event it includes.

    `notices` stand before the first turn.
    """

    seq: int
    turns: tuple[TurnView, ...]
    has_earlier: bool
    has_later: bool
    running: TurnView | None
    notices: tuple[NoticeGroup, ...] = ()


def chat_page(
    branch: Branch,
    *,
    before: int | None = None,
    after: int | None = None,
    around: int | None = None,
    since: int | None = None,
    count: int = PAGE,
) -> ChatPage:
    """The newest turns, or those before, after or around one; `since`: from that one on, as many as a page holds."""
    # The number first: what happens while the rest is read comes again as an event, and does no harm.
    seq = Session.objects.values_list("event_seq", flat=True).get(pk=branch.session_id)
    rows = branch_turns(branch).exclude(run=None).select_related("run")
    if around is not None:
        older = list(rows.filter(number__lte=around).order_by("-number")[: count // 2])
        newer = list(rows.filter(number__gt=around).order_by("number")[: count // 2])
        shown = [*reversed(older), *newer]
    elif after is not None:
        shown = list(rows.filter(number__gt=after).order_by("number")[:count])
    elif since is not None:
        shown = list(reversed(rows.filter(number__gte=since).order_by("-number")[:MOST]))
    else:
        if before is not None:
            rows = rows.filter(number__lt=before)
        shown = list(reversed(rows.order_by("-number")[:count]))
    every = branch_turns(branch).exclude(run=None)
    has_earlier = bool(shown) and every.filter(number__lt=shown[0].number).exists()
    has_later = bool(shown) and every.filter(number__gt=shown[-1].number).exists()
    opening = () if has_earlier or after is not None else (0,)
    notices = notice_groups(branch, [*opening, *(turn.number for turn in shown)])
    turns = turn_views(branch, shown, notices)
    running = next((turn for turn in turns if turn.state == RunState.RUNNING), None)
    return ChatPage(
        seq=seq,
        turns=turns,
        has_earlier=has_earlier,
        has_later=has_later,
        running=running,
        notices=notices.get(0, ()),
    )


def turn_view(branch: Branch, number: int) -> TurnView | None:
    rows = branch_turns(branch).exclude(run=None).filter(number=number).select_related("run")
    return next(iter(turn_views(branch, list(rows))), None)


def turn_views(
    branch: Branch, turns: list[Turn], notices: Mapping[int, tuple[NoticeGroup, ...]] | None = None
) -> tuple[TurnView, ...]:
    """`notices`: what `notice_groups` has of them, where that has been read."""
    runs = [turn.run for turn in turns if turn.run is not None]
    keys, run_keys = [turn.pk for turn in turns], [run.pk for run in runs]
    messages = grouped(read_messages(keys, run_keys), "turn_id")
    plans = grouped(read_plans(run_keys), "run_id")
    live = live_texts(branch.session_id, runs)
    thoughts = thoughts_of(branch.session_id, runs)
    notices = notice_groups(branch, [turn.number for turn in turns]) if notices is None else notices
    family = family_of(branch)
    cited = cited_in(branch, {turn.number: messages[turn.pk][1:] for turn in turns})
    verdicts = {verdict.run_id: verdict for verdict in read_verdicts(run_keys)}
    recalls = recall_views(runs)
    proposed = coding.registered().proposed(run_keys)
    covers = covers_of(branch, turns)
    gone = set(left_out(branch).filter(turn__in=turns).values_list("turn", flat=True))
    files = sent_views(turns)
    pins = {row.turn_id: row.pk for row in read_standing(branch)}
    labels = {pk: (slug, name) for pk, slug, name in read_labels(branch, keys)}
    calls = any(row.tool_calls for rows in messages.values() for row in rows)
    names = dict(branch.session.efforts.values_list("slug", "name")) if calls else {}
    return tuple(
        replace(
            one_view(
                turn, turn.run, family, messages[turn.pk], plans.get(turn.run.pk, []), live, cited[turn.number], names
            ),
            effort=labels.get(turn.pk, NO_EFFORT)[0],
            effort_name=labels.get(turn.pk, NO_EFFORT)[1],
            pin=pins.get(turn.pk),
            notices=notices.get(turn.number, ()),
            siblings=family.siblings(turn.number),
            verdict=verdicts.get(turn.run.pk),
            recall=recalls.get(turn.run.pk),
            cover=covers.get(turn.pk),
            left_out=turn.pk in gone,
            proposed=proposed.get(turn.run.pk, ()),
            files=files.get(turn.pk, ()),
            **thoughts.get(turn.run.pk, {}),
            ahead=ahead_of(turn.run, branch.session.owner_id) if turn.run.state == RunState.QUEUED else None,
        )
        for turn in turns
        if turn.run is not None
    )


@prepared
def read_messages(turns: list[int], runs: list[UUID]) -> QuerySet[Message]:
    return Message.objects.filter(Q(role="user") | Q(run__in=runs), turn__in=turns).order_by("id")


@prepared
def read_plans(runs: list[UUID]) -> QuerySet[ContextPlan]:
    """A plan's body is its large part, and is shown on the plan's own page."""
    return ContextPlan.objects.filter(run__in=runs).defer("body").order_by("call")


@prepared
def read_verdicts(runs: list[UUID]) -> QuerySet[Verdict]:
    return Verdict.objects.filter(run__in=runs)


@prepared
def read_thinking(runs: list[UUID]) -> QuerySet[Thinking]:
    return Thinking.objects.filter(run__in=runs)


@prepared
def read_sets(runs: list[UUID]) -> QuerySet[RetrievalSet, tuple[UUID, UUID | None]]:
    """Of what was looked for without being asked, the plan that each is of."""
    sets = RetrievalSet.objects.filter(run__in=runs, trigger=Trigger.AUTO)
    return sets.order_by("-pk").values_list("run", "plan")


@prepared
def read_labels(branch: Branch, turns: list[int]) -> QuerySet[TurnLabel, tuple[int, str, str]]:
    labelled = TurnLabel.objects.filter(branch=branch, turn__in=turns)
    return labelled.values_list("turn_id", "effort__slug", "effort__name")


def ahead_of(run: Run, person: int) -> int | None:
    unfinished = Run.objects.filter(state__in=UNFINISHED)
    if unfinished.filter(branch=run.branch_id, created_at__lt=run.created_at).exists():
        return None
    return unfinished.filter(turn__session__owner=person, created_at__lt=run.created_at).count()


def recall_views(runs: list[Run]) -> dict[UUID, RecallView]:
    """Of the runs for which something was looked for."""
    # Code is looked for by the same call; of a set that was kept without a plan the turn's own is shown.
    kept = read_sets([run.pk for run in runs])
    if not kept:
        return {}
    plans = {run: plan for run, plan in kept if plan}
    sets = RetrievalSet.objects.filter(run__in=runs, trigger=Trigger.AUTO)
    looked = sets.exclude(IN_CODE).exclude(query="").select_related("run", "session__endpoint")
    counted = looked.annotate(quoted=Count("items", filter=Q(items__included=True)))
    views = {
        row.run_id: RecallView(
            mode=ContextMode(row.run.settings["context_mode"]).label,
            passages=row.quoted,
            found=row.found,
            tokens=row.tokens,
            fault=row.params.get("words_alone", ""),
            why="" if row.quoted else NO_ROOM if row.why in (need.NEEDED, need.LITTLE_NEEDED) else row.why,
            needless=is_needless(row),
            offered=not row.quoted and not row.tokens and not is_needless(row) and not is_offered(row.session),
            plan_id=plans.get(row.run_id),
        )
        for row in counted
    }
    code = coding.registered().shown([run.pk for run in runs])
    for run in runs:
        if run.pk in code:
            mode = ContextMode(run.settings["context_mode"]).label
            view = views.get(run.pk) or RecallView(mode=mode, passages=0, tokens=0, plan_id=plans.get(run.pk))
            cards, tokens = code[run.pk]
            views[run.pk] = replace(view, cards=cards, code_tokens=tokens)
    return views


def is_needless(row: RetrievalSet) -> bool:
    """All that was found, or the best of it, is in the prompt anyway."""
    return row.why == need.SHOWN_BETTER or (row.why == need.NOTHING_FOUND and row.found > 0)


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


def thoughts_of(session_id: UUID, runs: list[Run]) -> dict[UUID, dict[str, Any]]:
    """What the model thought in each run, before all calls together, and how long; of a running one so far."""
    found: dict[UUID, dict[str, Any]] = {}
    for run, rows in grouped(read_thinking([run.pk for run in runs]), "run_id").items():
        text, ms = THOUGHTS_APART.join(row.text for row in rows), total([row.elapsed_ms for row in rows])
        found[run] = {"thinking": text, "thinking_ms": ms}
    for run in runs:
        if run.state == RunState.RUNNING and (coming := coming_thought(session_id, run)):
            before = found[run.pk]["thinking"] + THOUGHTS_APART if run.pk in found else ""
            found[run.pk] = {"thinking": before + coming, "thought_length": len(coming)}
    return found


def coming_thought(session_id: UUID, run: Run) -> str:
    rows = Event.objects.filter(session=session_id, kind=THINKING, data__run=str(run.pk)).order_by("seq")
    return "".join(row.data["text"] for row in rows)


def live_from(run: Run, call: int, offset: int) -> str:
    """The committed text of the call that streams, from `offset` on; reads no more of it."""
    rows = Event.objects.filter(session=run.turn.session_id, kind=DELTA, data__run=str(run.pk), data__call=call)
    text = ""
    for data in rows.order_by("-seq").values_list("data", flat=True).iterator(chunk_size=LIVE_ROWS):
        text = data["text"] + text
        if data["offset"] <= offset:
            return str(text[offset - data["offset"] :])
    return ""


def waited(plan: ContextPlan) -> int:
    """Seconds since what was planned was sent. A worker's clock may be ahead of this one."""
    return max(0, int((timezone.now() - plan.created_at).total_seconds()))


def one_view(
    turn: Turn,
    run: Run,
    family: Family,
    messages: list[Message],
    plans: list[ContextPlan],
    live: Mapping[str, tuple[int, str]],
    cited: Cited,
    names: Mapping[str, str],
) -> TurnView:
    state = RunState(run.state)
    live_call, live_text = live.get(str(run.pk), (0, ""))
    live_html, live_from = render_finished(live_text)
    shared = family.shares(turn)
    retryable = state in RETRYABLE and turn.number == family.branch.head and not shared
    return TurnView(
        number=turn.number,
        user_text=messages[0].text,
        created_at=turn.created_at,
        state=state,
        run_id=run.pk,
        attempt=run.attempt,
        error_code=run.error_code,
        error_text=run.error_text,
        retryable=retryable,
        shared=shared and state in RETRYABLE,
        cancellable=state == RunState.QUEUED and not run.is_note,
        finish_reason=run.finish_reason,
        continuable=is_cut_off(state, run.finish_reason) and turn.number == family.branch.head and not shared,
        fixes=fixes_of(run) if retryable else (),
        parts=tuple(parts_of(messages[1:], cited, names)),
        live_text=live_text,
        live_html=live_html,
        live_from=live_from,
        live_call=live_call,
        stopping=state == RunState.RUNNING and run.stop_requested_at is not None,
        model=label_of(run.settings),
        **usage_of(plans),
        cost=cost_of(plans, run.settings) if plans else None,
        waited_seconds=waited(plans[-1]) if plans and state == RunState.RUNNING else 0,
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


def parts_of(messages: list[Message], cited: Cited, names: Mapping[str, str]) -> Iterable[PartView]:
    results = {row.tool_call_id: row for row in messages if row.role == Message.Role.TOOL}
    for row in messages:
        if row.role != Message.Role.ASSISTANT:
            continue
        if row.text.strip():
            text = whole_text(row, messages)
            if text:
                yield PartView(kind="text", message_id=row.pk, text=text, cited=cited)
        for call in row.tool_calls:
            yield tool_part(row, call, results.get(call["id"]), names)


def whole_text(first: Message, messages: list[Message]) -> str:
    """With what goes on in it; nothing where it is itself what goes on."""
    if first.continues:
        return ""
    after = (row for row in messages if row.pk > first.pk)
    return "".join([first.text, *(row.text for row in takewhile(lambda row: row.continues, after))])


def tool_part(row: Message, call: dict[str, str], result: Message | None, names: Mapping[str, str]) -> PartView:
    text = result.text if result else ""
    # How every tool says that it failed (efforts/tools), canonical JSON having no spaces.
    failed = text.startswith('{"error"')
    return PartView(
        kind="tool",
        message_id=row.pk,
        tool_name=call["name"],
        tool_words=words_of(call["name"], call["arguments"], text, failed=failed, names=names),
        tool_arguments=call["arguments"],
        tool_result=text,
        tool_failed=failed,
    )


def fixes_of(run: Run) -> tuple[dict[str, Any], ...]:
    """What can be changed with one click before trying again."""
    if run.error_code == "cut_before_reply" and run.settings.get("reply_limit"):
        raised = min(run.settings["reply"] * 4, LARGEST_REPLY)
        return ({"label": f"Raise the reply limit to {raised:,}", "changes": {"reply_limit": raised}},)
    if run.error_code != "over_budget":
        return ()
    cut = {"label": "Send only the beginning and end", "changes": {"cut_current": True}}
    needed, window = run.settings.get("needed"), run.settings.get("window")
    largest = Budget(setting=0, window=window).largest_setting
    if not needed or (largest is not None and needed > largest):
        return (cut,)
    return ({"label": f"Raise the budget to {needed:,}", "changes": {"budget": needed}}, cut)
