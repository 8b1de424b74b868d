"""One person sends as fast as the limits allow: what that costs another, in turns and in pages."""

from __future__ import annotations

import asyncio
import http.client
import time
from collections import Counter
from contextlib import closing
from typing import Any
from uuid import uuid4

from benchmarks.measures import times
from benchmarks.stage import Stage
from efforts.models import Run
from tests.server.websocket import Websocket

# Of the one who sends: conversations, and what each turn is, two seconds of pieces.
CONVERSATIONS = 20
LONG = "stream 100 0.02"
# The provider waits before its first word, or a reply might stand before any text is shown.
SHORT, PAUSE = "stream 2 0.2", 200
REPEATS = 15
# What the one who sends does when nothing more is taken, in seconds.
AGAIN = 0.05


async def crowding(port: int, busy: Stage, other: Stage) -> dict[str, Any]:
    quiet = await seen_by(port, other)
    told: Counter[str] = Counter()
    enough = asyncio.Event()
    senders = [asyncio.create_task(send_on(port, busy, place, told, enough)) for place in range(CONVERSATIONS)]
    # Once a message is refused, all that one person may have is taken.
    await enough.wait()
    crowded = await seen_by(port, other)
    for sender in senders:
        sender.cancel()
    await asyncio.gather(*senders, return_exceptions=True)
    return {
        "quiet": quiet,
        "crowded": crowded,
        "taken_of_the_one": told["ack"],
        "refused": told["error"],
        "begun_before_the_other": await asyncio.to_thread(begun_before, busy, other),
    }


def begun_before(busy: Stage, other: Stage) -> dict[str, int]:
    """How many turns of the one began between a message of the other and its own beginning: fairness without a clock
    that a busy machine slows."""
    of_one = Run.objects.filter(turn__session__owner=busy.owner)
    counts = [
        of_one.filter(started_at__gt=sent, started_at__lt=begun).count()
        for sent, begun in Run.objects.filter(turn__session__owner=other.owner).values_list("created_at", "started_at")
    ]
    return {"most": max(counts), "together": sum(counts), "messages": len(counts)}


async def seen_by(port: int, other: Stage) -> dict[str, Any]:
    """Milliseconds from a message to the first word of its reply, and to a whole page."""
    socket = await Websocket.open(port, f"/ws/s/{other.sessions[0]}/", other.cookie)
    await socket.say(kind="hello", last_seq=0)
    # What was said before is not waited for again.
    await socket.say(kind="hello", last_seq=(await socket.until("welcome"))[-1]["seq"])
    await socket.until("welcome")

    async def turn(place: int) -> float:
        began = time.monotonic_ns()
        await socket.say(kind="send", text=SHORT, client_id=uuid4().hex)
        kind, first = "", 0.0
        while kind != "run.ended":
            kind = (await socket.frame())["kind"]
            # A page that is behind hears of the whole reply alone.
            if not first and kind in ("delta", "message.stands", "run.ended"):
                first = (time.monotonic_ns() - began) / 1e6
        return first - PAUSE

    async def page(place: int) -> float:
        return await asyncio.to_thread(page_ms, port, other)

    found = {"first_token_ms": await times(turn, REPEATS), "page_ms": await times(page, REPEATS)}
    socket.vanish()
    return found


def page_ms(port: int, other: Stage) -> float:
    began = time.monotonic_ns()
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=60)) as connection:
        connection.request("GET", f"/s/{other.sessions[0]}/", headers={"Cookie": other.cookie})
        answer = connection.getresponse()
        answer.read()
        assert answer.status == 200, answer.status
    return (time.monotonic_ns() - began) / 1e6


async def send_on(port: int, busy: Stage, place: int, told: Counter[str], enough: asyncio.Event) -> None:
    socket = await Websocket.open(port, f"/ws/s/{busy.sessions[place]}/", busy.cookie)
    while True:
        await socket.say(kind="send", text=LONG, client_id=uuid4().hex)
        kind = ""
        while kind not in ("ack", "error"):
            kind = (await socket.frame())["kind"]
        told[kind] += 1
        if kind == "error":
            enough.set()
            await asyncio.sleep(AGAIN)
