"""One person sends as fast as the limits allow: what that costs another, in turns and in pages."""

from __future__ import annotations

import asyncio
import http.client
import os
import time
from collections import Counter
from collections.abc import Coroutine, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from benchmarks.measures import percentiles
from benchmarks.stage import Stage
from efforts.domain.effort.states import RunState
from efforts.models import Run
from tests.server.websocket import Websocket

# Of the one who sends: conversations, and what each turn is, two seconds of pieces.
CONVERSATIONS = 20
LONG = "stream 100 0.02"
# The provider waits before its first word, or a reply might stand before any text is shown.
SHORT, PAUSE = "stream 2 0.2", 200
# Turns of the other in each half of a round, and pages after each turn: as long as the one's sixty turns last.
REPEATS, PAGES = 8, 3
ROUNDS = 4
# What the one who sends does when nothing more is taken, in seconds.
AGAIN = 0.05


async def crowding(port: int, busy: Sequence[Stage], other: Stage) -> dict[str, Any]:
    """By turns quiet and crowded, so that what else the machine does meets both alike. Each round has a person of its
    own who sends: the limits of the last one's minute are used up."""
    seen: dict[str, Seen] = {"quiet": Seen(), "crowded": Seen()}
    told: Counter[str] = Counter()
    before = os.getloadavg()[0]
    for number, one in enumerate(busy):
        # A conversation for each half, for pages of one length.
        quiet, crowded = other.sessions[2 * number : 2 * number + 2]
        await see(port, other.cookie, quiet, seen["quiet"])
        await crowd(port, one, told, see(port, other.cookie, crowded, seen["crowded"]))
    more, less = percentiles(seen["crowded"].page_ms), percentiles(seen["quiet"].page_ms)
    return {
        **{name: one.told() for name, one in seen.items()},
        "crowded_by_quiet": {name: round(more[name] / less[name], 2) for name in ("p50", "p95")},
        "taken_of_the_one": told["ack"],
        "refused": told["error"],
        "begun_before_the_other": await asyncio.to_thread(begun_before, busy, other),
        "load_of_the_machine": [round(load, 1) for load in (before, os.getloadavg()[0])],
    }


@dataclass
class Seen:
    """Milliseconds from a message to the first word of its reply, and to a whole page."""

    first_token_ms: list[float] = field(default_factory=list)
    page_ms: list[float] = field(default_factory=list)

    def told(self) -> dict[str, Any]:
        return {name: percentiles(values) for name, values in vars(self).items()}


async def crowd(port: int, busy: Stage, told: Counter[str], looking: Coroutine[Any, Any, None]) -> None:
    """Look while the one sends; it ends when all of its turns have."""
    enough = asyncio.Event()
    senders = [asyncio.create_task(send_on(port, busy, place, told, enough)) for place in range(CONVERSATIONS)]
    # Once a message is refused, all that one person may have is taken.
    await enough.wait()
    await looking
    for sender in senders:
        sender.cancel()
    await asyncio.gather(*senders, return_exceptions=True)
    await asyncio.to_thread(wait_for_all, busy)


def wait_for_all(busy: Stage) -> None:
    while Run.objects.filter(turn__session__owner=busy.owner, state__in=(RunState.QUEUED, RunState.RUNNING)).exists():
        time.sleep(1)


def begun_before(busy: Sequence[Stage], other: Stage) -> dict[str, int]:
    """How many turns of the one began between a message of the other and its own beginning: fairness without a clock
    that a busy machine slows."""
    of_one = Run.objects.filter(turn__session__owner__in=[one.owner for one in busy])
    counts = [
        of_one.filter(started_at__gt=sent, started_at__lt=begun).count()
        for sent, begun in Run.objects.filter(turn__session__owner=other.owner).values_list("created_at", "started_at")
    ]
    return {"most": max(counts), "together": sum(counts), "messages": len(counts)}


async def see(port: int, cookie: str, session: str, seen: Seen) -> None:
    async with await Websocket.open(port, f"/ws/s/{session}/", cookie) as socket:
        await socket.say(kind="hello", last_seq=0)
        for _ in range(REPEATS):
            seen.first_token_ms.append(await first_token_ms(socket))
            for _ in range(PAGES):
                seen.page_ms.append(await asyncio.to_thread(page_ms, port, cookie, session))


async def first_token_ms(socket: Websocket) -> float:
    began = time.monotonic_ns()
    await socket.say(kind="send", text=SHORT, client_id=uuid4().hex)
    kind, first = "", 0.0
    # A page that is behind hears of the whole reply alone, or that it should read by HTTP.
    while kind not in ("run.ended", "resync"):
        kind = (await socket.frame())["kind"]
        if not first and kind in ("delta", "message.stands", "run.ended", "resync"):
            first = (time.monotonic_ns() - began) / 1e6
    return first - PAUSE


def page_ms(port: int, cookie: str, session: str) -> float:
    began = time.monotonic_ns()
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=60)) as connection:
        connection.request("GET", f"/s/{session}/", headers={"Cookie": cookie})
        answer = connection.getresponse()
        answer.read()
        assert answer.status == 200, answer.status
    return (time.monotonic_ns() - began) / 1e6


async def send_on(port: int, busy: Stage, place: int, told: Counter[str], enough: asyncio.Event) -> None:
    async with await Websocket.open(port, f"/ws/s/{busy.sessions[place]}/", busy.cookie) as socket:
        while True:
            await socket.say(kind="send", text=LONG, client_id=uuid4().hex)
            kind = ""
            while kind not in ("ack", "error"):
                kind = (await socket.frame())["kind"]
            told[kind] += 1
            if kind == "error":
                enough.set()
                await asyncio.sleep(AGAIN)
