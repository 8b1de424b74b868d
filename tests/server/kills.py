"""People talk while the processes that serve them are killed and stopped, any of them at any moment, and begun again.

What holds after each round: what was acknowledged is stored once and in its order, what was shown is there, every turn
is answered once and whole, and nothing is left waiting.
"""

from __future__ import annotations

import asyncio
import json
import random
import signal
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from threading import Event
from typing import Any, Self

from tests.fakes.provider import FakeProvider, Reply
from tests.house.process import manage
from tests.server.conftest import PATIENCE, STARTED, Process, Server, Worker, bare, follow
from tests.server.forking import Parent
from tests.server.websocket import Closed, Websocket
from tests.sockets.follower import Follower

PEOPLE = 3
WORDS = 60
PACE = 0.01
# In seconds: when a process is struck at the latest, and how often a page looks.
LATEST, LOOK = 1.5, 0.1
SETTINGS = {"CCM_MODEL_NAME": "fake-1", "CCM_PERSON_SENDS": "100000"}
SIGNALS = (signal.SIGKILL, signal.SIGTERM)
GONE = (Closed, OSError, asyncio.IncompleteReadError, TimeoutError)


def saying(text: str) -> str:
    """What is answered to a message: the same however often it is asked."""
    return " ".join(f"{text}:{word}" for word in range(WORDS))


