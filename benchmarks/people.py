"""Fifty people for half an hour, at a human pace: `python -m benchmarks.people`.

They open pages, send, stop, fork, open and conclude efforts, search and come back, while the built-in engine answers.
With how much memory the server takes from minute to minute, what its log says, and what `check_integrity` finds
afterwards, as JSON. On SQLite; where DATABASE_URL and REDIS_URL are set, on a new database of that PostgreSQL.
"""

from __future__ import annotations

import argparse
import asyncio
import http.client
import json
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any
from uuid import uuid4

from benchmarks.measures import percentiles
from benchmarks.servers import resident_kib
from tests.house.process import manage
from tests.server.conftest import Server, new_database
from tests.server.websocket import Closed, Websocket

# How long somebody waits for a page or a reply, in seconds.
PATIENCE = 120.0
# How often memory is looked at, in seconds.
LOOK = 10.0
# What comes before is code that is loaded and caches that fill.
WARM = 1 / 3
# How often each act is done among all.
ACTS = {"send": 12, "stop": 2, "look": 6, "come_back": 3, "fork": 1, "open": 2, "conclude": 2, "begin": 1}
PAGES = ("", "context/", "efforts/", "ledger/", "memory/", "metrics/", "branches/", "export/")
THINGS = ("release", "signing key", "payment webhook", "migration", "backup", "parser", "login page", "invoice")
SAYINGS = (
    "We decided to move the {0} to Thursday, because the {1} is not ready.",
    "What did we say about the {0}?",
    "The {0} failed with error {2} after the {1} was changed in build {2}.",
    "Remind me to look at the {0} before we touch the {1}.",
    "Dana keeps the {0} in version {2}; the {1} needs it by noon.",
)
# What is not one of these lines is a fault, with its traceback.
USUAL = re.compile(r" (?:DEBUG|INFO) |^\s*$")


@dataclass
class Noted:
    """What happened to all of them."""

    acts: Counter[str] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)
    page_ms: list[float] = field(default_factory=list)
    # Of every look, the resident memory of the server.
    kib: list[int] = field(default_factory=list)


class Person:
    """One browser with one open page; what it hears is read as it comes."""

    def __init__(self, port: int, cookie: str, noted: Noted, thinking: float, chance: random.Random) -> None:
        self.port, self.cookies, self.noted, self.thinking, self.chance = port, cookie, noted, thinking, chance
        self.token = ""
        self.session = self.branch = ""
        self.turn, self.run, self.client_id = 0, "", ""
        self.spoken, self.over = asyncio.Event(), asyncio.Event()
        self.hearing: asyncio.Task[None] | None = None

    async def live(self, until: float) -> None:
        acts: dict[str, Callable[[], Awaitable[None]]] = {name: getattr(self, name) for name in ACTS}
        # Any form brings the token for those that change something.
        await self.ask("GET", "/settings/")
        await self.begin()
        while time.monotonic() < until:
            (name,) = self.chance.choices(list(ACTS), list(ACTS.values()))
            try:
                await acts[name]()
                self.noted.acts[name] += 1
            except (Closed, TimeoutError, OSError, AssertionError) as error:
                self.noted.faults[f"{name}: {error!r}"] += 1
                await self.come_back()
            await asyncio.sleep(min(self.chance.expovariate(1 / self.thinking), 4 * self.thinking))
        self.leave()

    # Acts

    async def begin(self) -> None:
        _, place = await self.ask("POST", "/s/new/")
        self.session, self.branch, self.turn = place.split("/s/")[1].split("/")[0], "", 0
        await self.come_back()

    async def come_back(self) -> None:
        self.leave()
        await self.ask("GET", self.address)
        self.tab = await Websocket.open(self.port, f"/ws/s/{self.session}/", self.cookies)
        await self.tab.say(kind="hello", last_seq=0)
        await self.tab.until("welcome")
        self.hearing = asyncio.create_task(self.hear())

    async def look(self) -> None:
        await self.ask("GET", f"{self.address}{self.chance.choice(PAGES)}")
        await self.ask("GET", self.chance.choice(("/", "/conversations/", "/review/", f"/search/?q={self.thing()}")))

    async def send(self) -> None:
        saying = self.chance.choice(SAYINGS).format(self.thing(), self.thing(), self.chance.randrange(10_000))
        await self.say(saying)
        await self.heard(self.over)
        # As the page does when the reply stands.
        await self.ask("GET", f"{self.address}turns/{self.turn}/")

    async def stop(self) -> None:
        await self.say("Summarise this conversation.")
        await self.heard(self.spoken)
        if not self.over.is_set():
            await self.tab.say(kind="stop", run=self.run)
        await self.heard(self.over)

    async def fork(self) -> None:
        if not self.turn:
            return
        _, place = await self.ask("POST", f"{self.address}turns/{self.turn}/fork/")
        assert "/b/" in place, place
        self.branch = place.split("/b/")[1].split("/")[0]
        await self.come_back()

    async def open(self) -> None:
        await self.say(f"Let's work on the {self.thing()} {self.chance.randrange(10_000)}.")
        await self.heard(self.over)

    async def conclude(self) -> None:
        await self.say("We are done with this.")
        await self.heard(self.over)

    # What they are done with

    @property
    def address(self) -> str:
        return f"/s/{self.session}/" + (f"b/{self.branch}/" if self.branch else "")

    def thing(self) -> str:
        return self.chance.choice(THINGS)

    async def say(self, text: str) -> None:
        self.spoken.clear()
        self.over.clear()
        self.client_id = uuid4().hex
        branch = {"branch": self.branch} if self.branch else {}
        await self.tab.say(kind="send", text=text, client_id=self.client_id, **branch)

    async def heard(self, event: asyncio.Event) -> None:
        async with asyncio.timeout(PATIENCE):
            await event.wait()

    async def hear(self) -> None:
        while True:
            frame = await self.tab.frame()
            if frame["kind"] == "turn.sent" and frame["client_id"] == self.client_id:
                self.turn, self.run = frame["turn"], frame["run"]
            if frame["kind"] == "error":
                self.noted.faults[f"refused: {frame['code']}"] += 1
            if frame["kind"] == "run.ended" and frame["run"] == self.run:
                self.noted.acts[f"turns {frame['state']}"] += 1
                self.over.set()
            if frame["kind"] in ("delta", "run.ended", "resync", "error"):
                self.spoken.set()
            # What ended meanwhile is not told again.
            if frame["kind"] in ("resync", "error"):
                self.over.set()

    def leave(self) -> None:
        if self.hearing:
            self.hearing.cancel()
            self.tab.vanish()
            self.hearing = None

    async def ask(self, method: str, path: str) -> tuple[int, str]:
        began = time.monotonic()
        status, place = await asyncio.to_thread(self.asked, method, path)
        self.noted.page_ms.append((time.monotonic() - began) * 1000)
        assert status in (200, 302), (method, path, status)
        return status, place

    def asked(self, method: str, path: str) -> tuple[int, str]:
        with closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)) as connection:
            headers = {"Cookie": self.cookies, "X-CSRFToken": self.token, "Accept": "text/html"}
            connection.request(method, path.replace(" ", "+"), headers=headers)
            answer = connection.getresponse()
            answer.read()
            for cookie in answer.headers.get_all("Set-Cookie", []):
                if cookie.startswith("csrftoken="):
                    self.token = cookie.split(";")[0].split("=", 1)[1]
                    self.cookies = f"{self.cookies.split(';')[0]}; csrftoken={self.token}"
            return answer.status, answer.headers.get("Location", "")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--people", type=int, default=50)
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--thinking", type=float, default=30, help="seconds between two acts, in the mean")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    with ExitStack() as stack:
        home = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        settings = {}
        if "DATABASE_URL" in os.environ and "REDIS_URL" in os.environ:
            url = stack.enter_context(new_database(os.environ["DATABASE_URL"]))
            settings = {"DATABASE_URL": url, "REDIS_URL": os.environ["REDIS_URL"]}
        print(json.dumps(lived(home, settings, arguments), indent=2))


