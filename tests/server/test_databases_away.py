"""A database that is away, or that somebody else has, while a turn is answered: nothing is lost, doubled or stuck."""

from __future__ import annotations

import asyncio
import os
import shutil
import socket
import sqlite3
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest

from tests.fakes.provider import FakeProvider, Reply
from tests.server.conftest import PATIENCE, Server
from tests.server.websocket import Websocket

pytestmark = [pytest.mark.server, pytest.mark.slow]

COUNTED = "One two three four"
# How long another program has the database, in seconds.
HELD = 10


class Counting:
    """A reply that stops in the middle until it may go on."""

    def __init__(self, provider: FakeProvider) -> None:
        self.gate = threading.Event()
        provider.script = [Reply(COUNTED, gate=self.gate, gate_after=2)]

    async def begin(self, tab: Websocket) -> None:
        await tab.say(kind="send", text="Count", client_id="one")
        await tab.until("delta")


async def answered(server: Server, tab: Websocket, session: str, *texts: str) -> None:
    """Each message once, whole."""
    async with asyncio.timeout(3 * PATIENCE):
        while set(server.runs(session).values()) != {"completed"}:
            await tab.say(kind="ping")
            # While no connection is to be had a ping is refused in words; a page asks again.
            while (await tab.frame())["kind"] not in ("pong", "error"):
                pass
    assert list(server.page(session).standing.values()) == [*texts]
    assert server.page(session).live == {}
    assert len(server.runs(session)) == len(texts)


async def test_a_database_that_another_program_has_for_ten_seconds(server: Server, provider: FakeProvider) -> None:
    counting = Counting(provider)
    sessions = [server.new_session(), server.new_session()]
    async with await server.tab(sessions[0]) as tab, await server.tab(sessions[1]) as other:
        await counting.begin(tab)
        with closing(sqlite3.connect(server.home / "db.sqlite3", isolation_level=None)) as elsewhere:
            elsewhere.execute("BEGIN IMMEDIATE")
            counting.gate.set()
            await other.say(kind="send", text="Next", client_id="two")
            await asyncio.sleep(HELD)
            # What is read is there meanwhile.
            assert server.request("GET", f"/s/{sessions[1]}/")[0] == 200
            assert server.runs(sessions[1]) == {}
            elsewhere.execute("ROLLBACK")
        await other.until("ack", of="send")
        await answered(server, tab, sessions[0], COUNTED)
        await answered(server, other, sessions[1], "All right.")


class Postgres:
    """A server of its own, that may be stopped."""

    def __init__(self, programs: Path, folder: Path) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.url = f"postgres://postgres@127.0.0.1:{port}/postgres"
        self.programs, self.data, self.log = programs, folder / "data", folder / "log"
        self.options = f"-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c fsync=off"
        # It refuses to run as root.
        self.as_whom: tuple[str, ...] = () if os.getuid() else ("runuser", "-u", "postgres", "--")
        if self.as_whom:
            shutil.chown(folder, "postgres")
        self.run("initdb", "-U", "postgres", "-A", "trust", "--no-sync")

    def run(self, program: str, *arguments: str) -> None:
        command = [*self.as_whom, str(self.programs / program), "-D", str(self.data), *arguments]
        # To nobody: what it starts would keep a pipe open.
        subprocess.run(command, check=True, cwd="/", stdout=subprocess.DEVNULL, timeout=120)

    def start(self) -> None:
        self.run("pg_ctl", "start", "-w", "-o", self.options, "-l", str(self.log))

    def stop(self) -> None:
        self.run("pg_ctl", "stop", "-w", "-m", "fast")


@pytest.fixture(scope="module")
def postgres() -> Iterator[Postgres]:
    places = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    found = shutil.which("initdb") or (places and places[-1])
    if not found:
        pytest.skip("No PostgreSQL that could be started.")
    # Not below the folders of pytest, which are their owner's alone.
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        postgres = Postgres(Path(found).parent, Path(folder))
        postgres.start()
        try:
            yield postgres
        finally:
            with suppress(subprocess.CalledProcessError):
                # It may be stopped already.
                postgres.stop()


@pytest.fixture
def upon(postgres: Postgres, tmp_path: Path, provider: FakeProvider) -> Iterator[Server]:
    server = Server(tmp_path, CCM_MODEL_URL=provider.url, CCM_MODEL_NAME="fake-1", DATABASE_URL=postgres.url)
    server.start()
    yield server
    server.kill()


async def test_a_postgresql_that_is_stopped_in_the_middle_of_a_turn_and_begun_anew(
    upon: Server, postgres: Postgres, provider: FakeProvider
) -> None:
    counting = Counting(provider)
    session = upon.new_session()
    async with await upon.tab(session) as tab:
        await counting.begin(tab)
        await asyncio.to_thread(postgres.stop)
        counting.gate.set()
        sent = {"text": "Next", "client_id": "two"}
        status, _, told = await asyncio.to_thread(upon.request, "POST", f"/s/{session}/send/", **sent)
        assert (status, "The database did not answer." in told) == (503, True)
        await asyncio.to_thread(postgres.start)
        await answered(upon, tab, session, COUNTED)
        # What is sent again is taken.
        await tab.say(kind="send", **sent)
        await tab.until("ack", of="send")
        await answered(upon, tab, session, COUNTED, "All right.")
