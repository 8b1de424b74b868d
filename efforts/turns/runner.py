"""Claims waiting runs and due drafts, in the web process (embedded) or in `manage.py run_turns` (grown).

A run belongs to the runner that holds its lease, never to a socket: it outlives tab, page and connection.
"""

from __future__ import annotations

import asyncio
import logging
import os
import secrets
import socket
from collections.abc import Callable, Collection, Coroutine
from contextlib import suppress
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from time import monotonic
from typing import Any
from uuid import UUID

from channels.layers import get_channel_layer
from django.conf import settings
from django.db import DatabaseError

from efforts import actions
from efforts.llm import openai_chat
from efforts.llm.tokens import get_counter
from efforts.log import events
from efforts.models.threads import read, write, write_first
from efforts.turns import recording
from efforts.turns.drafts import Drafts, registered
from efforts.turns.embedding import embed_all
from efforts.turns.lanes import Lane
from efforts.turns.orchestrator import RunControl, RunMeans, run_turn
from efforts.turns.recording import Delta, Lease
from efforts.turns.scopes import SCOPES
from efforts.turns.summaries import SUMMARIES
from efforts.turns.titles import ask_for_title

log = logging.getLogger("ccm.runner")

# How often to look for work and stop requests that no doorbell announced, in seconds.
SWEEP = 2.0
FLUSH_AT = 1024
# Characters of one event. In JSON each may take twelve bytes, and no socket sends more than a MiB at once.
LONGEST_DELTA = 64_000


def process() -> str:
    """Of this process alone: the last part tells it from a dead one with its number."""
    try:
        numbered = Path("/proc/sys/kernel/random/boot_id").read_text() + os.readlink("/proc/self/ns/pid")
    except OSError:
        numbered = ""
    # Containers may be called the same, and each has a process 1.
    where = f"{socket.gethostname()[:60]}/{sha256(numbered.encode()).hexdigest()[:8]}"
    return f"{where}:{os.getpid()}:{secrets.token_hex(4)}"


PROCESS = process()


def is_dead(owner: str) -> bool:
    """Whether a runner on this machine is surely gone; of others only the lease tells."""
    host, pid, token = owner.rsplit(":", 2)
    mine = PROCESS.rsplit(":", 2)
    if host != mine[0]:
        return False
    if pid == mine[1]:
        return token != mine[2]
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return False


class DeltaWriter:
    """Commits the text of all runs of this process together, every `CCM_DELTA_MS` or when one has 1 KiB."""

    def __init__(self) -> None:
        self.waiting: dict[tuple[UUID, str], list[Delta]] = {}
        self.some = asyncio.Event()
        self.full = asyncio.Event()
        self.committing = asyncio.Lock()

    # Not awaited by anybody: a model's stream does not wait for the disk.
    def put(self, delta: Delta) -> None:
        waiting = self.waiting.setdefault((delta.lease.run_id, delta.kind), [])
        waiting.append(delta)
        self.some.set()
        if delta.offset + len(delta.text) - waiting[0].offset >= FLUSH_AT:
            self.full.set()

    async def settle(self, run_id: UUID) -> None:
        """Wait for what is being committed and drop the rest: the message itself is saved next."""
        self.drop(run_id)
        async with self.committing:
            # Once more, because a commit that failed has put its text back.
            self.drop(run_id)

    def drop(self, run_id: UUID) -> None:
        for kind in events.STREAMED:
            self.waiting.pop((run_id, kind), None)

    async def run(self) -> None:
        while True:
            await self.some.wait()
            began = monotonic()
            await self.flush()
            took = monotonic() - began
            # The first text goes at once; what follows gathers. Where commits are slow, they take half of the time.
            with suppress(TimeoutError):
                async with asyncio.timeout(max(settings.CCM_DELTA_MS / 1000 - took, took)):
                    await self.full.wait()

    async def flush(self) -> None:
        async with self.committing:
            batch = [delta for deltas in self.waiting.values() for delta in joined(deltas)]
            self.waiting = {}
            self.some.clear()
            self.full.clear()
            try:
                self.put_back(await write_first(recording.write_deltas, batch))
            except DatabaseError:
                log.warning("The text of %d runs is not committed yet.", len(batch), exc_info=True)
                self.put_back(batch)

    def put_back(self, deltas: list[Delta]) -> None:
        for delta in reversed(deltas):
            # Before what has come meanwhile, so that the offsets stay in order.
            self.waiting.setdefault((delta.lease.run_id, delta.kind), []).insert(0, delta)
        if deltas:
            self.some.set()


def joined(deltas: list[Delta]) -> list[Delta]:
    """As few as may be; text that nobody could commit for a while is long."""
    first = deltas[0]
    text = "".join(delta.text for delta in deltas)
    return [
        replace(first, offset=first.offset + place, text=text[place : place + LONGEST_DELTA])
        for place in range(0, len(text), LONGEST_DELTA)
    ]


