"""What a turn needs goes away while it is answered, and comes back: nothing is lost, doubled or stuck, and it is told.

Processes that are killed are in tests/server/test_killing.py, a Redis that is away in tests/sockets/test_layer_lost.py.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from datetime import timedelta
from typing import Any

import psycopg
import pytest
import pytest_asyncio
from asgiref.sync import sync_to_async
from channels.db import database_sync_to_async
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.utils import timezone

from efforts import actions
from efforts.models import Endpoint, Event, Message, Run, Session, Turn
from efforts.models.threads import read, write
from efforts.turns import recording
from efforts.turns.runner import Runner, end
from tests.conftest import HANG_UP
from tests.fakes.provider import FakeProvider, Reply
from tests.sockets.conftest import Open
from tests.turns.conftest import Stage

on_sqlite = pytest.mark.skipif("connection.vendor != 'sqlite'", reason="PostgreSQL has another of its kind.")
on_postgres = pytest.mark.skipif("connection.vendor == 'sqlite'", reason="SQLite has another of its kind.")
JSON = {"accept": "application/json"}
COUNTED = "One two three four"
MANY = 1_073_741_823


class Counting:
    """A reply that stops in the middle until it may go on."""

    def __init__(self, provider: FakeProvider) -> None:
        self.gate = threading.Event()
        provider.script = [Reply(COUNTED, gate=self.gate, gate_after=2)]

    async def begin(self, stage: Stage) -> Turn:
        turn = await stage.say("Count")
        await stage.logged("delta")
        return turn


@pytest.fixture
def counting(provider: FakeProvider) -> Counting:
    return Counting(provider)


async def whole(stage: Stage, turn: Turn, text: str = COUNTED) -> None:
    """It was answered once, and the log has no hole and nothing twice."""
    await stage.settled()
    ended = await stage.turn(turn.number)
    assert ended.run is not None
    assert ended.run.state == "completed"
    assert await stage.texts(turn) == [("user", "Count"), ("assistant", text)]
    assert await read(Message.objects.filter(turn=turn).count) == 2
    numbers = await read(lambda: list(Event.objects.filter(session=stage.session).values_list("seq", flat=True)))
    assert len(numbers) == len(set(numbers))
    assert not await read(Event.objects.filter(session=stage.session, kind="delta").exists)


# The database


class Heard(logging.Handler):
    """Rings when the end of a turn could not be stored."""

    def __init__(self) -> None:
        super().__init__()
        self.event = asyncio.Event()

    def emit(self, record: logging.LogRecord) -> None:
        if "could not be stored yet" in record.getMessage():
            self.event.set()


@pytest_asyncio.fixture
async def tried() -> AsyncIterator[asyncio.Event]:
    heard = Heard()
    log = logging.getLogger("ccm.turns")
    log.addHandler(heard)
    yield heard.event
    log.removeHandler(heard)


@contextmanager
def locked_elsewhere() -> Iterator[None]:
    """Another program holds the lock of SQLite, as a tool for backups may."""
    import sqlite3

    other = sqlite3.connect(connection.settings_dict["NAME"], isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")
    try:
        yield
    finally:
        other.execute("ROLLBACK")
        other.close()


def pragma(statement: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"PRAGMA {statement}")


@on_sqlite
@pytest.mark.usefixtures("runner")
async def test_a_database_that_is_locked_for_longer_than_anybody_waits(
    stage: Stage, counting: Counting, as_alice: Client, tried: asyncio.Event
) -> None:
    """Not a second is waited here, in place of twenty: what comes of it is the same."""
    turn = await counting.begin(stage)
    await write(pragma, "busy_timeout = 0")
    await sync_to_async(pragma)("busy_timeout = 0")
    try:
        with locked_elsewhere():
            counting.gate.set()
            told = await sync_to_async(as_alice.post)(
                f"/s/{stage.session.pk}/send/", {"text": "Next", "client_id": "n"}, headers=JSON
            )
            assert (told.status_code, told.json()["code"]) == (503, "database")
            assert "Nothing was stored or changed; try again." in told.json()["text"]
            # The end of the turn was tried, and is tried again.
            await tried.wait()
    finally:
        await write(pragma, "busy_timeout = 20000")
        await sync_to_async(pragma)("busy_timeout = 20000")
    await whole(stage, turn)


@on_sqlite
@pytest.mark.usefixtures("runner")
async def test_a_disk_that_is_full_when_a_turn_ends(stage: Stage, provider: FakeProvider, tried: asyncio.Event) -> None:
    gate = threading.Event()
    # Longer than what pages of the database have left.
    text = "One two " + "three " * 40_000
    provider.script = [Reply(text, gate=gate, gate_after=2)]
    turn = await stage.say("Count")
    await stage.logged("delta")
    await write(full)
    try:
        gate.set()
        await tried.wait()
    finally:
        await write(pragma, f"max_page_count = {MANY}")
    await whole(stage, turn, text)


def full() -> None:
    with connection.cursor() as cursor:
        cursor.execute("VACUUM")
        pages = cursor.execute("PRAGMA page_count").fetchone()[0]
        cursor.execute(f"PRAGMA max_page_count = {pages}")


@contextmanager
def another_connection() -> Iterator[Any]:
    named = connection.settings_dict
    places = {"host": named["HOST"], "port": named["PORT"], "user": named["USER"], "password": named["PASSWORD"]}
    with psycopg.connect(dbname=named["NAME"], **{key: one for key, one in places.items() if one}) as other:
        yield other


@pytest.fixture
def ours(transactional_db: None) -> int:
    """The connection by which the test itself is set up and taken down."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        pid: int = cursor.fetchone()[0]
        return pid


