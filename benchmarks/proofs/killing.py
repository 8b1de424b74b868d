"""The real server is killed while it answers: what was committed is there after the next start.

In processes of their own, with a state folder of their own and the built-in engine.
"""

from __future__ import annotations

import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from http.cookiejar import CookieJar
from pathlib import Path
from typing import Any
from urllib.request import HTTPCookieProcessor, OpenerDirector, Request, build_opener

from django.conf import settings

from .measuring import Claims

PATIENCE = 60.0
LOOK_EVERY = 0.02
# Seconds between two words of the built-in engine: slow enough to be met in the middle.
PACE = "0.01"
# Characters that are committed before it is killed.
ENOUGH = 2_000
OURS = ("CCM_", "DATABASE_URL", "REDIS_URL", "DJANGO_")

TABLES = ("customers", "orders", "invoices", "payments", "refunds", "products", "prices", "stock", "suppliers", "kits")
# One block, so that the engine quotes all of it.
AGREED = "\n".join(
    f"nightly export of {table}: we agreed to write it in batches of 5,000 rows to a temporary name, to rename the "
    "file once its checksum is known, to keep the last three files, to tell the importer by a row in its table, "
    "to try again after 10 minutes where the batch runs out of memory, and to call whoever is on duty after the third "
    "try"
    for table in TABLES
)
SAID = (
    f"The nightly export fails for the three largest customers. What we agreed, table by table:\n\n```\n{AGREED}\n```"
)
ASKED = "What did we agree about the nightly export?"


class Server:
    """`manage.py serve` on a folder, and one person signed in."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.opener: OpenerDirector = build_opener()
        self.cookies = CookieJar()

    def start(self) -> None:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(OURS)}
        self.process = subprocess.Popen(
            [sys.executable, "-u", "manage.py", "serve", "--port", "0"],
            cwd=settings.BASE_DIR,
            env={**kept, "CCM_HOME": str(self.home), "CCM_BUILTIN_PACE": PACE},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.base, link = self.greeting()
        self.opener = build_opener(HTTPCookieProcessor(self.cookies))
        self.read(link)
        self.read("/settings/")

    def greeting(self) -> tuple[str, str]:
        """Its address, and the path that signs in."""
        assert self.process.stdout
        said = []
        for line in self.process.stdout:
            said.append(line)
            if found := re.search(r"(http://[\d.]+:\d+)(/sign-in/[\w-]+/)", line):
                return found[1], found[2]
        raise RuntimeError(f"The server did not start: {''.join(said)}")

    def end(self, how: signal.Signals) -> None:
        if self.process.poll() is None:
            self.process.send_signal(how)
            self.process.communicate(timeout=PATIENCE)

    def read(self, path: str) -> str:
        with self.opener.open(self.base + path, timeout=PATIENCE) as answer:
            text: str = answer.read().decode()
            return text

    def post(self, path: str, **fields: str) -> str:
        """The address it leads to."""
        token = next(cookie.value or "" for cookie in self.cookies if cookie.name == "csrftoken")
        headers = {"X-CSRFToken": token, "Content-Type": "application/json"}
        request = Request(self.base + path, json.dumps(fields).encode(), headers)
        with self.opener.open(request, timeout=PATIENCE) as answer:
            return str(answer.geturl()).removeprefix(self.base)

    def rows(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        """Straight from the file, whether a process lives or not."""
        with closing(sqlite3.connect(self.home / "db.sqlite3", timeout=PATIENCE)) as database:
            return database.execute(query, values).fetchall()


STATES = "SELECT state FROM efforts_run ORDER BY rowid"
STREAMED = """
    SELECT data ->> 'text' FROM efforts_event
    WHERE kind = 'delta' AND data ->> 'run' = (SELECT data ->> 'run' FROM efforts_event WHERE kind = 'delta'
                                               ORDER BY seq DESC LIMIT 1) ORDER BY seq
"""
ANSWERS = "SELECT text FROM efforts_message WHERE role = 'assistant' ORDER BY id"
QUESTIONS = "SELECT text FROM efforts_message WHERE role = 'user' ORDER BY id"


def kill(home: Path | None = None) -> Claims:
    """`home` is left behind; none: a folder that is gone afterwards."""
    proof = Claims(name="kill", title="Killed in the middle of an answer")
    with folder(home) as place:
        server = Server(place)
        server.start()
        try:
            prove(proof, server)
        finally:
            server.end(signal.SIGTERM)
    return proof


@contextmanager
def folder(home: Path | None) -> Iterator[Path]:
    if home:
        home.mkdir(parents=True, exist_ok=True)
        yield home.resolve()
    else:
        with tempfile.TemporaryDirectory() as made:
            yield Path(made)


def prove(proof: Claims, server: Server) -> None:
    chat = server.post("/s/new/")
    server.post(f"{chat}send/", text=SAID, client_id="kill-1")
    wait(lambda: [state for (state,) in server.rows(STATES)] == ["completed"])
    server.post(f"{chat}send/", text=ASKED, client_id="kill-2")
    wait(lambda: len(streamed(server)) >= ENOUGH)
    server.end(signal.SIGKILL)
    committed = streamed(server)
    proof.claim(
        "The process was killed while it answered",
        measured=f"{len(committed)} characters were committed, the turn was {server.rows(STATES)[-1][0]}",
        holds=len(committed) >= ENOUGH and server.rows(STATES)[-1] == ("running",),
    )
    server.start()
    wait(lambda: server.rows(STATES)[-1] != ("running",))
    prove_kept(proof, server, chat, committed)
    server.post(f"{chat}turns/2/retry/")
    wait(lambda: server.rows(STATES)[-1] == ("completed",))
    whole = server.rows(ANSWERS)[-1][0]
    proof.claim(
        "Tried again it is answered whole",
        measured=f"{len(whole)} characters",
        holds=whole.startswith(committed) and len(whole) > len(committed),
    )


def streamed(server: Server) -> str:
    """What is committed of the answer by now."""
    return "".join(text for (text,) in server.rows(STREAMED))


def prove_kept(proof: Claims, server: Server, chat: str, committed: str) -> None:
    stored = server.rows(ANSWERS)[-1][0]
    proof.claim(
        "Every committed character is there after the next start",
        measured=f"{len(stored)} characters are stored",
        holds=stored == committed,
    )
    asked = [text for (text,) in server.rows(QUESTIONS)]
    proof.claim("So is what the person said", measured=f"{len(asked)} messages", holds=asked == [SAID, ASKED])
    page, state = server.read(chat), server.rows(STATES)[-1][0]
    proof.claim(
        "The turn is marked interrupted and offers Retry",
        measured=f"it is {state}",
        holds=state == "interrupted" and "<b>Interrupted.</b>" in page and f"{chat}turns/2/retry/" in page,
    )


def wait(happened: Callable[[], bool]) -> None:
    until = time.monotonic() + PATIENCE
    while not happened():
        if time.monotonic() > until:
            raise TimeoutError(f"Nothing came of it in {PATIENCE:.0f} seconds.")
        time.sleep(LOOK_EVERY)
