"""What a runner writes while a run is its own: every function is one short transaction behind the run's lease.

Nobody else may write for a run: each function locks it where the lease still stands in the runner's name, and raises
`LeaseLost` where it does not (another process took the run for dead, or the session was deleted). Text on its way is
dropped instead, as one transaction has that of many runs.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import IntegrityError, InterfaceError, OperationalError, transaction
from django.db.models import Count, Exists, F, OuterRef, QuerySet, Window
from django.db.models.functions import RowNumber
from django.utils import timezone

from efforts.actions.conversations import locked_branch
from efforts.context.connections import KeyUnreadable, answering
from efforts.context.contents import BranchContents
from efforts.context.health import learned_correction
from efforts.context.planning import chosen_settings, tokens_that_count
from efforts.context.references import clipped
from efforts.domain.effort.phrases import Wish, wishes
from efforts.domain.effort.shares import Waiting, next_to_run
from efforts.domain.effort.states import CUT_OFF, RUN_MOVES, RunState, Via
from efforts.domain.prompt.conversation import LogMessage, ToolCall
from efforts.domain.prompt.plan import PLANNER_VERSION, Plan
from efforts.domain.prompt.rendering import wire_calls
from efforts.domain.prompt.stored_inputs import store
from efforts.domain.seals import said_sha256, seal_of
from efforts.domain.text.canonical import canonical_json
from efforts.llm.protocol import ReportedUsage
from efforts.log import events, labels
from efforts.log.timelines import branch_turns, said_in
from efforts.memory import ageing, holds, references, traces
from efforts.memory.traces import Quoted
from efforts.models import Branch, ContextPlan, Event, Fragment, Message, Run, Thinking, Turn, TurnLabel
from efforts.models.flushing import flushed_later
from efforts.models.prepared import first, prepared
from efforts.retrieval.index import add_message, count_tokens
from efforts.standins import coding, compacting
from efforts.tools import error_result

log = logging.getLogger("ccm.turns")

# What of a run says by what it is answered.
ANSWERED_BY = ("turn__session__endpoint", "turn__session__owner")
# Characters of a provider's own word that are kept.
FINISH_REASON = 40
NOT_RUN = error_result("Not run: the turn ended before.")
TOO_LARGE = (
    "Not done: its result has {tokens:,} tokens, and this turn's prompt has room for {room:,} more. "
    "Read less of it, by from_turn and to_turn or by offset, or answer with what you have."
)


class ResultTooLarge(Exception):
    """How many tokens it has."""


class LeaseLost(Exception):
    """The run is no longer this runner's to write."""


@dataclass(frozen=True, kw_only=True)
class Lease:
    """A claimed run, with what its events carry."""

    run_id: UUID
    session_id: UUID
    branch_id: UUID
    turn_number: int
    owner: str

    @classmethod
    def of(cls, run: Run, owner: str) -> Lease:
        """`run` comes with its turn."""
        return cls(
            run_id=run.pk,
            session_id=run.turn.session_id,
            branch_id=run.branch_id,
            turn_number=run.turn.number,
            owner=owner,
        )

    def data(self, **more: Any) -> dict[str, Any]:
        return {"run": str(self.run_id), "turn": self.turn_number, "branch": str(self.branch_id), **more}


@dataclass(frozen=True, kw_only=True)
class Delta:
    """Text, or thinking, of one model call from `offset` (code points of its kind) on, not yet committed."""

    lease: Lease
    call: int
    offset: int
    text: str
    kind: str = events.DELTA

    @property
    def data(self) -> dict[str, Any]:
        return self.lease.data(call=self.call, offset=self.offset, text=self.text)


@dataclass(frozen=True, kw_only=True)
class CallReply:
    """What one model call gave, whole or up to where it broke off."""

    call: int
    text: str
    tool_calls: tuple[ToolCall, ...] = ()
    finish_reason: str = ""
    thinking: str = ""
    thinking_ms: int | None = None
    usage: ReportedUsage | None = None
    first_token_ms: int | None = None
    elapsed_ms: int | None = None


