"""One run of a turn: read, plan, stream, record; tools, and plan again; until the model gives control back."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Coroutine
from contextlib import AbstractAsyncContextManager, aclosing, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Protocol, TypeVar
from uuid import UUID

from django.db import DatabaseError
from django.db.models import Max

from efforts.actions.files.sending import filled
from efforts.context.connections import KeyUnreadable, ModelChoice, answering, choose, connect_chat
from efforts.context.embedders import Wording, is_offered
from efforts.context.moments import one_moment
from efforts.context.planning import current_turn, has_code, mode_of, plan_inputs, run_inputs, with_found
from efforts.context.recollections import recollect
from efforts.domain.effort.states import CUT_OFF, RunState
from efforts.domain.prompt.budget import BudgetTooSmall, rounded_up
from efforts.domain.prompt.conversation import MESSAGE_OVERHEAD, ToolCall
from efforts.domain.prompt.plan import Plan, PlanInputs, RequiredTooLarge
from efforts.domain.prompt.planner import plan, room_of
from efforts.domain.text.canonical import canonical_json, storable
from efforts.llm.protocol import ChatModel, ModelError, RawToolCall, ReportedUsage, StreamEnd, TextDelta
from efforts.log.concerned import concern, concerning
from efforts.log.events import DELTA, THINKING
from efforts.memory import traces
from efforts.memory.traces import Quoted
from efforts.models import ContextPlan, Run
from efforts.models.threads import patiently, read, write
from efforts.retrieval.index import read_ahead
from efforts.retrieval.recall import Recollection
from efforts.standins import coding
from efforts.standins.coding import CodeFound
from efforts.tools import ToolContext, meaning_asked, run_tool
from efforts.turns import recording
from efforts.turns.calls import LEAST_RESULT, TakenCalls, take_calls
from efforts.turns.recording import BROKEN, COMPLETED, INTERRUPTED, STOPPED, CallReply, Delta, Ending, Lease, LeaseLost

log = logging.getLogger("ccm.turns")
T = TypeVar("T")
Lane = AbstractAsyncContextManager[Any]

# Model calls in one run; the last is made without tools, so that it must answer.
MOST_CALLS = 8


class Stopped(Exception):
    """The person asked for it, or the process is going down."""


class DeltaSink(Protocol):
    def put(self, delta: Delta) -> None: ...

    async def settle(self, run_id: UUID) -> None:
        """Return when no text of this run is on its way any more."""


class Unwatched:
    """Text that nobody watches coming."""

    def put(self, delta: Delta) -> None:
        pass

    async def settle(self, run_id: UUID) -> None:
        pass


@dataclass(kw_only=True, eq=False)
class RunControl:
    """How the runner reaches into a run."""

    lease: Lease
    stop: asyncio.Event = field(default_factory=asyncio.Event)
    going_down: bool = False

    @property
    def ending(self) -> Ending:
        return INTERRUPTED if self.going_down else STOPPED

    async def until_stopped(self, work: Coroutine[Any, Any, T]) -> T:
        """The result of `work`, or `Stopped` as soon as a stop is asked for, however silent the work is."""
        task = asyncio.ensure_future(work)
        stopped = asyncio.ensure_future(self.stop.wait())
        try:
            # A look between two pieces of text would not do: a silent provider sends none for minutes.
            await asyncio.wait({task, stopped}, return_when=asyncio.FIRST_COMPLETED)
            # Both may have happened at once; what has come is not thrown away.
            if task.done():
                return task.result()
            raise Stopped
        finally:
            stopped.cancel()
            task.cancel()
            # Wait until the connection is closed: nothing may stream into a run that has ended.
            await asyncio.gather(task, return_exceptions=True)


@dataclass(kw_only=True)
class Streamed:
    """What has come of one model call so far; what is here when it breaks off is kept."""

    call: int
    pieces: list[str] = field(default_factory=list)
    # Not summed from the pieces: that would make a long reply quadratic.
    length: int = 0
    thoughts: list[str] = field(default_factory=list)
    thought_length: int = 0
    thinking_ms: int | None = None
    tool_calls: tuple[RawToolCall, ...] = ()
    finish_reason: str = ""
    usage: ReportedUsage | None = None
    began: float = field(default_factory=time.monotonic)
    first_token_ms: int | None = None

    def add(self, text: str) -> int:
        """Append; the offset at which `text` begins."""
        offset = self.length
        self.pieces.append(text)
        self.length += len(text)
        if self.first_token_ms is None:
            self.first_token_ms = self.elapsed_ms
        return offset

    def think(self, text: str) -> int:
        """Append to what the model thinks; the offset at which `text` begins."""
        offset = self.thought_length
        self.thoughts.append(text)
        self.thought_length += len(text)
        self.thinking_ms = self.elapsed_ms
        return offset

    @property
    def elapsed_ms(self) -> int:
        return int((time.monotonic() - self.began) * 1000)

    @property
    def text(self) -> str:
        return "".join(self.pieces)

    @property
    def is_empty(self) -> bool:
        # White space is no answer, although it arrives like one.
        return not self.tool_calls and not self.text.strip()

    def reply(self) -> CallReply:
        """Without its calls of tools."""
        return CallReply(
            call=self.call,
            text=self.text,
            finish_reason=self.finish_reason,
            thinking="".join(self.thoughts),
            thinking_ms=self.thinking_ms,
            usage=self.usage,
            first_token_ms=self.first_token_ms,
            elapsed_ms=self.elapsed_ms,
        )


EMPTY = Ending(state=RunState.FAILED, code="empty_reply", text="The model answered with nothing. Retry asks again.")
NOTHING_SAID = Ending(
    state=RunState.FAILED,
    code="cut_before_reply",
    text="The reply limit was used up before the reply began, most likely by thinking. Raise the limit in the settings "
    "of this conversation, then Retry.",
)
ENDLESS = Ending(
    state=RunState.FAILED,
    code="endless_tools",
    text="The model kept calling tools and gave no answer. What the tools did stays done. Retry asks again.",
)


@dataclass(frozen=True, kw_only=True)
class RunMeans:
    """What a run is made with. A replay brings recorded replies and results. `planned` is told of every plan that is
    sent; `silence` is how a reply of nothing ends the run; `lane` is held while a request is planned, and while its
    plan and the end of the run are stored."""

    connect: Callable[[ModelChoice], ChatModel] = connect_chat
    planned: Callable[[Plan], None] = lambda planned: None
    run_tool: Callable[[ToolCall, ToolContext], str] = run_tool
    most_calls: int = MOST_CALLS
    silence: Ending = EMPTY
    lane: Lane = field(default_factory=nullcontext)


@dataclass(frozen=True, kw_only=True)
class Found:
    """What a message needs beside what its prompt shows anyway: of the conversation, and of attached code."""

    recalled: Recollection | None = None
    code: CodeFound | None = None

    def added_to(self, drafted: Plan) -> Plan:
        passages = self.recalled.passages if self.recalled else ()
        if not passages and not self.code:
            return drafted
        inputs = replace(drafted.inputs, recalled=passages)
        return plan(replace(inputs, code=self.code.code) if self.code else inputs)

    def keep(self, run: Run, quoted: Quoted) -> None:
        """To be called in the transaction that stores the plan."""
        if self.code:
            self.code.keep(run)
        if self.recalled:
            traces.record_recall(run, self.recalled, quoted)


async def run_turn(control: RunControl, deltas: DeltaSink, means: RunMeans | None = None) -> None:
    """Answer the turn; every way it can end is a stored state. A lost lease ends it without a word."""
    lease = control.lease
    with concerning(run=lease.run_id, session=lease.session_id, turn=lease.turn_number):
        await end_somehow(control, deltas, means or RunMeans())


async def end_somehow(control: RunControl, deltas: DeltaSink, means: RunMeans) -> None:
    lease = control.lease
    try:
        await call_until_answered(control, deltas, means)
    except LeaseLost:
        log.info("Run %s is no longer ours.", lease.run_id)
    except Stopped:
        await finish(means.lane, lease, control.ending)
    except RequiredTooLarge as error:
        await finish(means.lane, lease, await read(over_budget, lease, error))
    except (ModelError, KeyUnreadable, BudgetTooSmall) as error:
        await finish(means.lane, lease, failure(error))
    except DatabaseError:
        log.exception("Run %s failed in the database.", lease.run_id)
        await finish(means.lane, lease, Ending(state=RunState.FAILED, code="database", text=NO_DATABASE))
    # A broad except: whatever a library raises, the person finds an ended turn with a Retry, and not one that
    # runs for ever.
    except Exception:
        log.exception("Run %s failed.", lease.run_id)
        await finish(means.lane, lease, BROKEN)


NO_DATABASE = (
    "The database did not answer, and the turn could not go on. Your message is kept, and what was stored before. "
    "Retry asks again."
)
PICTURE_MISSING = (
    "The file of a picture in this conversation cannot be read, so nothing was sent. Fork before its message, or "
    "restore the folder of files from a backup."
)


async def finish(lane: Lane, lease: Lease, ending: Ending) -> None:
    try:
        await store_end(lane, lease, partial(recording.end_run, lease, ending))
    except LeaseLost:
        log.info("Run %s is no longer ours.", lease.run_id)


async def store_end(lane: Lane, lease: Lease, store: Callable[[], object]) -> None:
    """`store` is one transaction that ends the run. One that was done although its connection broke is not done twice:
    the run is no longer this runner's then."""

    async def once() -> None:
        # Not while it waits for another try: others may store theirs.
        async with lane:
            await write(store)

    await patiently(once)


