"""Paced streams through one process or two: `python -m benchmarks.streams --streams 100 --processes 2`.

What the product adds to the way of each piece of text, beside a bare consumer in the same run, and whether any text was
lost or shown twice, as JSON. On SQLite; where DATABASE_URL and REDIS_URL are set, on a new database of that PostgreSQL.
Two processes are one that serves and one that answers, and need both. `--first-token` asks instead for the first piece
of a reply, in conversations of so many messages. The figures are those of a quiet machine.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import os
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import django

from benchmarks import servers
from benchmarks.measures import FRAMES, PACE, STAMP, percentiles
from tests.server.conftest import new_database, working
from tests.server.websocket import Websocket

if TYPE_CHECKING:
    from benchmarks.stage import Stage

# Of the first piece of a reply: what the provider waits before it, in seconds; how often it is asked for. Of twenty the
# 95th percentile would be the second worst, which is of a process that has just begun.
PAUSE, TIMES = 0.2, 60


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--streams", type=int, default=100)
    parser.add_argument("--processes", type=int, choices=(1, 2), default=1)
    parser.add_argument("--pieces", type=int, default=FRAMES, help="of each stream")
    parser.add_argument("--pace", type=float, default=PACE, help="seconds between two pieces")
    parser.add_argument("--first-token", type=int, default=0, metavar="MESSAGES", help="of each of two conversations")
    parser.add_argument("--crowding", action="store_true", help="one sends as fast as the limits allow, another reads")
    arguments = parser.parse_args()
    with ExitStack() as stack:
        home = stack.enter_context(tempfile.TemporaryDirectory())
        grown = "DATABASE_URL" in os.environ and "REDIS_URL" in os.environ
        if arguments.processes == 2 and not grown:
            parser.error("two processes need DATABASE_URL and REDIS_URL")
        if grown:
            os.environ["DATABASE_URL"] = stack.enter_context(new_database(os.environ["DATABASE_URL"]))
        os.environ.update(CCM_HOME=home, DJANGO_SETTINGS_MODULE="ccmweb.settings")
        django.setup()
        load = os.getloadavg()[0]
        if arguments.crowding:
            found = crowded(arguments.processes)
        else:
            found = first_tokens(arguments) if arguments.first_token else streamed(arguments)
        about = {"on": "PostgreSQL and Redis" if grown else "SQLite", "processes": arguments.processes}
        loads = [round(one, 1) for one in (load, os.getloadavg()[0])]
        print(json.dumps({**about, **found, "load_of_the_machine": loads}, indent=2))


def staged(sessions: int) -> Stage:
    from django.core.management import call_command
    from django.db import connections

    from benchmarks.stage import Stage

    call_command("migrate", verbosity=0)
    stage = Stage.set(sessions)
    connections.close_all()
    return stage


@contextmanager
def product(processes: int, limits: dict[str, str]) -> Iterator[int]:
    """The port of the one that serves."""
    with ExitStack() as stack:
        provider = stack.enter_context(servers.paced_provider())
        runner = {"CCM_RUNNER": "worker" if processes == 2 else "embedded"}
        settings = {**limits, **runner}
        port, _ = stack.enter_context(servers.product(provider, **settings))
        if processes == 2:
            here = {name: os.environ[name] for name in ("CCM_HOME", "DATABASE_URL", "REDIS_URL")}
            stack.enter_context(working({**here, **servers.model(provider), **settings}))
        yield port


def crowded(processes: int) -> dict[str, Any]:
    """With the limits that are set where nobody sets any."""
    from django.core.management import call_command
    from django.db import connections

    from benchmarks.crowding import CONVERSATIONS, ROUNDS, crowding
    from benchmarks.stage import Stage

    call_command("migrate", verbosity=0)
    busy = [Stage.set(CONVERSATIONS, f"busy{number}") for number in range(ROUNDS)]
    other = Stage.set(2 * ROUNDS, "other")
    connections.close_all()
    with product(processes, limits={}) as port:
        return asyncio.run(crowding(port, busy, other))


def streamed(arguments: argparse.Namespace) -> dict[str, Any]:
    stage = staged(arguments.streams)
    with servers.bare() as (port, _):
        bare = percentiles(asyncio.run(bare_streams(port, arguments)))
    with product(arguments.processes, servers.UNBOUNDED) as port:
        # What measures must not stop to look for garbage: the delay would be the product's.
        gc.freeze()
        seen = asyncio.run(product_streams(port, stage, arguments))
    late = percentiles([late for one in seen for late in one.late])
    # Until the last of them has begun, prompts are planned: that is the wait for a first piece.
    begun = max(one.made[0] for one in seen if one.made)
    running = [late for one in seen for made, late in zip(one.made, one.late, strict=True) if made >= begun]
    return {
        "streams": arguments.streams,
        "pieces_a_second": round(arguments.streams / arguments.pace),
        "bare_ms": bare,
        "product_ms": late,
        "added_p95": round(late["p95"] - bare["p95"], 1),
        "when_all_have_begun_ms": percentiles(running) if running else None,
        "text": dict(Counter(shown(one, stage, arguments.pieces) for one in seen)),
    }


async def bare_streams(port: int, arguments: argparse.Namespace) -> list[float]:
    async def one() -> list[float]:
        socket = await Websocket.open(port, "/", "")
        await socket.say(frames=arguments.pieces, pace=arguments.pace)
        seen = Seen()
        while (frame := await socket.frame())["kind"] != "run.ended":
            seen.add(frame["text"])
        socket.vanish()
        return seen.late

    each = await asyncio.gather(*(one() for _ in range(arguments.streams)))
    return [late for stream in each for late in stream]


class Seen:
    """Of one stream: when each piece was made, milliseconds from there to its arrival, and the text as it was shown."""

    def __init__(self) -> None:
        self.made: list[int] = []
        self.late: list[float] = []
        self.text, self.run, self.holes = "", "", 0

    def add(self, text: str) -> None:
        # The clock is one for all processes of a machine.
        now = time.monotonic_ns()
        self.text += text
        made = [int(stamp) for stamp in STAMP.findall(text)]
        self.made += made
        self.late += [(now - one) / 1e6 for one in made]


async def product_streams(port: int, stage: Stage, arguments: argparse.Namespace) -> list[Seen]:
    # All pages are open before the first message: what opening them takes is another figure (`--only sockets`).
    tabs = await asyncio.gather(*(open_tab(port, stage, place) for place in range(arguments.streams)))

    async def one(tab: Websocket) -> Seen:
        seen = Seen()
        async with tab as socket:
            order = f"stream {arguments.pieces} {arguments.pace}"
            await socket.say(kind="send", client_id=uuid4().hex, text=order)
            while True:
                frame = await socket.frame()
                if frame["kind"] == "ack":
                    seen.run = frame["run"]
                elif frame["kind"] == "delta":
                    seen.holes += frame["offset"] != len(seen.text)
                    seen.add(frame["text"])
                # A page that was behind when the message stood reads the rest by HTTP.
                elif frame["kind"] in ("run.ended", "resync"):
                    return seen

    return await asyncio.gather(*map(one, tabs))


async def open_tab(port: int, stage: Stage, place: int) -> Websocket:
    socket = await Websocket.open(port, f"/ws/s/{stage.sessions[place]}/", stage.cookie)
    await socket.say(kind="hello", last_seq=0)
    await socket.until("session.created")
    return socket


def shown(seen: Seen, stage: Stage, pieces: int) -> str:
    """What became of the text of a stream, beside what is stored."""
    from efforts.models import Message, Run

    run = Run.objects.get(pk=seen.run)
    stamps = STAMP.findall("".join(Message.objects.filter(run=run, role="assistant").values_list("text", flat=True)))
    if run.state != "completed":
        return f"{run.state}: {run.error_text}"
    if len(stamps) != pieces or stamps != sorted(set(stamps), key=int):
        return "stored with text that is missing or doubled"
    if seen.holes or stamps[: len(STAMP.findall(seen.text))] != STAMP.findall(seen.text):
        return "shown with text that is missing or doubled"
    return "whole" if len(seen.late) == pieces else "whole, its end read with the message"


def first_tokens(arguments: argparse.Namespace) -> dict[str, Any]:
    from django.core.management import call_command

    from benchmarks.growth import analyze, crowd
    from efforts.models import Session

    stage = staged(2)
    crowd(stage.owner, list(Session.objects.filter(pk__in=stage.sessions)), 2 * arguments.first_token)
    call_command("rebuild_index", verbosity=0)
    # As a server does by itself, a minute after so much is new.
    analyze()
    with servers.bare() as (bare_port, _), product(arguments.processes, servers.UNBOUNDED) as port:
        found = asyncio.run(by_turns(bare_port, port, stage))
    bare, late = percentiles(found["bare"]), percentiles(found["product"])
    return {
        "messages_of_each_conversation": arguments.first_token,
        "bare_ms": bare,
        "product_ms": late,
        "added_p95": round(late["p95"] - bare["p95"], 1),
    }


async def by_turns(bare_port: int, port: int, stage: Stage) -> dict[str, list[float]]:
    """Milliseconds to the first piece, now of one and now of the other: what else the machine does meets both alike."""
    found: dict[str, list[float]] = {"bare": [], "product": []}
    for place in range(TIMES):
        async with await Websocket.open(bare_port, "/", "") as socket:
            found["bare"].append(await until_first(socket, {"frames": 2, "pace": PAUSE}))
        async with await open_tab(port, stage, place % 2) as socket:
            order = {"kind": "send", "client_id": uuid4().hex, "text": f"stream 2 {PAUSE}"}
            found["product"].append(await until_first(socket, order))
    return found


async def until_first(socket: Websocket, order: dict[str, Any]) -> float:
    began = time.monotonic_ns()
    await socket.say(**order)
    await socket.until("delta")
    late = (time.monotonic_ns() - began) / 1e6 - 1000 * PAUSE
    await socket.until("run.ended")
    return late


if __name__ == "__main__":
    main()