@dataclass(frozen=True, kw_only=True)
class Ending:
    state: RunState
    code: str = ""
    text: str = ""
    needed: int = 0  # budget with which it would have gone


COMPLETED = Ending(state=RunState.COMPLETED)
INTERRUPTED = Ending(
    state=RunState.INTERRUPTED,
    code="interrupted",
    text="The program ended while it was answering. Your message and all text received are kept. Retry asks again.",
)
BROKEN = Ending(
    state=RunState.FAILED,
    code="internal",
    text="Something went wrong in the program itself; the log says what. Your message is kept. Retry asks again.",
)
STOPPED = Ending(state=RunState.STOPPED)
NOTED = Ending(state=RunState.NOTED)


def claim_runs(owner: str, limit: int, reserved: int = 0) -> list[Lease]:
    """Take waiting runs, the first of each branch that has none running, so that each person gets a share.

    `reserved`: so many of `limit` are left to people who have none running.
    """
    each = settings.CCM_PERSON_RUNS
    waiting = [
        Waiting(run=run, person=run.person, place=run.place, since=run.created_at) for run in waiting_runs(each=each)
    ]
    if not waiting:
        return []
    chosen = next_to_run(waiting, dict(running_of_each()), room=limit, reserved=reserved, each=each)
    leases = list[Lease]()
    for run in chosen:
        try:
            lease = claim_or_end(run, owner)
        except (OperationalError, InterfaceError):
            # What is claimed by now is to be answered; the others are tried again.
            if not leases:
                raise
            log.warning("Not all runs could be claimed.", exc_info=True)
            break
        if lease:
            leases.append(lease)
    return leases


@prepared
def waiting_runs(*, each: int) -> QuerySet[Run, Any]:
    """The first of each branch that has none running, at most `each` of a person."""
    earlier = Run.objects.filter(
        branch=OuterRef("branch"), state=RunState.QUEUED, turn__number__lt=OuterRef("turn__number")
    )
    could = Run.objects.filter(state=RunState.QUEUED).exclude(branch__runs__state=RunState.RUNNING)
    places = Window(RowNumber(), partition_by=F("turn__session__owner"), order_by=[F("created_at"), F("pk")])
    rows = could.filter(~Exists(earlier)).annotate(person=F("turn__session__owner"), place=places)
    return rows.filter(place__lte=each).select_related(*ANSWERED_BY)


@prepared
def running_of_each() -> QuerySet[Run, tuple[int, int]]:
    """How many by the key of their person."""
    running = Run.objects.filter(state=RunState.RUNNING).values_list("turn__session__owner")
    return running.annotate(Count("pk")).order_by()


def claim_or_end(run: Run, owner: str) -> Lease | None:
    """A run that cannot begin ends, so that it holds up no other. Raises what a database does that does not answer."""
    try:
        return claim(run, owner)
    except (OperationalError, InterfaceError):
        raise
    # Whatever it is, it would be met again with every try.
    except Exception:
        log.exception("Run %s could not begin.", run.pk)
        lease = Lease.of(run, owner)
        # Another runner may have started one of this branch.
        with suppress(IntegrityError), transaction.atomic():
            if start(run, lease, run.settings):
                end_run(lease, BROKEN)
        return None


def claim(run: Run, owner: str) -> Lease | None:
    """With what it is to be answered by, as the session is set now. None where there is nothing to answer: somebody
    else has it, or the turn was only written down."""
    lease = Lease.of(run, owner)
    try:
        # What is not there any more after a breakdown waits once more: nothing is sent before its plan is flushed.
        with flushed_later():
            if not start(run, lease, settings_of(run)):
                return None
            # What goes on has referred to it before.
            if not run.is_continued:
                references.of_message(run)
            if run.is_note:
                end(lease, run_of(lease), NOTED)
                return None
    except IntegrityError:  # another runner has just started a run of this branch
        return None
    return lease


