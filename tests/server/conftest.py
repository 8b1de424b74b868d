"""The whole application in processes of its own, with a state folder of its own, and one person signed in."""

from __future__ import annotations

import asyncio
import http.client
import json
import re
import signal
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from tests.fakes.provider import FakeProvider
from tests.house.process import killed_after, start
from tests.server.websocket import Closed, Websocket
from tests.sockets.follower import Follower, Page

PATIENCE = 30.0
# In seconds; a database is made on the way.
STARTED = 120.0
SESSION = re.compile(r"/s/([0-9a-f-]{36})/")


class Server:
    """`manage.py serve` that can be killed and started again on the same port and state folder."""

    def __init__(self, home: Path, **settings: str) -> None:
        self.home = home
        self.settings = {"CCM_HOME": str(home), **settings}
        self.port = 0
        self.cookies: dict[str, str] = {}
        self.process: subprocess.Popen[str] | None = None

    def start(self) -> None:
        self.spawn()
        self.await_start()

    def spawn(self) -> None:
        self.process = start("serve", "--port", str(self.port), **self.settings)

    def await_start(self) -> None:
        self.port, path = self.link()
        if not self.cookies:
            self.request("GET", path)

    def link(self) -> tuple[int, str]:
        assert self.process is not None
        said = []
        with killed_after(STARTED, self.process):
            for line in self.output():
                said.append(line)
                if found := re.search(r"http://127\.0\.0\.1:(\d+)(/sign-in/[\w-]{43}/)", line):
                    return int(found[1]), found[2]
        raise AssertionError(f"The server did not start: {''.join(said)}")

    def output(self) -> Any:
        assert self.process is not None
        return self.process.stdout

    def end(self, how: signal.Signals = signal.SIGTERM) -> str:
        """End the process; what it said."""
        assert self.process is not None
        self.process.send_signal(how)
        said, _ = self.process.communicate(timeout=PATIENCE)
        return said

    def kill(self) -> None:
        self.end(signal.SIGKILL)

    @property
    def cookie(self) -> str:
        return "; ".join(f"{name}={value}" for name, value in self.cookies.items())

    def request(self, method: str, path: str, **body: Any) -> tuple[int, str, str]:
        """Status, place redirected to, and text."""
        with closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)) as connection:
            headers = {"Cookie": self.cookie, "X-CSRFToken": self.cookies.get("csrftoken", "")}
            data = json.dumps(body) if body else None
            connection.request(method, path, data, {**headers, "Content-Type": "application/json"})
            response = connection.getresponse()
            for cookie in response.headers.get_all("Set-Cookie", []):
                name, value = cookie.split(";")[0].split("=", 1)
                self.cookies[name] = value
            return response.status, response.headers.get("Location", ""), response.read().decode()

    def new_session(self) -> str:
        self.request("GET", "/settings/")
        status, place, text = self.request("POST", "/s/new/")
        found = SESSION.search(place)
        assert found, (status, text)
        return found[1]

    async def tab(self, session: str, last_seq: int = 0) -> Websocket:
        tab = await Websocket.open(self.port, f"/ws/s/{session}/", self.cookie)
        tab.patience = PATIENCE
        await tab.say(kind="hello", last_seq=last_seq)
        return tab

    def rows(self, query: str, *values: Any) -> list[Any]:
        """Straight from the file, whether a process lives or not."""
        with closing(sqlite3.connect(self.home / "db.sqlite3", timeout=PATIENCE)) as database:
            return database.execute(query, values).fetchall()

    def page(self, session: str) -> Page:
        with closing(sqlite3.connect(self.home / "db.sqlite3", timeout=PATIENCE, isolation_level=None)) as database:
            database.execute("BEGIN")
            ((seq,),) = database.execute("SELECT event_seq FROM efforts_session WHERE id = ?", [bare(session)])
            standing = database.execute(STANDING, [bare(session)]).fetchall()
            deltas = database.execute(DELTAS, [bare(session)]).fetchall()
        live: dict[tuple[str, int], str] = {}
        for run, call, text in deltas:
            live[run, call] = live.get((run, call), "") + text
        return Page(seq=seq, standing={(run, call): text for run, call, text in standing}, live=live)

    def follower(self, session: str) -> Follower:
        return Follower(read=lambda: self.page(session))

    def runs(self, session: str) -> dict[str, str]:
        rows = self.rows(RUNS, bare(session))
        return {str(UUID(run)): state for run, state in rows}


STANDING = """
    SELECT data ->> 'run', data ->> 'call', text FROM efforts_event
    JOIN efforts_message ON efforts_message.id = data ->> 'message'
    WHERE efforts_event.session_id = ? AND kind = 'message.stands' AND role = 'assistant'
"""
DELTAS = """
    SELECT data ->> 'run', data ->> 'call', data ->> 'text' FROM efforts_event
    WHERE session_id = ? AND kind = 'delta' ORDER BY seq
"""
RUNS = """
    SELECT efforts_run.id, state FROM efforts_run JOIN efforts_turn ON efforts_turn.id = turn_id
    WHERE session_id = ? ORDER BY number, attempt
"""


def bare(session: str) -> str:
    """As SQLite stores it."""
    return UUID(session).hex


async def follow(tab: Websocket, follower: Follower, kind: str, **values: Any) -> dict[str, Any]:
    """Apply frames up to the first of this kind with these values."""
    wanted = {"kind": kind, **values}
    async with asyncio.timeout(PATIENCE):
        while True:
            frame = await tab.frame()
            follower.take(frame)
            if wanted.items() <= frame.items():
                return frame


async def follow_for(seconds: float, tab: Websocket, follower: Follower) -> list[dict[str, Any]]:
    """The frames that came in this time, applied."""
    frames: list[dict[str, Any]] = []
    try:
        async with asyncio.timeout(seconds):
            while True:
                frames.append(await tab.frame())
                follower.take(frames[-1])
    except (TimeoutError, Closed):
        return frames


@pytest.fixture
def provider() -> Iterator[FakeProvider]:
    with FakeProvider() as provider:
        yield provider


@pytest.fixture
def server(tmp_path: Path, provider: FakeProvider) -> Iterator[Server]:
    server = Server(tmp_path, CCM_MODEL_URL=provider.url, CCM_MODEL_NAME="fake-1")
    server.start()
    yield server
    server.kill()
