"""What is measured, from a client's side of the socket."""

from __future__ import annotations

import asyncio
import re
import statistics
import time
from collections.abc import Awaitable, Callable
from typing import Any

from benchmarks.servers import resident_kib
from tests.server.websocket import Websocket

PACE = 0.02
FRAMES = 200
REPEATS = 20
STAMP = re.compile(r"t(\d+) ")

Open = Callable[[int], Awaitable[Websocket]]
Begin = Callable[[Websocket, int], Awaitable[None]]


def percentiles(values: list[float]) -> dict[str, float]:
    cuts = statistics.quantiles(values, n=100, method="inclusive")
    return {"p50": round(cuts[49], 2), "p95": round(cuts[94], 2), "n": len(values)}


async def latencies(open_socket: Open, begin: Begin, streams: int) -> dict[str, float]:
    """Milliseconds from a stamp's making to its arrival, over `streams` at once, 50 stamps a second each."""
    sockets = [await open_socket(place) for place in range(streams)]
    per_stream = await asyncio.gather(*(follow(socket, begin, place) for place, socket in enumerate(sockets)))
    for socket in sockets:
        socket.vanish()
    return percentiles([late for stream in per_stream for late in stream])


async def follow(socket: Websocket, begin: Begin, place: int) -> list[float]:
    await begin(socket, place)
    late: list[float] = []
    while True:
        frame = await socket.frame()
        now = time.monotonic_ns()
        if frame["kind"] == "delta":
            # The stamp is another process's: the monotonic clock is one for the whole machine.
            late += [(now - int(stamp)) / 1e6 for stamp in STAMP.findall(frame["text"])]
        # A tab that was behind when the message stood reads the rest by HTTP.
        elif frame["kind"] in ("run.ended", "resync"):
            return late


async def times(once: Callable[[int], Awaitable[float]], count: int) -> dict[str, float]:
    return percentiles([await once(place) for place in range(count)])


async def memory_per_socket(open_socket: Open, pid: int, counts: list[int]) -> dict[int, float]:
    """KiB of resident memory that an idle socket adds, with so many of them open at once."""
    # The first sockets load code and fill caches, which is no price of a socket.
    warm = [await open_socket(place) for place in range(20)]
    before = resident_kib(pid)
    # Who does not answer a ping is taken for gone.
    idle = [asyncio.create_task(follow_idle(socket)) for socket in warm]
    added = {}
    for count in sorted(counts):
        while len(idle) < len(warm) + count:
            idle.append(asyncio.create_task(follow_idle(await open_socket(len(idle)))))
        added[count] = round((resident_kib(pid) - before) / count, 1)
    if any(one.done() for one in idle):
        raise RuntimeError("A socket was closed while it was idle.")
    for one in idle:
        one.cancel()
    await asyncio.gather(*idle, return_exceptions=True)
    return added


async def follow_idle(socket: Websocket) -> None:
    async with socket:
        while True:
            await socket.frame()


async def elapsed_ms(socket: Websocket, kind: str, frame: dict[str, Any]) -> float:
    began = time.monotonic_ns()
    await socket.say(**frame)
    await socket.until(kind)
    return (time.monotonic_ns() - began) / 1e6