@dataclass
class Matrix:
    """Rounds of one message each; in each every process is struck once."""

    server: Server
    workers: list[Worker]
    provider: FakeProvider
    moments: random.Random
    counted: Counter[str] = field(default_factory=Counter)
    gate: Event | None = None
    # Hears after each round what was done so far.
    tell: Callable[[dict[str, int]], object] = bool

    @classmethod
    def of(cls, home: Path, provider: FakeProvider, workers: int, seed: int, **settings: str) -> Self:
        runner = "worker" if workers else "embedded"
        server = Server(home, **SETTINGS, CCM_MODEL_URL=provider.url, CCM_RUNNER=runner, **settings)
        return cls(server, [Worker(**server.settings) for _ in range(workers)], provider, random.Random(seed))

    @property
    def processes(self) -> list[Process]:
        return [self.server, *self.workers]

    async def play(self, strikes: int) -> dict[str, int]:
        self.provider.otherwise = self.answer
        parent = Parent(**self.server.settings)
        for process in self.processes:
            process.begin = parent.start
        try:
            # It makes the database.
            await asyncio.to_thread(self.server.start)
            await asyncio.gather(*(asyncio.to_thread(worker.start) for worker in self.workers))
            talks = [Talk(self.server, f"talk{place}", self.counted) for place in range(PEOPLE)]
            for number in count(1):
                await self.round(talks, number)
                self.tell(self.counted)
                if self.counted["killed"] + self.counted["stopped"] >= strikes:
                    break
        finally:
            for process in self.processes:
                process.kill()
            parent.close()
        self.counted["conversations not whole"] = len(await asyncio.to_thread(self.problems))
        return dict(self.counted)

    def answer(self, request: dict[str, Any]) -> Reply:
        text = saying(request["messages"][-1]["content"].split("\n")[-1])
        return Reply(text, pace_seconds=PACE, gate=self.gate, gate_after=self.moments.randrange(WORDS))

    async def round(self, talks: list[Talk], number: int) -> None:
        # In every other round all are met in the middle of a reply, which goes on when all have been struck.
        self.gate = Event() if number % 2 else None
        asked = len(self.provider.bodies)
        people = [asyncio.create_task(talk.until_answered(number)) for talk in talks]
        if self.gate:
            await asyncio.to_thread(self.provider.wait_for_requests, asked + len(talks), STARTED)
        try:
            await asyncio.gather(*(self.strike(one, number + place) for place, one in enumerate(self.processes)))
        finally:
            if self.gate:
                self.gate.set()
        await asyncio.gather(*people)
        for talk in talks:
            talk.check(number)

    async def strike(self, process: Process, number: int) -> None:
        how = SIGNALS[number // 2 % 2]
        # At any moment is what is meant.
        await asyncio.sleep(self.moments.uniform(0, LATEST))
        await asyncio.to_thread(process.end, how)
        self.counted["killed" if how == signal.SIGKILL else "stopped"] += 1
        await asyncio.to_thread(process.start)

    def problems(self) -> list[Any]:
        said = manage("check_integrity", "--json", **self.server.settings).stdout
        found: list[Any] = json.loads(said)["problems"]
        return found


class Talk:
    """One conversation and its open page."""

    def __init__(self, server: Server, name: str, counted: Counter[str]) -> None:
        self.server, self.name, self.counted = server, name, counted
        self.session = server.new_session()
        self.follower: Follower = server.follower(self.session)
        self.follower.open()
        # By message the turn that it was acknowledged as.
        self.turns: dict[int, str] = {}

    def text(self, number: int) -> str:
        return f"{self.name} message {number}"

    async def until_answered(self, number: int) -> None:
        """As a browser: it comes back, says again what was not acknowledged, and tries again what was interrupted."""
        async with asyncio.timeout(20 * PATIENCE):
            while True:
                try:
                    async with await self.server.tab(self.session, self.follower.seq) as tab:
                        await self.say(tab, number)
                        break
                except GONE:
                    self.counted["turned away"] += 1
                    await asyncio.sleep(LOOK)
        self.follower.reload()

    async def say(self, tab: Websocket, number: int) -> None:
        await follow(tab, self.follower, "welcome")
        await tab.say(kind="send", text=self.text(number), client_id=f"id-{number}")
        sent = await follow(tab, self.follower, "ack", of="send")
        assert sent["turn"] == number
        while (state := self.attempts(number)[-1]) != "completed":
            if state == "interrupted":
                self.counted["interrupted"] += 1
                self.follower.reload()
                await tab.say(kind="retry", turn=number)
                await follow(tab, self.follower, "ack", of="retry")
            await asyncio.sleep(LOOK)
            # Without Redis nobody rings from another process; a page looks at every ping.
            await tab.say(kind="ping")
            await follow(tab, self.follower, "pong")

    def attempts(self, number: int) -> list[str]:
        return [state for (state,) in self.server.rows(ATTEMPTS, bare(self.session), number)]

    def check(self, turns: int) -> None:
        numbers = range(1, turns + 1)
        with self.server.database() as asked:
            said = asked(SAID, bare(self.session))
            replies = asked(REPLIES, bare(self.session))
            ((clock,),) = asked(CLOCK, bare(self.session))
            seqs = [seq for (seq,) in asked(NUMBERS, bare(self.session))]
            ((unsettled,),) = asked(UNSETTLED, bare(self.session))
        assert said == [(n, self.text(n)) for n in numbers]
        whole = [(n, text) for n, state, text in replies if state == "completed"]
        assert whole == [(n, saying(self.text(n))) for n in numbers]
        for n, _, text in replies:
            assert saying(self.text(n)).startswith(text)
        assert clock == turns
        assert len(seqs) == len(set(seqs))
        assert unsettled == 0
        page = self.server.page(self.session)
        assert page.live == {}
        assert self.follower.standing == page.standing
        self.counted["messages"] += 1


ATTEMPTS = """
    SELECT state FROM efforts_run JOIN efforts_turn ON efforts_turn.id = turn_id
    WHERE session_id = ? AND number = ? ORDER BY attempt
"""
SAID = """
    SELECT number, text FROM efforts_message JOIN efforts_turn ON efforts_turn.id = turn_id
    WHERE efforts_turn.session_id = ? AND role = 'user' ORDER BY efforts_message.id
"""
REPLIES = """
    SELECT number, state, text FROM efforts_message JOIN efforts_run ON efforts_run.id = efforts_message.run_id
    JOIN efforts_turn ON efforts_turn.id = efforts_run.turn_id
    WHERE efforts_turn.session_id = ? AND role = 'assistant' ORDER BY number, efforts_message.id
"""
UNSETTLED = """
    SELECT count(*) FROM efforts_run JOIN efforts_turn ON efforts_turn.id = turn_id
    WHERE session_id = ? AND state IN ('queued', 'running')
"""
NUMBERS = "SELECT seq FROM efforts_event WHERE session_id = ? ORDER BY id"
CLOCK = "SELECT clock FROM efforts_branch WHERE session_id = ?"