def start(run: Run, lease: Lease, chosen: dict[str, Any]) -> bool:
    """False where it is no longer queued; else the run has its branch, which is locked. `chosen`: its settings."""
    # One update that must change a row: a cancelled run is not claimed, and a claimed one not cancelled.
    moved = Run.objects.filter(pk=run.pk, state=RunState.QUEUED).update(
        state=RunState.RUNNING,
        lease_owner=lease.owner,
        lease_expires_at=lease_end(),
        started_at=timezone.now(),
        settings=chosen,
    )
    if not moved:
        return False
    # The run, the branch, the session: in one order everywhere, or two would wait for each other.
    [branch] = locked_branch(run.branch_id)
    run.branch = branch
    before = first(sums_before(branch, run.turn.number))
    Turn.objects.filter(pk=run.turn_id).update(tokens_before=sum(before or ()))
    labels.begin(branch, run.turn, attempt=run.attempt, aside=run.is_aside)
    events.append(lease.session_id, "run.started", lease.data(**({"aside": True} if run.is_aside else {})))
    return True


@prepared
def sums_before(branch: Branch, number: int) -> QuerySet[Turn, tuple[int, int]]:
    """Of the turn before that of the number."""
    earlier = branch_turns(branch).filter(number__lt=number)
    # A cancelled turn may never have started, and then has no sum.
    sums = earlier.exclude(run__state=RunState.CANCELLED).order_by("-number")
    return sums.values_list("tokens_before", "tokens")[:1]


def settings_of(run: Run) -> dict[str, Any]:
    """What a run that is claimed is to be answered by; it has them too."""
    asked: dict[str, Any] = run.settings
    if run.is_note:
        return asked
    try:
        chosen = chosen_settings(answering(run.turn.session, asked))
    # It is told as the run begins.
    except KeyUnreadable:
        return asked
    # What a retry asked for this run alone goes before what the session says.
    settled = run.settings = {**chosen, **asked}
    if factor := learned_correction(run):
        settled["correction"] = factor
    return settled


def claimed_run(lease: Lease) -> Run:
    """With its session and whatever answers there. Raises `LeaseLost` where the conversation was deleted meanwhile."""
    run = first(run_with_answerer(lease.run_id))
    if run is None:
        raise LeaseLost(lease.run_id)
    run.branch.session = run.turn.session
    return run


@prepared
def run_with_answerer(run: UUID) -> QuerySet[Run]:
    return Run.objects.select_related(*ANSWERED_BY, "branch").filter(pk=run)


def lease_end() -> datetime:
    return timezone.now() + timedelta(seconds=settings.CCM_LEASE_SECONDS)


def hold(lease: Lease) -> None:
    """Renew the lease and lock the run's row until the transaction ends."""
    mine = Run.objects.filter(pk=lease.run_id, state=RunState.RUNNING, lease_owner=lease.owner)
    if not mine.update(lease_expires_at=lease_end()):
        raise LeaseLost(lease.run_id)


def run_of(lease: Lease, *, ending: bool = False) -> Run:
    """As it is stored now, with its turn, session and branch; this is locked where the run ends."""
    if not ending:
        return stored_run(lease.run_id)
    [run] = locked_run(lease.run_id)
    run.branch.session = run.turn.session
    return run


def stored_run(run_id: UUID) -> Run:
    """With its turn, session and branch. Raises `LeaseLost` where the conversation was deleted meanwhile."""
    for run in read_run(run_id):
        run.branch.session = run.turn.session
        return run
    raise LeaseLost(run_id)


def with_all(run_id: UUID) -> QuerySet[Run]:
    return Run.objects.select_related("turn__session", "branch").filter(pk=run_id)


read_run = prepared(with_all)


@prepared
def locked_run(run_id: UUID) -> QuerySet[Run]:
    """Its branch is what is locked: the run is by its lease."""
    return with_all(run_id).select_for_update(of=("branch",))


def heartbeat(owner: str, run_ids: Iterable[UUID]) -> set[UUID]:
    """Renew the leases; the runs that are still this runner's."""
    mine = Run.objects.filter(pk__in=list(run_ids), state=RunState.RUNNING, lease_owner=owner)
    mine.update(lease_expires_at=lease_end())
    return set(mine.values_list("pk", flat=True))