def lived(home: Path, settings: dict[str, str], arguments: argparse.Namespace) -> dict[str, Any]:
    cookies = signed_in(home, settings, arguments.people)
    server = Server(home, **settings)
    server.start()
    noted = Noted()
    try:
        asyncio.run(together(server, cookies, noted, arguments))
    finally:
        said = server.end()
    whole = json.loads(manage("check_integrity", "--json", **server.settings).stdout)
    return {
        "on": "PostgreSQL and Redis" if settings else "SQLite",
        "people": arguments.people,
        "minutes": arguments.minutes,
        "acts": dict(sorted(noted.acts.items())),
        "faults": dict(noted.faults),
        "log": [line for line in said.splitlines() if not USUAL.search(line)],
        "page_ms": percentiles(noted.page_ms),
        "memory": memory(noted.kib),
        "conversations": whole["checked"],
        "not_whole": whole["wrong"],
    }


def signed_in(home: Path, settings: dict[str, str], people: int) -> list[str]:
    """The cookies of new people, made in the server's own database before it starts."""
    os.environ.update(CCM_HOME=str(home), DJANGO_SETTINGS_MODULE="ccmweb.settings", **settings)
    if not settings:
        os.environ.pop("DATABASE_URL", None)
        os.environ.pop("REDIS_URL", None)
    import django

    django.setup()
    from django.core.management import call_command
    from django.db import connections

    from benchmarks.stage import Stage

    call_command("migrate", verbosity=0)
    cookies = [Stage.set(0, f"person{number}").cookie for number in range(people)]
    connections.close_all()
    return cookies


async def together(server: Server, cookies: list[str], noted: Noted, arguments: argparse.Namespace) -> None:
    # Each may wait for a page at the same time.
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(len(cookies) + 1))
    assert isinstance(server.process, subprocess.Popen)
    until = time.monotonic() + 60 * arguments.minutes
    watching = asyncio.create_task(watch(server.process.pid, noted))
    chances = [random.Random(f"{arguments.seed} {place}") for place in range(len(cookies))]
    people = [
        Person(server.port, cookie, noted, arguments.thinking, chance)
        for cookie, chance in zip(cookies, chances, strict=True)
    ]
    await asyncio.gather(*(person.live(until) for person in people))
    watching.cancel()


async def watch(pid: int, noted: Noted) -> None:
    while True:
        noted.kib.append(resident_kib(pid))
        print(f"{len(noted.kib) * LOOK:.0f} s: {noted.kib[-1]:,} KiB, {noted.acts.total():,} acts", file=sys.stderr)
        await asyncio.sleep(LOOK)


def memory(kib: list[int]) -> dict[str, Any]:
    """In tenths of the time; `growth`: of the last tenth over the first that is warm, in per cent."""
    cuts = [len(kib) * tenth // 10 for tenth in range(11)]
    tenths = [statistics.median(kib[start:end]) for start, end in pairwise(cuts) if end > start]
    warm, last = tenths[int(len(tenths) * WARM)], tenths[-1]
    return {"mib": [round(one / 1024, 1) for one in tenths], "growth": round(100 * (last / warm - 1), 1)}


if __name__ == "__main__":
    main()
