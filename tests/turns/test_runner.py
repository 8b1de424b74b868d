"""What a runner does when the database is slow, away, or written by somebody else at the same time."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from contextlib import suppress
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import OperationalError, connection, transaction

from efforts import actions
from efforts.log import events
from efforts.management.commands import run_turns
from efforts.memory import references
from efforts.models import Branch, Event, Message, Run, Session
from efforts.models.threads import read
from efforts.turns import demo, recording
from efforts.turns import runner as module
from efforts.turns.orchestrator import RunControl
from efforts.turns.recording import COMPLETED, CallReply, Delta, Lease, LeaseLost
from efforts.turns.runner import DeltaWriter, Runner, stop
from tests.fakes.provider import FakeProvider
from tests.fakes.provider import Reply as Said
from tests.turns.conftest import PATIENCE, Stage
from tests.waiting import beside, wait_until_somebody_waits

on_postgres = pytest.mark.skipif("connection.vendor == 'sqlite'", reason="SQLite has one writer at a time.")


def failing_once(function: Any) -> Any:
    failures = iter([OperationalError("the server closed the connection")])

    def fails_once(*args: Any) -> Any:
        for failure in failures:
            raise failure
        return function(*args)

    return fails_once


async def test_text_that_could_not_be_committed_is_committed_later(
    stage: Stage, provider: FakeProvider, monkeypatch: pytest.MonkeyPatch, runner: Runner
) -> None:
    monkeypatch.setattr(recording, "write_deltas", failing_once(recording.write_deltas))
    # What has gathered meanwhile is told in pieces that every socket can send.
    monkeypatch.setattr("efforts.turns.runner.LONGEST_DELTA", 5)
    gate = threading.Event()
    provider.script = [Said("One two three", gate=gate, gate_after=3)]
    await stage.say("Count")
    await stage.until(lambda: read(lambda: committed() == "One two three"))
    pieces = [row.data for row in await read(lambda: list(Event.objects.filter(kind="delta").order_by("seq")))]
    assert all("One two three".startswith(piece["text"], piece["offset"]) for piece in pieces)
    assert max(len(piece["text"]) for piece in pieces) <= 5
    gate.set()
    await stage.settled()
    assert (await read(Message.objects.get, role="assistant")).text == "One two three"


def committed() -> str:
    """The text of all conversations, one after the other: within each, in the order in which it was committed."""
    return "".join(
        row.data["text"] for row in Event.objects.filter(kind="delta").order_by("session__created_at", "seq")
    )


@pytest.mark.parametrize(
    ("took", "then"),
    [(0.03, 0.05), (0.2, 0.2)],
    ids=["from the beginning on", "half of the time at most"],
)
async def test_how_long_text_gathers(monkeypatch: pytest.MonkeyPatch, took: float, then: float) -> None:
    writer, gathered, now = DeltaWriter(), list[float](), 0.0
    real = asyncio.timeout

    async def commit() -> None:
        nonlocal now
        now += took

    def gather(seconds: float) -> asyncio.Timeout:
        gathered.append(round(seconds, 6))
        task.cancel()
        return real(None)

    monkeypatch.setattr("efforts.turns.runner.monotonic", lambda: now)
    monkeypatch.setattr(writer, "flush", commit)
    monkeypatch.setattr(asyncio, "timeout", gather)
    writer.some.set()
    task = asyncio.create_task(writer.run())
    with suppress(asyncio.CancelledError):
        await task
    assert gathered == [then]


def test_what_has_gathered_to_a_kilobyte_waits_no_longer() -> None:
    writer = DeltaWriter()
    lease = Lease(run_id=uuid4(), session_id=uuid4(), branch_id=uuid4(), turn_number=1, owner="here")
    writer.put(Delta(lease=lease, call=1, offset=2_000, text="a" * 1_000))
    assert not writer.full.is_set()
    writer.put(Delta(lease=lease, call=1, offset=3_000, text="b" * 24))
    assert writer.full.is_set()


async def test_a_runner_outlives_a_database_that_did_not_answer(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, runner: Runner
) -> None:
    await stage.ask("first")
    monkeypatch.setattr(recording, "claim_runs", failing_once(recording.claim_runs))
    turn = await stage.ask("second")
    assert turn.run is not None
    assert turn.run.state == "completed"


def claimed(session: Session, owner: str = "here:1:a") -> recording.Lease:
    actions.send_message(session, text="Hi", client_id="one", actor=session.owner)
    (lease,) = recording.claim_runs(owner, 1)
    return lease


@pytest.fixture
def three(alice: User) -> list[Run]:
    """Of three conversations, in the order in which they were sent."""
    sessions = [actions.create_session(alice) for _ in range(3)]
    sent = (actions.send_message(one, text="Hi", client_id="a", actor=alice) for one in sessions)
    return [Run.objects.get(turn=turn) for turn in sent]


def failing_for(run: Run, error: Exception) -> Any:
    def fails(one: Run) -> None:
        if one.pk == run.pk:
            raise error

    return fails


def test_a_run_that_cannot_begin_ends_and_holds_up_no_other(three: list[Run], monkeypatch: pytest.MonkeyPatch) -> None:
    first, second, third = three
    monkeypatch.setattr(references, "of_message", failing_for(first, ValueError("what nobody thought of")))
    assert [lease.run_id for lease in recording.claim_runs("here", 8)] == [second.pk, third.pk]
    first.refresh_from_db()
    assert (first.state, first.error_code, first.lease_owner) == ("failed", "internal", "")
    told = Event.objects.filter(session=first.turn.session, kind__startswith="run.").order_by("seq")
    assert list(told.values_list("kind", flat=True)) == ["run.started", "run.ended"]
    # What comes next in its conversation is answered.
    actions.send_message(first.turn.session, text="And now?", client_id="b", actor=first.turn.session.owner)
    assert [lease.session_id for lease in recording.claim_runs("here", 8)] == [first.turn.session_id]
    call_command("check_integrity", verbosity=0)


def test_a_note_that_could_not_be_taken_down_stays_one_when_it_is_tried_again(
    alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = actions.create_session(alice)
    turn = actions.take_typed(session, text="/todo Book a cabin.", client_id="a", actor=alice).turn
    assert turn
    with monkeypatch.context() as broken:
        broken.setattr(references, "of_message", failing_for(Run.objects.get(), ValueError("what nobody thought of")))
        assert recording.claim_runs("here", 8) == []
    run = actions.retry_turn(turn, actor=alice)
    # No model is asked.
    assert recording.claim_runs("here", 8) == []
    run.refresh_from_db()
    assert run.state == "noted"


def test_where_the_database_is_gone_between_two_runs_the_first_is_answered_and_the_others_are_tried_again(
    three: list[Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second, third = three
    with monkeypatch.context() as gone:
        gone.setattr(references, "of_message", failing_for(second, OperationalError("gone")))
        assert [lease.run_id for lease in recording.claim_runs("here", 8)] == [first.pk]
        with pytest.raises(OperationalError):
            recording.claim_runs("here", 8)
    assert [lease.run_id for lease in recording.claim_runs("here", 8)] == [second.pk, third.pk]


def test_a_run_that_cannot_be_ended_holds_up_no_other(three: list[Run], monkeypatch: pytest.MonkeyPatch) -> None:
    """A runner ends what a dead one left before it does anything else."""
    first, second, third = three
    for run in three:
        assert recording.claim(run, "gone:1:x")
    real = recording.record_reply

    def fails(lease: Lease, *rest: Any) -> None:
        if lease.run_id == first.pk:
            raise ValueError("what nobody thought of")
        real(lease, *rest)

    monkeypatch.setattr(recording, "record_reply", fails)
    assert recording.recover(lambda owner: True) == 2
    states = {run.pk: run.state for run in Run.objects.all()}
    assert states == {first.pk: "running", second.pk: "interrupted", third.pk: "interrupted"}


def test_whether_a_runner_is_gone_is_told_by_its_own_numbers_of_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    here, pid, _ = module.PROCESS.rsplit(":", 2)
    assert not module.is_dead(module.PROCESS)
    assert module.is_dead(f"{here}:{pid}:before")
    assert module.is_dead(f"{here}:{2**22 + 1}:before")
    # Two containers that are called the same: each has a process with this number.
    monkeypatch.setattr(os, "readlink", lambda path: "pid:[1]")
    there = module.process().rsplit(":", 1)[0]
    assert not module.is_dead(f"{there}:other")


def test_text_written_before_a_run_is_taken_for_dead_is_kept(session: Session) -> None:
    lease = claimed(session)
    recording.write_deltas([Delta(lease=lease, call=1, offset=0, text="One ")])
    stale = Run.objects.select_related("turn").get()
    recording.write_deltas([Delta(lease=lease, call=1, offset=4, text="two")])
    assert recording.interrupt(stale)
    assert session.messages.get(role="assistant").text == "One two"


def test_a_runner_taken_for_dead_writes_nothing_more(session: Session) -> None:
    lease = claimed(session)
    recording.recover(lambda owner: True)
    recording.write_deltas([Delta(lease=lease, call=1, offset=0, text="late")])
    assert not committed()
    with pytest.raises(LeaseLost):
        recording.record_reply(lease, CallReply(call=1, text="late"), COMPLETED)
    assert Run.objects.get().state == "interrupted"
    assert not session.messages.filter(role="assistant")


def test_a_cancelled_turn_does_not_break_the_running_sum(session: Session) -> None:
    first = claimed(session)
    waiting = actions.send_message(session, text="Never mind", client_id="two", actor=session.owner)
    actions.cancel_turn(waiting, actor=session.owner)
    actions.send_message(session, text="Go on", client_id="three", actor=session.owner)
    recording.record_reply(first, CallReply(call=1, text="Done."), COMPLETED)
    recording.claim_runs(first.owner, 1)
    turns = {turn.number: turn for turn in session.turns.all()}
    assert turns[3].tokens_before == turns[1].tokens > 0


async def test_a_message_is_answered_though_the_channel_layer_is_silent_and_nobody_looks(
    stage: Stage, layer: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    runner, looks, answered = Runner(), asyncio.Semaphore(0), asyncio.Event()
    sweep, answer = runner.sweep, runner.answer

    async def look() -> None:
        await sweep()
        looks.release()

    async def reply(control: RunControl) -> None:
        await answer(control)
        answered.set()

    async def lost(group: str, message: dict[str, Any]) -> None:
        pass

    monkeypatch.setattr("efforts.turns.runner.SWEEP", 1_000)
    monkeypatch.setattr(runner, "sweep", look)
    monkeypatch.setattr(runner, "answer", reply)
    monkeypatch.setattr(layer, "group_send", lost)
    task = asyncio.create_task(runner.run())
    async with asyncio.timeout(PATIENCE):
        await looks.acquire()
        await stage.say("Hi")
        await answered.wait()
    await stop(runner, task)
    assert (await stage.turn(1)).run.state == "completed"  # type: ignore[union-attr]


@pytest.mark.grown
@on_postgres
def test_a_message_sent_while_a_turn_ends_does_not_wait_for_what_waits_for_it(session: Session) -> None:
    lease = claimed(session)
    faults: list[Exception] = []

    def finish() -> None:
        try:
            recording.record_reply(lease, CallReply(call=1, text="Done."), COMPLETED)
        except OperationalError as error:
            faults.append(error)
        connection.close()

    ending = threading.Thread(target=finish)
    with transaction.atomic():  # as send_message does: the branch, then the session
        Branch.objects.select_for_update().get(session=session)
        ending.start()
        wait_until_somebody_waits()
        events.append(session.pk, "note")
    ending.join()
    assert not faults
    assert Run.objects.get().state == "completed"


@pytest.mark.grown
@on_postgres
@pytest.mark.django_db(transaction=True)
def test_the_example_goes_on_while_something_is_done_in_it(alice: User) -> None:
    session, _ = demo.begin_demo(alice)
    with transaction.atomic():  # as a person's controls do: the branch, then the conversation
        Branch.objects.select_for_update().get(session=session)
        thread, got = beside(lambda: demo.go_on(session))
        wait_until_somebody_waits()
        events.append(session.pk, "note")
    thread.join()
    assert got == [True]


@pytest.mark.grown
@on_postgres
def test_the_text_of_all_others_does_not_wait_for_a_conversation_that_is_being_written(session: Session) -> None:
    held = Delta(lease=claimed(session), call=1, offset=0, text="held")
    other = actions.create_session(session.owner)
    free = Delta(lease=claimed(other), call=1, offset=0, text="free")
    written: list[list[Delta]] = []

    def write() -> None:
        written.append(recording.write_deltas([held, free]))
        connection.close()

    for rows in (Session.objects.filter(pk=session.pk), Run.objects.filter(pk=held.lease.run_id)):
        writing = threading.Thread(target=write)
        with transaction.atomic():
            rows.select_for_update().get()
            writing.start()
            writing.join(10)
            assert written.pop() == [held]
    assert committed() == "freefree"
    write()
    assert written == [[]]
    assert committed() == "heldfreefreefree"


async def test_a_worker_that_is_asked_to_end_stores_all_however_long_it_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    stored = []

    class Slow(Runner):
        async def run(self) -> None:
            # By now the worker listens for it.
            signal.raise_signal(signal.SIGTERM)
            try:
                await asyncio.Event().wait()
            finally:
                self.going_down = True
                # Longer than it takes to be asked again, where somebody asks again.
                await asyncio.sleep(0.6)
                stored.append("all")

    monkeypatch.setattr(run_turns, "Runner", Slow)
    await run_turns.work()
    assert stored == ["all"]


async def test_a_worker_whose_cancellation_is_swallowed_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    class Deaf(Runner):
        async def run(self) -> None:
            signal.raise_signal(signal.SIGTERM)
            with suppress(asyncio.CancelledError):
                await asyncio.Event().wait()
            asked.append("once")
            await asyncio.Event().wait()

    monkeypatch.setattr(run_turns, "Runner", Deaf)
    await asyncio.wait_for(run_turns.work(), 10)
    assert asked == ["once"]