def stop_requests(run_ids: Collection[UUID]) -> set[UUID]:
    """The runs that shall stop: because somebody asked, or because they are gone with their session."""
    return set(run_ids) - set(going_on(list(run_ids)))


@prepared
def going_on(runs: list[UUID]) -> QuerySet[Run, UUID]:
    return Run.objects.filter(pk__in=runs, stop_requested_at=None).values_list("pk", flat=True)


def record_plan(
    lease: Lease, call: int, plan: Plan, keep: Callable[[Quoted], None] = traces.mark_quoted
) -> UUID | None:
    """Its id; None where somebody has asked the run to stop: then nothing is to be sent. `keep`: stores what was found
    for it, with what it quotes of that; without it that was found and stored for an earlier call.

    Raises `LeaseLost`.
    """
    inputs = store(plan.inputs)
    with transaction.atomic():
        held = first(held_with_branch(lease.run_id, lease.owner))
        if held is None:
            raise LeaseLost(lease.run_id)
        before, stop_requested = held
        if stop_requested:
            return None
        row = ContextPlan(
            session_id=lease.session_id,
            branch_id=lease.branch_id,
            run_id=lease.run_id,
            call=call,
            planner_version=PLANNER_VERSION,
            encoding=settings.CCM_ENCODING,
            budget=plan.budget.effective,
            tokens=plan.tokens,
            layout_key=plan.layout_key,
            request_sha256=plan.request_sha256,
            body={**plan.body(), "inputs": dict(inputs.values)},
            seal_before=before,
        )
        row.seal = seal_of(row.seal_before, row.sealed_content)
        row.save(force_insert=True)
        Branch.objects.filter(pk=lease.branch_id).update(plan_seal=row.seal)
        texts = {**inputs.fragments, **plan.fragments}
        # ignore_conflicts: most are there from earlier calls.
        Fragment.objects.bulk_create(
            [Fragment(session_id=lease.session_id, sha256=sha, text=text) for sha, text in texts.items()],
            ignore_conflicts=True,
        )
        tokens = plan.sections.get("recall", 0)
        keep(Quoted(plan=row, passages=plan.recalled, stays=plan.stays, tokens=tokens))
        if plan.inputs.code.cards:
            shown = tuple(item.values["symbol"] for item in plan.items if item.included and "symbol" in item.values)
            coding.registered().sent(row, shown)
        data = lease.data(plan=str(row.pk), call=call, tokens=plan.tokens, budget=row.budget, seal=row.seal)
        events.append(lease.session_id, "plan.made", data)
    return row.pk


@prepared
def held_with_branch(run: UUID, owner: str) -> QuerySet[Run, tuple[str, datetime | None]]:
    """Locked, as the branch is: the seal of this, and whether somebody has asked the run to stop. No row where the
    lease is lost."""
    mine = Run.objects.select_for_update().filter(pk=run, state=RunState.RUNNING, lease_owner=owner)
    # The run before its branch, as everywhere.
    return mine.values_list("branch__plan_seal", "stop_requested_at")


def write_deltas(deltas: list[Delta]) -> list[Delta]:
    """Commit the text of many runs at once; the text of a run that was lost is dropped. What could not be written yet,
    because somebody else is writing for its run or its conversation: the text of all others does not wait for that.
    """
    # The runner has the text until its message stands.
    with flushed_later():
        owners = {delta.lease.run_id: delta.lease.owner for delta in deltas}
        # Locked, so that nobody ends a run between the look at its owner and the text.
        free, last = dict[UUID, str](), dict[UUID, tuple[int, str]]()
        for run, owner, session, seq, seal in locked_running(list(owners)):
            free[run], last[session] = owner, (seq, seal)
        held = dict(running_of(list(owners.keys() - free))) if len(free) < len(owners) else {}
        mine = [delta for delta in deltas if free.get(delta.lease.run_id) == delta.lease.owner]
        rows = [Event(session_id=one.lease.session_id, kind=one.kind, data=one.data) for one in mine]
        events.append_locked(rows, last)
        return [delta for delta in deltas if held.get(delta.lease.run_id) == delta.lease.owner]


