"""Turns are answered by a worker, pages are served by another process; one database holds what they share."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.empty import empty_home
from tests.fakes.provider import FakeProvider, Reply
from tests.house.process import manage
from tests.server.conftest import PATIENCE, Server, working
from tests.server.websocket import Websocket

pytestmark = [pytest.mark.server, pytest.mark.long]


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory, one_provider: FakeProvider) -> Iterator[Server]:
    """A web process that answers nothing itself, on SQLite."""
    home = empty_home(tmp_path_factory.mktemp("web"))
    server = Server(home, CCM_RUNNER="worker", CCM_MODEL_URL=one_provider.url, CCM_MODEL_NAME="fake-1")
    server.start()
    yield server
    server.kill()


async def pings_until(tab: Websocket, holds: Callable[[], bool]) -> None:
    """Without Redis no ring of the worker reaches the web process; its sockets look at every ping."""
    async with asyncio.timeout(PATIENCE):
        while not holds():
            await tab.say(kind="ping")
            await tab.until("pong")


@pytest.mark.parametrize("conversations", [1, 6])
async def test_two_workers_that_start_at_once_answer_each_waiting_message_once(
    web: Server, provider: FakeProvider, conversations: int
) -> None:
    """And without a worker messages wait."""
    sessions = [web.new_session() for _ in range(conversations)]
    for session in sessions:
        async with await web.tab(session) as tab:
            await tab.say(kind="send", text="Hi", client_id="one")
            await tab.until("ack")
    assert [list(web.runs(session).values()) for session in sessions] == [["queued"]] * conversations
    with working(web.settings, 2) as workers:
        async with await web.tab(sessions[-1]) as tab:
            await pings_until(tab, lambda: all(set(web.runs(one).values()) == {"completed"} for one in sessions))
        said = [worker.end() for worker in workers]
    assert len(provider.bodies) == conversations
    assert [list(web.page(session).standing.values()) for session in sessions] == [["All right."]] * conversations
    assert [len(web.runs(session)) for session in sessions] == [1] * conversations
    # Neither met a fault on the way.
    assert "Traceback" not in "".join(said)


async def test_a_worker_that_is_terminated_marks_what_it_was_answering(web: Server, provider: FakeProvider) -> None:
    provider.script = [Reply("One two three", gate=threading.Event(), gate_after=2)]
    session = web.new_session()
    async with await web.tab(session) as tab:
        await tab.say(kind="send", text="Count", client_id="one")
        run = (await tab.until("ack"))[-1]["run"]
        with working(web.settings) as (worker,):
            await pings_until(tab, lambda: "One two" in web.page(session).live.values())
            worker.end()
            assert worker.process is not None
            assert worker.process.poll() == 0
    assert web.runs(session) == {run: "interrupted"}
    assert list(web.page(session).standing.values()) == ["One two"]


def test_a_worker_without_a_database_says_so_in_one_line(tmp_path: Path) -> None:
    ended = manage("run_turns", CCM_HOME=str(tmp_path), DATABASE_URL="sqlite:////nowhere/db.sqlite3")
    assert ended.returncode == 1
    assert ended.stderr.strip() == "CommandError: The database cannot be used: unable to open database file"