async def call_until_answered(control: RunControl, deltas: DeltaSink, means: RunMeans) -> None:
    async with means.lane:
        begun = await read(begin, control.lease)
    run, first, drafted = begun.run, begun.call, begun.drafted
    concern(user=run.turn.session.owner_id)
    model = means.connect(begun.choice)
    # A model of meanings is waited for before the place is taken.
    found = await read(look_back, run, drafted) if drafted and asks_elsewhere(run) else None
    most = first + means.most_calls - 1
    silent = False
    for call in range(first, most + 1):
        last = call == most or silent
        async with means.lane:
            # On a thread, because counting tokens would hold up every socket of the process.
            if drafted and call == first:
                planned, kept = await read(look_and_plan, run, drafted, found)
                await record(control, call, planned, partial(kept.keep, run))
            else:
                planned = await read(read_and_plan_on, run, call, offer_tools=not last)
                await record(control, call, planned)
        means.planned(planned)
        streamed, broken = await stream(control, model, planned, call, deltas)
        # Some models fall silent behind a tool's result; without tools there is nothing left but to answer.
        silent = call > first and bool(planned.inputs.tools) and not broken and streamed.is_empty
        if silent:
            await write(recording.record_reply, control.lease, replace(streamed.reply(), text=""))
            continue
        if broken or not planned.inputs.tools or not streamed.tool_calls:
            await conclude(control.lease, streamed, broken, means)
            return
        taken = await read(take_all, control.lease, planned, streamed)
        reply = replace(streamed.reply(), tool_calls=tuple(one.call for one in taken.calls))
        await read(read_ahead, reply.text)
        # What was said leaves no room for another call: it is the answer.
        if taken.room < 0 and reply.text.strip():
            await store_end(means.lane, control.lease, partial(recording.record_reply, control.lease, reply, COMPLETED))
            return
        await write(recording.record_reply, control.lease, reply)
        await answer_calls(control, run, call, taken, means)