@prepared
def running_of(runs: list[UUID]) -> QuerySet[Run, tuple[UUID, str]]:
    """With their owners."""
    running = Run.objects.filter(pk__in=runs, state=RunState.RUNNING).order_by("pk")
    return running.values_list("pk", "lease_owner")


@prepared
def locked_running(runs: list[UUID]) -> QuerySet[Run, tuple[UUID, str, UUID, int, str]]:
    """Of those that nobody else has locked, nor their sessions: which are locked too, with number and seal of the last
    event."""
    running = Run.objects.filter(pk__in=runs, state=RunState.RUNNING).order_by("pk")
    session = ("turn__session", "turn__session__event_seq", "turn__session__event_seal")
    return running.select_for_update(skip_locked=True).values_list("pk", "lease_owner", *session)


def record_reply(lease: Lease, reply: CallReply, ending: Ending | None = None) -> None:
    """Save what a call gave as a message; its delta rows go. With an ending, the run ends in the same transaction."""
    with transaction.atomic():
        hold(lease)
        run = run_of(lease, ending=ending is not None)
        if reply.text or reply.tool_calls:
            save_message(
                lease,
                run,
                reply.call,
                role=Message.Role.ASSISTANT,
                text=reply.text,
                continues=goes_on(run),
                tool_calls=[{"id": c.id, "name": c.name, "arguments": c.arguments} for c in reply.tool_calls],
                tokens=count(reply.text)
                + (count(canonical_json(wire_calls(reply.tool_calls))) if reply.tool_calls else 0),
            )
        if reply.thinking:
            Thinking.objects.create(
                session_id=lease.session_id,
                run_id=lease.run_id,
                call=reply.call,
                text=reply.thinking,
                elapsed_ms=reply.thinking_ms,
            )
        # In the same transaction: at no moment does the database hold the text twice, or not at all.
        drop_deltas(lease.session_id, lease.run_id)
        record_usage(lease, reply)
        if ending:
            end(lease, run, ending, reply.finish_reason)


def goes_on(run: Run) -> bool:
    """What the run says next goes on in the reply that was cut off."""
    if not run.is_continued:
        return False
    last = Message.objects.filter(run=run).order_by("-pk").values_list("role", "tool_calls").first()
    return last is not None and last == (Message.Role.ASSISTANT, [])


def run_and_record(
    lease: Lease, call: int, tool_call: ToolCall, tool: Callable[[], str], room: int | None = None
) -> str:
    """Run a tool and save its result as one: a lost lease changes nothing, and what was done is on record.

    A result of more than `room` tokens becomes an error, and what the tool did is undone.
    """
    with transaction.atomic():
        hold(lease)
        began = time.monotonic()
        result = tool() if room is None else fitting_result(tool, room)
        run, elapsed = run_of(lease), int((time.monotonic() - began) * 1000)
        save_tool_result(lease, run, call, tool_call, result, elapsed_ms=elapsed)
        references.of_tool(run, tool_call.name, result)
    return result


def fitting_result(tool: Callable[[], str], room: int) -> str:
    try:
        with transaction.atomic():
            result = tool()
            if (tokens := count(result)) > room:
                raise ResultTooLarge(tokens)
    except ResultTooLarge as error:
        return error_result(TOO_LARGE.format(tokens=error.args[0], room=max(room, 0)))
    return result


def record_refused(lease: Lease, call: int, tool_call: ToolCall, result: str) -> None:
    """Save what a call is answered that is not run."""
    with transaction.atomic():
        hold(lease)
        save_tool_result(lease, run_of(lease), call, tool_call, result)


def end_run(lease: Lease, ending: Ending) -> None:
    with transaction.atomic():
        hold(lease)
        run = run_of(lease, ending=True)
        drop_deltas(lease.session_id, lease.run_id)
        end(lease, run, ending)


