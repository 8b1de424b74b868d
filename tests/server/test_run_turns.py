"""Turns are answered by a worker, pages are served by another process; one database holds what they share."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from uuid import uuid4

import pytest

from efforts.turns.consumers import LOOK
from tests.fakes.provider import FakeProvider, Reply
from tests.house.process import killed_after, manage, start
from tests.server.conftest import PATIENCE, STARTED, Server
from tests.server.websocket import Websocket

pytestmark = pytest.mark.server


@contextmanager
def working(**settings: str) -> Iterator[subprocess.Popen[str]]:
    worker = start("run_turns", **settings)
    try:
        assert worker.stdout is not None
        with killed_after(STARTED, worker):
            assert worker.stdout.readline().startswith("Runner ")
        yield worker
    finally:
        worker.kill()
        worker.communicate(timeout=PATIENCE)


@pytest.fixture
def web(tmp_path: Path, provider: FakeProvider) -> Iterator[Server]:
    """A web process that answers nothing itself, on SQLite."""
    server = Server(tmp_path, CCM_RUNNER="worker", CCM_MODEL_URL=provider.url, CCM_MODEL_NAME="fake-1")
    server.start()
    yield server
    server.kill()


async def pings_until(tab: Websocket, holds: Callable[[], bool]) -> None:
    """Without Redis no ring of the worker reaches the web process; its sockets look at every ping."""
    async with asyncio.timeout(PATIENCE):
        while not holds():
            await tab.say(kind="ping")
            await tab.until("pong")


async def test_without_a_worker_messages_wait(web: Server, provider: FakeProvider) -> None:
    session = web.new_session()
    async with await web.tab(session) as tab:
        await tab.say(kind="send", text="Hi", client_id="one")
        run = (await tab.until("ack"))[-1]["run"]
        assert web.runs(session) == {run: "queued"}
        with working(**web.settings):
            await pings_until(tab, lambda: web.runs(session) == {run: "completed"})
    assert list(web.page(session).standing.values()) == ["All right."]


async def test_a_worker_that_is_terminated_marks_what_it_was_answering(web: Server, provider: FakeProvider) -> None:
    provider.script = [Reply("One two three", gate=threading.Event(), gate_after=2)]
    session = web.new_session()
    async with await web.tab(session) as tab:
        await tab.say(kind="send", text="Count", client_id="one")
        run = (await tab.until("ack"))[-1]["run"]
        with working(**web.settings) as worker:
            await pings_until(tab, lambda: "One two" in web.page(session).live.values())
            worker.send_signal(signal.SIGTERM)
            assert worker.wait(PATIENCE) == 0
    assert web.runs(session) == {run: "interrupted"}
    assert list(web.page(session).standing.values()) == ["One two"]


def test_a_worker_without_a_database_says_so_in_one_line(tmp_path: Path) -> None:
    ended = manage("run_turns", CCM_HOME=str(tmp_path), DATABASE_URL="sqlite:////nowhere/db.sqlite3")
    assert ended.returncode == 1
    assert ended.stderr.strip() == "CommandError: The database cannot be used: unable to open database file"


@pytest.fixture
def grown(tmp_path: Path, provider: FakeProvider) -> Iterator[dict[str, str]]:
    """Settings for a database of its own in PostgreSQL and for Redis."""
    urls = os.environ.get("DATABASE_URL", ""), os.environ.get("REDIS_URL", "")
    if not (urls[0].startswith("postgres") and urls[1]):
        give_up = pytest.fail if os.environ.get("CI") == "true" else pytest.skip
        give_up("No PostgreSQL and Redis: set DATABASE_URL and REDIS_URL (make servers).")
    import psycopg

    name = f"ccm_{uuid4().hex}"
    with closing(psycopg.connect(urls[0], autocommit=True)) as database:
        database.execute(f"CREATE DATABASE {name}")
        try:
            yield {
                "DATABASE_URL": f"{urls[0].rsplit('/', 1)[0]}/{name}",
                "REDIS_URL": urls[1],
                "CCM_RUNNER": "worker",
                "CCM_MODEL_URL": provider.url,
                "CCM_MODEL_NAME": "fake-1",
            }
        finally:
            database.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.mark.grown
async def test_a_turn_streams_from_a_worker_through_two_web_processes(
    grown: dict[str, str], tmp_path: Path, provider: FakeProvider
) -> None:
    text = " ".join(f"word{number}" for number in range(80))
    gate = threading.Event()
    provider.script = [Reply(text, pace_seconds=0.005, gate=gate, gate_after=80)]
    first, second = Server(tmp_path, **grown), Server(tmp_path, **grown)
    # Both at once, on an empty database that each would migrate.
    first.spawn()
    second.spawn()
    first.await_start()
    second.cookies = first.cookies
    second.await_start()
    try:
        with working(CCM_HOME=str(tmp_path), **grown):
            session = first.new_session()
            async with await first.tab(session) as writer, await second.tab(session) as reader:
                await writer.say(kind="send", text="Talk", client_id="one")
                for tab in (writer, reader):
                    await streamed(tab, text)
                gate.set()
                for tab in (writer, reader):
                    assert (await tab.until("run.ended"))[-1]["state"] == "completed"
    finally:
        first.kill()
        second.kill()


async def streamed(tab: Websocket, text: str) -> None:
    """The whole text comes as deltas, sooner than a socket looks by itself."""
    shown = ""
    async with asyncio.timeout(LOOK * 3 / 4):
        while shown != text:
            frame = await tab.frame()
            if frame["kind"] == "delta":
                assert frame["offset"] == len(shown)
                shown += frame["text"]