async def record(
    control: RunControl, call: int, planned: Plan, keep: Callable[[Quoted], None] = traces.mark_quoted
) -> None:
    """Before the request: whatever happens from here on, it is known what was sent. Raises `Stopped`."""
    if control.stop.is_set():
        raise Stopped
    plan_id = await write(recording.record_plan, control.lease, call, planned, keep)
    # The row was asked too: a ring may be lost, and nobody should pay for a call that is unwanted.
    if plan_id is None:
        raise Stopped
    concern(plan=plan_id)


def read_and_plan_on(run: Run, call: int, *, offer_tools: bool) -> Plan:
    """Where tools have filled the prompt their schemas make room for the answer."""
    try:
        return read_and_plan(run, offer_tools=offer_tools)
    except RequiredTooLarge:
        if call == 1 or not offer_tools:
            raise
        return read_and_plan(run, offer_tools=False)


def take_all(lease: Lease, planned: Plan, streamed: Streamed) -> TakenCalls:
    """The calls of a reply. Where there is no room for them beside the schemas of tools, the next call has none."""
    inputs = planned.inputs
    prefix = f"c{lease.run_id.hex[:16]}-{streamed.call}"
    room = room_of(inputs) - inputs.count(streamed.text) - MESSAGE_OVERHEAD
    cut_off = streamed.finish_reason == CUT_OFF
    taken = take_calls(streamed.tool_calls, prefix, room, inputs.count, cut_off=cut_off)
    schemas = inputs.count(canonical_json(list(inputs.tools)))
    return taken if taken.room >= 0 else replace(taken, room=taken.room + schemas)