@pytest.mark.grown
@on_postgres
@pytest.mark.usefixtures("runner")
async def test_connections_of_postgresql_that_are_cut_in_the_middle_of_a_turn(
    stage: Stage, counting: Counting, open_tab: Open, ours: int
) -> None:
    tab = await open_tab()
    await tab.hello()
    turn = await counting.begin(stage)
    # As the server does when it is begun anew.
    with another_connection() as other:
        other.execute(f"{HANG_UP} AND pid <> %s", [ours])
    counting.gate.set()
    await whole(stage, turn)
    assert (await tab.last("run.ended"))["state"] == "completed"
    # The tests of Channels keep the one of its thread, which a server closes after each piece of work.
    await database_sync_to_async(lambda: connection.close())()
    # And who comes next meets no dead connection.
    assert (await stage.ask("Again")).number == 2


@pytest.mark.grown
@on_postgres
@pytest.mark.usefixtures("runner")
async def test_a_migration_that_runs_while_a_turn_is_answered(stage: Stage, counting: Counting) -> None:
    turn = await counting.begin(stage)
    with another_connection() as other:
        # A column more, as a new version adds it; nobody reads or writes the table meanwhile.
        other.execute("ALTER TABLE efforts_message ADD COLUMN later integer")
        counting.gate.set()
        sent = asyncio.create_task(stage.say("Next"))
        await waits_for_a_lock(other, sent)
        other.rollback()
    await sent
    await stage.settled()
    assert await stage.texts(turn) == [("user", "Count"), ("assistant", COUNTED)]
    assert await read(Turn.objects.filter(session=stage.session).count) == 2


async def waits_for_a_lock(other: Any, sent: asyncio.Task[Turn]) -> None:
    waiting = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
    async with asyncio.timeout(10):
        while not other.execute(waiting).fetchone()[0]:
            await asyncio.wait({sent}, timeout=0.01)


# Redis


@pytest.mark.grown
async def test_a_redis_that_is_flushed_while_a_turn_streams(
    redis: Any, open_tab: Open, stage: Stage, counting: Counting, transactional_db: None
) -> None:
    async with running():
        tab = await open_tab()
        await tab.hello()
        turn = await counting.begin(stage)
        await tab.until("delta")
        redis.say("FLUSHALL")
        counting.gate.set()
        assert (await tab.last("run.ended"))["state"] == "completed"
    await whole(stage, turn)


@asynccontextmanager
async def running(owner: str = "") -> AsyncIterator[Runner]:
    runner = Runner(owner) if owner else Runner()
    task = asyncio.create_task(runner.run())
    try:
        yield runner
    finally:
        await end([task])


# The provider


@pytest.mark.usefixtures("runner")
async def test_a_provider_that_is_down_for_a_while(stage: Stage, provider: FakeProvider) -> None:
    nobody = FakeProvider()
    port = int(nobody.url.split(":")[2].split("/")[0])
    nobody.release()
    await write(Endpoint.objects.update, base_url=nobody.url)
    failed = await stage.ask("Count")
    assert failed.run is not None
    assert (failed.run.state, failed.run.error_code) == ("failed", "unreachable")
    assert "Check that it runs and that the address is right, then retry." in failed.run.error_text
    with FakeProvider(port=port) as back:
        back.script = [Reply(COUNTED)]
        await stage.retry(failed)
        await whole(stage, failed)
        assert len(back.bodies) == 1


# The clock


@pytest.mark.parametrize("hours", [-5, 5])
@pytest.mark.usefixtures("runner")
async def test_a_clock_that_jumps_in_the_middle_of_a_turn(
    stage: Stage, counting: Counting, runner: Runner, monkeypatch: pytest.MonkeyPatch, hours: int
) -> None:
    turn = await counting.begin(stage)
    now = timezone.now
    monkeypatch.setattr(timezone, "now", lambda: now() + timedelta(hours=hours))
    # What a runner does every few seconds.
    assert await write(recording.heartbeat, runner.owner, list(runner.controls)) == set(runner.controls)
    assert await write(recording.recover, lambda owner: False) == 0
    counting.gate.set()
    await whole(stage, turn)
    # What is said next stands behind it, whatever the clock says.
    assert (await stage.ask("Again")).number == 2


# Two who could do the same


async def test_two_runners_answer_each_message_once(
    stage: Stage, session: Session, provider: FakeProvider, alice: User, settings: Any
) -> None:
    settings.CCM_PERSON_RUNS = 20
    provider.otherwise = Reply(COUNTED)
    others = [await write(another, session, alice) for _ in range(7)]
    stages = [stage, *map(Stage, others)]
    turns = [await one.say("Count") for one in stages]
    async with running("there:1:a"), running("there:2:b"):
        for one, turn in zip(stages, turns, strict=True):
            await whole(one, turn)
    assert len(provider.bodies) == len(turns)
    assert await read(Run.objects.count) == len(turns)


def another(session: Session, alice: User) -> Session:
    made = actions.create_session(alice)
    return actions.configure_session(
        made, actor=alice, endpoint=session.endpoint, model="", budget=16_000, ambient_window=10
    )