class Runner:
    def __init__(self, owner: str = PROCESS) -> None:
        self.owner = owner
        self.controls: dict[UUID, RunControl] = {}
        self.tasks: set[asyncio.Task[None]] = set()
        self.deltas = DeltaWriter()
        self.means = RunMeans(lane=Lane())
        self.wake = asyncio.Event()
        self.going_down = False
        self.drafts = Drafts((SUMMARIES, SCOPES, *registered()), owner, self.wake)

    async def run(self) -> None:
        """Work until cancelled; then what is running is marked interrupted with its text kept."""
        events.doorbell.attend()
        events.doorbell.here[events.RUNNERS].add(self.hear)
        # First: what a dead process left running keeps its branch from going on.
        await write(recording.recover, is_dead)
        await self.drafts.recover(is_dead)
        # Reading the tokenizer's table takes a quarter of a second; nobody's first message shall wait for it.
        await read(get_counter, settings.CCM_ENCODING)
        await openai_chat.warm()
        helpers = [
            asyncio.create_task(keep_up(work))
            for work in (self.deltas.run, self.listen, self.keep_leases, tidy, embed_all)
        ]
        try:
            await keep_up(self.take_runs)
        finally:
            self.going_down = True
            events.doorbell.here[events.RUNNERS].discard(self.hear)
            try:
                # Waited for although we are cancelled: each turn has its end stored before the process is gone.
                await self.go_down()
            finally:
                await end(helpers)

    async def take_runs(self) -> None:
        while True:
            await self.sweep()
            with suppress(TimeoutError):
                async with asyncio.timeout(SWEEP):
                    await self.wake.wait()
            # Before the next sweep: a ring that comes during it then leads to another.
            self.wake.clear()

    async def sweep(self) -> None:
        running = list(self.controls)
        for run_id in await read(recording.stop_requests, running) if running else ():
            if control := self.controls.get(run_id):
                control.stop.set()
        room = settings.CCM_MAX_RUNS - len(self.controls)
        for lease in await self.claim(room) if room > 0 else []:
            self.start(lease)
        # After the runs: a summary can wait, a person does not.
        await self.drafts.sweep()

    async def claim(self, room: int) -> list[Lease]:
        # A quarter is kept for people who have nothing running, however much others have.
        reserved = settings.CCM_MAX_RUNS // 4
        return await write(recording.claim_runs, self.owner, room, reserved)

    def start(self, lease: Lease) -> None:
        control = self.controls[lease.run_id] = RunControl(lease=lease)
        task = asyncio.create_task(self.answer(control))
        # The loop itself holds tasks weakly: one could be collected in the middle of its turn.
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    async def answer(self, control: RunControl) -> None:
        try:
            await run_turn(control, self.deltas, self.means)
        finally:
            self.controls.pop(control.lease.run_id, None)
            self.wake.set()
        await ask_for_title(control.lease)

    def hear(self, message: dict[str, Any]) -> None:
        self.wake.set()

    async def listen(self) -> None:
        layer = get_channel_layer()
        if layer is None:
            return
        channel = await layer.new_channel()
        await layer.group_add(events.RUNNERS, channel)
        try:
            while True:
                message = await layer.receive(channel)
                if not events.doorbell.is_ours(message):
                    self.hear(message)
        finally:
            await layer.group_discard(events.RUNNERS, channel)

    async def keep_leases(self) -> None:
        """A third of the lease apart: renew ours, and end what others left behind."""
        while True:
            await asyncio.sleep(settings.CCM_LEASE_SECONDS / 3)
            held = list(self.controls)
            ours = await write(recording.heartbeat, self.owner, held)
            # Taken by another process: nothing it says is recorded any more, so it should not go on costing.
            for run_id in set(held) - ours:
                if control := self.controls.get(run_id):
                    control.stop.set()
            await write(recording.recover, is_dead)
            await self.drafts.keep(is_dead)

    async def go_down(self) -> None:
        for control in self.controls.values():
            control.going_down = True
            control.stop.set()
        if self.tasks:
            # Not without end: who stops a process kills it in the end, and the next start recovers the rest.
            await asyncio.wait(self.tasks, timeout=5)
        await self.drafts.go_down()


async def tidy() -> None:
    """What no turn waits for, so that none waits behind it."""
    while True:
        await tidy_once()
        await asyncio.sleep(SWEEP)


async def tidy_once() -> None:
    await write(actions.erase_deleted)
    await write(actions.forget_unsent)


async def keep_up(work: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Do what should never end; where a fault ends it (a database or a channel layer that is away), begin again."""
    while True:
        # Gathered to have any fault as a value, without a broad except; a cancellation still goes through.
        faults = await asyncio.gather(work(), return_exceptions=True)
        log.error("The runner's %s ended; it begins again.", work.__name__, exc_info=faults[0])
        await asyncio.sleep(SWEEP)


async def end(tasks: Collection[asyncio.Task[None]]) -> None:
    """Cancel until it takes: the Redis layer may swallow a cancellation that meets a message."""
    pending = set(tasks)
    while pending:
        for task in pending:
            task.cancel()
        _, pending = await asyncio.wait(pending, timeout=0.5)


async def stop(runner: Runner, task: asyncio.Task[None]) -> None:
    """Cancel the runner's task until it takes, and not again: what it stores as it goes down must not be cancelled."""
    while not (runner.going_down or task.done()):
        task.cancel()
        await asyncio.wait([task], timeout=0.5)
    await asyncio.wait([task])


_runner: Runner | None = None
_embedded: asyncio.Task[None] | None = None


def ensure_started() -> None:
    """Start this process's runner on the running loop, once."""
    global _runner, _embedded
    # A task of another loop, as one test leaves for the next, never runs again.
    if _embedded is None or _embedded.done() or _embedded.get_loop() is not asyncio.get_running_loop():
        _runner = Runner()
        _embedded = asyncio.create_task(_runner.run())
        _embedded.add_done_callback(_log_end)


async def shut_down() -> None:
    """End this process's runner; what it was answering is marked interrupted."""
    if _runner is not None and _embedded is not None:
        await stop(_runner, _embedded)


def _log_end(task: asyncio.Task[None]) -> None:
    if not task.cancelled() and (error := task.exception()):
        log.error("The runner ended; the next request starts it again.", exc_info=error)