def end(lease: Lease, run: Run, ending: Ending, finish_reason: str = "") -> None:
    """Move the run to its last state and settle the turn: no call without a result, tokens, clock, event."""
    said = said_in(run)
    # Providers refuse a prompt in which a call has no result.
    answered = {one.tool_call_id for one in said}
    if unanswered := [call for one in said for call in one.tool_calls if call.id not in answered]:
        for call in unanswered:
            save_tool_result(lease, run, 0, call, NOT_RUN)
        said = said_in(run)
    if run.is_continued:
        end_again(lease, run, said, ending, finish_reason)
        return
    contents = BranchContents.of(run.branch)
    move(run, ending, finish_reason)
    if ending.needed:
        Run.objects.filter(pk=run.pk).update(settings={**run.settings, "needed": ending.needed})
    Turn.objects.filter(pk=run.turn_id).update(tokens=tokens_that_count(said, run))
    if ending.state == RunState.COMPLETED:
        # The branch was locked as it was read.
        run.branch.clock += 1
        run.branch.save(update_fields=["clock"])
        offer_conclusion(lease, run, said[0].text, contents)
    ageing.settle(run, said, contents, completed=ending.state == RunState.COMPLETED)
    holds.settle(run, contents, completed=ending.state == RunState.COMPLETED)
    label = labels.settle(run.branch, run.turn)
    if ending.state == RunState.COMPLETED:
        compacting.registered().turn_completed(run.branch)
    close(lease, said, ending, label)


def end_again(lease: Lease, run: Run, said: Sequence[LogMessage], ending: Ending, finish_reason: str) -> None:
    """A reply that went on: its turn was completed before, so that nothing ages once more, and it stays completed
    however this ends. What broke off can go on again."""
    # A model that has nothing to add had said all.
    whole = ending.state == RunState.COMPLETED or ending.code == "empty_reply"
    completed = COMPLETED if whole else replace(ending, state=RunState.COMPLETED, text=said_of_continue(ending.text))
    move(run, completed, finish_reason if whole else CUT_OFF)
    Turn.objects.filter(pk=run.turn_id).update(tokens=tokens_that_count(said, run))
    close(lease, said, completed, labels.settle(run.branch, run.turn))


def said_of_continue(text: str) -> str:
    """What is said of an attempt, of a reply that goes on: there the button is another."""
    return text.replace("Retry", "Continue")


def close(lease: Lease, said: Sequence[LogMessage], ending: Ending, label: TurnLabel | None) -> None:
    """Say that the run has ended."""
    belongs = labels.fields(label)
    told = {"state": str(ending.state), "code": ending.code, **belongs, "said": said_sha256(said)}
    now = timezone.now()
    events.append(lease.session_id, "run.ended", lease.data(**told), last_activity_at=now, answered_at=now)
    transaction.on_commit(events.wake_runners)  # a message may be waiting in this branch


def offer_conclusion(lease: Lease, run: Run, text: str, contents: BranchContents) -> None:
    """Where the person's words end an effort and the model did nothing about it, the page asks."""
    if not contents.has_efforts:
        return
    ended = [
        said.effort for said in wishes(clipped(text), labels.open_efforts(run.branch)) if said.wish == Wish.CONCLUDE
    ]
    if ended and not acted(lease, run):
        data = {"turn": lease.turn_number, "branch": str(run.branch_id), "effort": ended[0], "via": str(Via.OFFER)}
        events.append(lease.session_id, "effort.offered", {**data, "why": "resolved"})


def acted(lease: Lease, run: Run) -> bool:
    """The model changed something about an effort in this turn."""
    mine = {"data__turn": lease.turn_number, "data__branch": str(run.branch_id), "data__via": str(Via.MODEL)}
    return Event.objects.filter(session_id=lease.session_id, kind__startswith="effort.", **mine).exists()


def move(run: Run, ending: Ending, finish_reason: str) -> None:
    if ending.state not in RUN_MOVES[RunState.RUNNING]:
        raise ValueError(f"A run cannot end as {ending.state}.")
    run.state = ending.state
    run.finish_reason = finish_reason[:FINISH_REASON]
    run.error_code, run.error_text = ending.code, ending.text
    run.ended_at = timezone.now()
    run.lease_owner, run.lease_expires_at = "", None
    ended = ("state", "finish_reason", "error_code", "error_text", "ended_at", "lease_owner", "lease_expires_at")
    run.save(update_fields=ended)
    told = (ending.state.value, f": {ending.code}" if ending.code else "")
    transaction.on_commit(partial(log.info, "The run ended, %s%s.", *told))