async def answer_calls(control: RunControl, run: Run, call: int, taken: TakenCalls, means: RunMeans) -> None:
    """One by one, so that a stop in between keeps what was done. Raises `Stopped`."""
    lease, room = control.lease, taken.room
    for one in taken.calls:
        if control.stop.is_set():
            raise Stopped
        if one.error:
            await write(recording.record_refused, lease, call, one.call, one.result)
            continue
        room += LEAST_RESULT
        # Before the change is begun: a model may be asked, and others must not wait for it.
        asked = await read(meaning_asked, one.call, run)
        tool = partial(means.run_tool, one.call, ToolContext(run=run, room=room, asked=asked))
        result = await write(recording.run_and_record, lease, call, one.call, tool, room)
        room -= recording.count(result)


@dataclass(frozen=True, kw_only=True)
class Begun:
    """A claimed run, by what it is answered, the number of its first call, and that call's plan without what is still
    to be looked for. A reply that goes on has what was found when it began, and no such plan."""

    run: Run
    choice: ModelChoice
    call: int = 1
    drafted: Plan | None = None


def begin(lease: Lease) -> Begun:
    """Raises `LeaseLost`, `KeyUnreadable`."""
    with one_moment():
        run = recording.claimed_run(lease)
        choice = choose(answering(run.turn.session, run.settings))
        if run.is_continued:
            made = ContextPlan.objects.filter(run=run).aggregate(last=Max("call", default=0))
            return Begun(run=run, choice=choice, call=made["last"] + 1)
        inputs = first_inputs(run)
    return Begun(run=run, choice=choice, drafted=plan(inputs))


def first_inputs(run: Run) -> PlanInputs:
    """Of what the prompt shows anyway. `run` as it is stored now."""
    inputs = plan_inputs(run.branch, run.settings, current=current_turn(run))
    # Of passages there are none yet.
    return with_found(inputs, run) if has_code(run.settings) else inputs


def asks_elsewhere(run: Run) -> bool:
    """Whether looking back waits for a model of meanings; nobody else waits for a place behind that."""
    return run.turn.session.by_meaning and is_offered(run.turn.session)


def look_back(run: Run, drafted: Plan) -> Found:
    """What the message needs of the conversation, and of attached code; once for all calls of the run."""
    mode, today = mode_of(run.settings), run.turn.created_at.date()
    wording = Wording(run.turn.session, drafted.inputs.current.user.text)
    recalled = recollect(run.branch, drafted, mode, today=today, wording=wording)
    if not has_code(run.settings):
        return Found(recalled=recalled)
    fresh = recording.stored_run(run.pk)
    code = coding.registered().look(fresh.branch, fresh.settings, wording.text, wording)
    return Found(recalled=recalled, code=code)


def look_and_plan(run: Run, drafted: Plan, found: Found | None) -> tuple[Plan, Found]:
    """Each change of the thread costs a turn a millisecond or two."""
    found = found or look_back(run, drafted)
    return found.added_to(drafted), found


