"""The whole application in processes of its own, with a state folder of its own, and one person signed in."""

from __future__ import annotations

import asyncio
import http.client
import json
import os
import re
import signal
import sqlite3
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest

from tests.empty import empty_home
from tests.fakes.provider import FakeProvider, Reply
from tests.house.process import killed_after, start
from tests.server.forking import Child
from tests.server.websocket import Closed, Websocket
from tests.sockets.follower import Follower, Page

PATIENCE = 30.0
# In seconds, on a machine that is busy with much else; a database is made on the way.
STARTED = 600.0
SESSION = re.compile(r"/s/([0-9a-f-]{36})/")


class Process:
    """A command of `manage.py` that can be killed and started again."""

    command: tuple[str, ...]
    # In its first line once it is ready.
    ready: str

    def __init__(self, **settings: str) -> None:
        self.settings = settings
        self.process: subprocess.Popen[str] | Child | None = None
        self.said: list[str] = []
        self.reading: threading.Thread | None = None
        self.begin: Callable[..., subprocess.Popen[str] | Child] = partial(start, **settings)

    def start(self) -> None:
        self.spawn()
        self.await_start()

    def spawn(self) -> None:
        self.process = self.begin(*self.command)

    def await_start(self) -> re.Match[str]:
        assert self.process is not None
        assert self.process.stdout is not None
        said = []
        with killed_after(STARTED, self.process):
            for line in self.process.stdout:
                said.append(line)
                if found := re.search(self.ready, line):
                    self.said = []
                    # Who is not read waits, once the pipe is full.
                    self.reading = threading.Thread(target=self.said.extend, args=(self.process.stdout,), daemon=True)
                    self.reading.start()
                    return found
        raise AssertionError(f"The process did not start: {''.join(said)}")

    def end(self, how: signal.Signals = signal.SIGTERM) -> str:
        """End the process; what it said."""
        assert self.process is not None
        assert self.process.stdout is not None
        self.process.send_signal(how)
        self.process.wait(STARTED)
        if self.reading:
            self.reading.join()
        self.process.stdout.close()
        return "".join(self.said)

    def kill(self) -> None:
        if self.lives():
            self.end(signal.SIGKILL)

    def lives(self) -> bool:
        return self.process is not None and self.process.poll() is None


class Worker(Process):
    command = ("run_turns",)
    ready = "^Runner "


@contextmanager
def working(settings: dict[str, str], count: int = 1) -> Iterator[list[Worker]]:
    workers = [Worker(**settings) for _ in range(count)]
    try:
        # All at the same moment.
        for worker in workers:
            worker.spawn()
        for worker in workers:
            worker.await_start()
        yield workers
    finally:
        for worker in workers:
            worker.kill()


class Server(Process):
    """`manage.py serve`, always on the same port and state folder."""

    ready = r"http://127\.0\.0\.1:(\d+)(/sign-in/[\w-]{43}/)"

    def __init__(self, home: Path, **settings: str) -> None:
        super().__init__(CCM_HOME=str(home), **settings)
        self.home = home
        self.port = 0
        self.cookies: dict[str, str] = {}

    @property
    def command(self) -> tuple[str, ...]:  # type: ignore[override]
        return "serve", "--port", str(self.port)

    def await_start(self) -> re.Match[str]:
        found = super().await_start()
        self.port = int(found[1])
        if not self.cookies:
            self.request("GET", found[2])
        return found

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

    @contextmanager
    def database(self) -> Iterator[Callable[..., list[Any]]]:
        """Straight from the database, whether a process lives or not; all that is asked is of one moment."""
        if "DATABASE_URL" in self.settings:
            import psycopg

            with closing(psycopg.connect(self.settings["DATABASE_URL"])) as grown:
                grown.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
                yield lambda query, *values: grown.execute(query.replace("?", "%s"), values).fetchall()
            return
        with closing(sqlite3.connect(self.home / "db.sqlite3", timeout=PATIENCE, isolation_level=None)) as database:
            database.execute("BEGIN")
            yield lambda query, *values: database.execute(query, values).fetchall()

    def rows(self, query: str, *values: Any) -> list[Any]:
        with self.database() as asked:
            return asked(query, *values)

    def page(self, session: str) -> Page:
        with self.database() as asked:
            ((seq,),) = asked("SELECT event_seq FROM efforts_session WHERE id = ?", bare(session))
            standing = asked(STANDING, bare(session))
            deltas = asked(DELTAS, bare(session))
        live: dict[tuple[str, int], str] = {}
        for run, call, text in deltas:
            live[run, int(call)] = live.get((run, int(call)), "") + text
        return Page(seq=seq, standing={(run, int(call)): text for run, call, text in standing}, live=live)

    def follower(self, session: str) -> Follower:
        return Follower(read=lambda: self.page(session))

    def runs(self, session: str) -> dict[str, str]:
        rows = self.rows(RUNS, bare(session))
        return {str(UUID(str(run))): state for run, state in rows}


STANDING = """
    SELECT data ->> 'run', data ->> 'call', text FROM efforts_event
    JOIN efforts_message ON efforts_message.id = CAST(data ->> 'message' AS bigint)
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


@contextmanager
def new_database(url: str, template: str = "template1") -> Iterator[str]:
    """The address of a copy of `template`, an empty one, on the PostgreSQL server of `url`."""
    import psycopg

    name = f"ccm_{uuid4().hex}"
    with closing(psycopg.connect(url, autocommit=True)) as database:
        database.execute(f"CREATE DATABASE {name} TEMPLATE {template.rsplit('/', 1)[-1]}")
        try:
            yield f"{url.rsplit('/', 1)[0]}/{name}"
        finally:
            database.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture(scope="module")
def grown() -> Iterator[dict[str, str]]:
    """Settings for a database of its own in PostgreSQL and for Redis."""
    urls = os.environ.get("DATABASE_URL", ""), os.environ.get("REDIS_URL", "")
    if not (urls[0].startswith("postgres") and urls[1]):
        give_up = pytest.fail if os.environ.get("CI") == "true" else pytest.skip
        give_up("No PostgreSQL and Redis: set DATABASE_URL and REDIS_URL (make servers).")
    with new_database(urls[0]) as url:
        yield {"DATABASE_URL": url, "REDIS_URL": urls[1]}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return empty_home(tmp_path / "home")


@pytest.fixture(scope="session")
def one_provider() -> Iterator[FakeProvider]:
    with FakeProvider() as provider:
        yield provider


@pytest.fixture
def provider(one_provider: FakeProvider) -> FakeProvider:
    one_provider.script, one_provider.otherwise = [], Reply("All right.")
    one_provider.bodies.clear()
    return one_provider


@pytest.fixture(scope="session")
def started(tmp_path_factory: pytest.TempPathFactory, one_provider: FakeProvider) -> Iterator[Server]:
    """For all who need no other settings: what takes long is a start."""
    home = empty_home(tmp_path_factory.mktemp("started"))
    many = {"CCM_PERSON_SOCKETS": "5000"}
    server = Server(home, CCM_MODEL_URL=one_provider.url, CCM_MODEL_NAME="fake-1", **many)
    server.start()
    yield server
    server.kill()


@pytest.fixture
def server(started: Server, provider: FakeProvider) -> Server:
    if not started.lives():
        started.start()
    return started
