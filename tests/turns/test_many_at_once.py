"""Text that people see coming goes before what waits to be prepared or stored."""

from __future__ import annotations

import asyncio
import threading
import time
from dataclasses import replace
from types import ModuleType
from typing import Any
from uuid import uuid4

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.db import OperationalError

from efforts import actions
from efforts.models import Run, Session, threads
from efforts.models.threads import read, write, write_first
from efforts.turns import orchestrator, recording
from efforts.turns.recording import Lease
from efforts.turns.runner import Runner
from tests.fakes.provider import FakeProvider
from tests.turns.conftest import PATIENCE, Stage


@pytest.mark.django_db(transaction=True)
async def test_text_is_written_next_whatever_waits() -> None:
    written: list[str] = []
    began, gate = threading.Event(), threading.Event()

    def hold() -> None:
        began.set()
        gate.wait()
        written.append("held")

    # One that is being written, in each thread that writes, and one more that waits.
    held = [asyncio.create_task(write(hold)) for _ in range(settings.CCM_ORM_THREADS)]
    await asyncio.to_thread(began.wait)
    waits = asyncio.create_task(write(written.append, "waits"))
    text = asyncio.create_task(write_first(written.append, "text"))
    until = time.monotonic() + PATIENCE
    while not (threads._next.locked() or text.done()) and time.monotonic() < until:
        await asyncio.to_thread(time.sleep, 0)
    gate.set()
    await asyncio.gather(*held, waits, text)
    assert written.index("text") <= 1
    assert sorted(written) == sorted([*["held"] * len(held), "waits", "text"])


async def test_many_turns_that_begin_at_once_are_prepared_one_at_a_time(
    stage: Stage, provider: FakeProvider, monkeypatch: pytest.MonkeyPatch, runner: Runner, alice: User
) -> None:
    monkeypatch.setattr(settings, "CCM_PERSON_RUNS", 5)
    begin, lock, gate = orchestrator.begin, threading.Lock(), threading.Event()
    inside: list[int] = [0]

    def begins(lease: Lease) -> Any:
        with lock:
            inside[0] += 1
        gate.wait(PATIENCE)
        return begin(lease)

    monkeypatch.setattr(orchestrator, "begin", begins)

    async def say() -> Session:
        session = await write(actions.create_session, alice)
        await write(actions.send_message, session, text="Hello", client_id="1", actor=alice)
        return session

    sessions = [await say() for _ in range(5)]
    # Nobody rings for it.
    while await read(lambda: Run.objects.filter(state="queued").exists()) or not inside[0]:
        pass
    # All are claimed, and each goes on as far as it may.
    await read(lambda: None)
    at_once = inside[0]
    gate.set()
    assert at_once == 1
    await stage.until(lambda: read(lambda: Run.objects.filter(state="completed").count() == len(sessions)))
    assert inside[0] == len(sessions)


async def test_whatever_takes_a_turns_time_waits_for_its_place(
    stage: Stage, provider: FakeProvider, monkeypatch: pytest.MonkeyPatch, runner: Runner
) -> None:
    lane = Lane()
    kept: dict[str, bool] = {}
    runner.means = replace(runner.means, lane=lane)

    def watch(module: ModuleType, step: str) -> None:
        does = getattr(module, step)

        def watched(*args: Any) -> Any:
            kept[step] = lane.is_held
            return does(*args)

        monkeypatch.setattr(module, step, watched)

    steps = {
        orchestrator: ("begin", "look_back"),
        recording: ("record_plan", "record_reply"),
    }
    for module, names in steps.items():
        for name in names:
            watch(module, name)
    await stage.ask("Hello")
    assert kept == {name: True for names in steps.values() for name in names}


async def test_who_waits_to_store_an_end_again_keeps_no_place() -> None:
    lane, failed = asyncio.Semaphore(1), asyncio.Event()
    loop, order = asyncio.get_running_loop(), list[str]()

    def store() -> None:
        if not order:
            order.append("fails")
            loop.call_soon_threadsafe(failed.set)
            raise OperationalError("locked")
        order.append("stored")

    lease = Lease(run_id=uuid4(), session_id=uuid4(), branch_id=uuid4(), turn_number=1, owner="me")
    storing = asyncio.create_task(orchestrator.store_end(lane, lease, store))
    await failed.wait()
    async with lane:
        order.append("another")
    await storing
    assert order == ["fails", "another", "stored"]


class Lane:
    is_held = False

    async def __aenter__(self) -> None:
        self.is_held = True

    async def __aexit__(self, *fault: object) -> None:
        self.is_held = False