def recover(is_dead: Callable[[str], bool]) -> int:
    """End the runs whose runner is gone, with the text that was committed kept; how many there were."""
    running = Run.objects.filter(state=RunState.RUNNING).select_related("turn")
    now = timezone.now()
    # On this machine a dead process is known at once; of others only the lease tells.
    dead = [run for run in running if is_dead(run.lease_owner) or (run.lease_expires_at and run.lease_expires_at < now)]
    return sum(interrupt_if_possible(run) for run in dead)


def interrupt_if_possible(run: Run) -> bool:
    """A run that cannot be ended holds up its own conversation, and no other."""
    try:
        return interrupt(run)
    except (OperationalError, InterfaceError):
        raise
    # Whatever it is, the runs behind it are not its affair.
    except Exception:
        log.exception("Run %s could not be ended.", run.pk)
        return False


def interrupt(run: Run) -> bool:
    lease = Lease.of(run, run.lease_owner)
    with transaction.atomic():
        unchanged = Run.objects.filter(
            pk=run.pk, state=RunState.RUNNING, lease_owner=run.lease_owner, lease_expires_at=run.lease_expires_at
        )
        # Changed since it was read: its runner renewed it and lives, or somebody else has ended the run.
        if not unchanged.update(lease_expires_at=lease_end()):
            return False
        call, text, thinking = live_texts(run)
        reply = CallReply(call=call, text=text, thinking=thinking)
        # The person had asked it to end; that it ended otherwise is no news to them.
        record_reply(lease, reply, STOPPED if run.stop_requested_at else INTERRUPTED)
    return True


def live_texts(run: Run) -> tuple[int, str, str]:
    """The call that was being streamed, its committed text and its thinking; call 0 where there was none."""
    rows = Event.objects.filter(session_id=run.turn.session_id, kind__in=events.STREAMED, data__run=str(run.pk))
    streamed = [(row.kind, row.data) for row in rows.order_by("seq")]
    call = streamed[-1][1]["call"] if streamed else 0
    of_call = [(kind, data["text"]) for kind, data in streamed if data["call"] == call]
    text, thinking = ("".join(text for kind, text in of_call if kind == one) for one in events.STREAMED)
    return call, text, thinking


def save_tool_result(
    lease: Lease, run: Run, call: int, tool_call: ToolCall, text: str, *, elapsed_ms: int | None = None
) -> None:
    """The message and its trace; without `elapsed_ms` the tool was never run."""
    message = save_message(
        lease,
        run,
        call,
        role=Message.Role.TOOL,
        text=text,
        tokens=count(text),
        tool_call_id=tool_call.id,
        tool_name=tool_call.name,
    )
    traces.trace_tool(message, tool_call, elapsed_ms)


def save_message(lease: Lease, run: Run, call: int, **fields: Any) -> Message:
    row = add_message(session_id=lease.session_id, turn_id=run.turn_id, run_id=run.pk, **fields)
    events.append(lease.session_id, "message.stands", lease.data(call=call, message=row.pk, role=str(row.role)))
    return row


def drop_deltas(session_id: UUID, run_id: UUID) -> None:
    Event.objects.filter(session_id=session_id, kind__in=events.STREAMED, data__run=str(run_id)).delete()


def record_usage(lease: Lease, reply: CallReply) -> None:
    usage = reply.usage
    ContextPlan.objects.filter(run_id=lease.run_id, call=reply.call).update(
        prompt_tokens=usage.prompt_tokens if usage else None,
        completion_tokens=usage.completion_tokens if usage else None,
        cached_tokens=usage.cached_tokens if usage else None,
        first_token_ms=reply.first_token_ms,
        elapsed_ms=reply.elapsed_ms,
    )


def count(text: str) -> int:
    return count_tokens(text)