def read_and_plan(run: Run, *, offer_tools: bool) -> Plan:
    with one_moment():
        inputs = run_inputs(recording.stored_run(run.pk), offer_tools=offer_tools)
    return plan(inputs)


async def conclude(lease: Lease, streamed: Streamed, broken: Ending | None, means: RunMeans) -> None:
    """Save the reply that ends the run. Calls that come although no tools were offered are dropped."""
    silence = means.silence
    if streamed.is_empty and streamed.finish_reason == CUT_OFF:
        silence = NOTHING_SAID
    ending = broken or (COMPLETED if streamed.text.strip() else ENDLESS if streamed.tool_calls else silence)
    reply = streamed.reply()
    async with means.lane:
        await read(read_ahead, reply.text)
    await store_end(means.lane, lease, partial(recording.record_reply, lease, reply, ending))


async def stream(
    control: RunControl, model: ChatModel, planned: Plan, call: int, deltas: DeltaSink
) -> tuple[Streamed, Ending | None]:
    """What came of the call, and how the run ends where it broke off."""
    streamed = Streamed(call=call)
    broken = None
    try:
        await control.until_stopped(receive(control.lease, model, planned, streamed, deltas))
    except Stopped:
        broken = control.ending
    except ModelError as error:
        broken = failure(error)
    # A broad except: what has come was seen, and is kept, whatever a library raises.
    except Exception:
        if streamed.is_empty:
            raise
        log.exception("Run %s failed in the middle of a reply.", control.lease.run_id)
        broken = BROKEN
    # Text that is still on its way would be committed after its message, and be read twice.
    await deltas.settle(control.lease.run_id)
    return streamed, broken


def with_pictures(session_id: UUID, request: dict[str, Any]) -> dict[str, Any]:
    """With their bytes where the plan names them. Raises `ModelError` where these are missing."""
    try:
        return filled(session_id, request)
    except OSError as error:
        raise ModelError("picture_missing", PICTURE_MISSING) from error


async def receive(lease: Lease, model: ChatModel, planned: Plan, streamed: Streamed, deltas: DeltaSink) -> None:
    # Closed here and now: left to the garbage collector, a stopped model would go on writing.
    request = planned.request
    if planned.inputs.sees_pictures:
        request = await read(with_pictures, lease.session_id, request)
    async with aclosing(model.stream(request)) as parts:  # type: ignore[type-var]
        async for part in parts:
            if isinstance(part, StreamEnd):
                streamed.usage, streamed.tool_calls = part.usage, part.tool_calls
                streamed.finish_reason = part.finish_reason
                continue
            text = storable(part.text)
            spoken = isinstance(part, TextDelta)
            offset, kind = (streamed.add(text), DELTA) if spoken else (streamed.think(text), THINKING)
            deltas.put(Delta(lease=lease, call=streamed.call, offset=offset, text=text, kind=kind))


def failure(error: Exception) -> Ending:
    if isinstance(error, ModelError):
        return Ending(state=RunState.FAILED, code=error.code, text=error.text)
    code = "budget_too_small" if isinstance(error, BudgetTooSmall) else "key_unreadable"
    return Ending(state=RunState.FAILED, code=code, text=str(error))


def over_budget(lease: Lease, error: RequiredTooLarge) -> Ending:
    """How a run ends whose next call must be sent more than the budget has."""
    parts = ", ".join(f"{label.lower()} {tokens:,}" for label, tokens in error.parts)
    sizes = f"Too long: {error.needed:,} of {error.budget:,} tokens ({parts})."
    sent = ContextPlan.objects.filter(run=lease.run_id).exists()
    text = f"{NEXT_NOT_SENT if sent else NOTHING_SENT} {sizes}"
    return Ending(state=RunState.FAILED, code="over_budget", text=text, needed=rounded_up(error.needed))


NOTHING_SENT = "Nothing was sent."
NEXT_NOT_SENT = "The next call was not sent; what was said and done before it is kept."
