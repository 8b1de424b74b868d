"""Clients that read slowly, and clients that all come at once, as after a server that was begun anew."""

from __future__ import annotations

import asyncio
import platform
import subprocess
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.provider import FakeProvider, Reply
from tests.server.conftest import Server, follow
from tests.server.websocket import Closed, Websocket

pytestmark = [pytest.mark.server, pytest.mark.slow]

CROWD = 1_000
# Pieces of a reply, and characters of each: more than sockets and kernel hold for one who does not read.
PIECES, LONG = 400, 10_000
# In seconds: how long a whole crowd may take on a machine that does other things too.
ALL_IN = 240.0
# As large and as aligned as glibc makes a heap of its own for a thread.
HEAP = 64 * 1024 * 1024


async def test_who_does_not_read_holds_up_nobody_and_has_all_of_it_later(
    server: Server, provider: FakeProvider
) -> None:
    text = " ".join("x" * LONG for _ in range(PIECES))
    provider.script = [Reply(text)]
    session = server.new_session()
    async with await server.tab(session) as slow, await server.tab(session) as quick:
        await slow.until("welcome")
        slow.writer.transport.pause_reading()  # type: ignore[attr-defined]
        await quick.say(kind="send", text="Talk", client_id="one")
        assert (await quick.until("run.ended"))[-1]["state"] == "completed"
        # Nor pages.
        assert server.request("GET", "/livez")[0] == 200
        slow.writer.transport.resume_reading()  # type: ignore[attr-defined]
        follower = server.follower(session)
        await follow(slow, follower, "run.ended")
    follower.reload()
    assert list(server.page(session).standing.values()) == [text]


async def test_all_that_come_back_at_once_are_all_let_in(server: Server, provider: FakeProvider) -> None:
    provider.script = [Reply("All right.")]
    session = server.new_session()
    tabs: list[Websocket] = []

    async def come_and_stay() -> list[dict[str, Any]]:
        tab = await let_in(server, session)
        tabs.append(tab)
        if len(tabs) == CROWD:
            await tab.say(kind="send", text="Hello", client_id="one")
        # Read meanwhile, as a browser does: who answers no ping is taken for gone.
        return await tab.until("run.ended")

    async with asyncio.timeout(ALL_IN):
        ends = await asyncio.gather(*(come_and_stay() for _ in range(CROWD)))
    assert {frames[-1]["state"] for frames in ends} == {"completed"}
    assert {tuple(frame["kind"] for frame in frames).count("turn.sent") for frames in ends} == {1}
    for tab in tabs:
        tab.vanish()
    assert len(server.runs(session)) == 1


async def let_in(server: Server, session: str) -> Websocket:
    """As a browser: whoever is turned away comes again."""
    while True:
        try:
            tab = await server.tab(session)
            tab.patience = ALL_IN
            await tab.until("welcome")
        except (Closed, OSError, asyncio.IncompleteReadError):
            continue
        return tab


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="Another C library.")
async def test_threads_of_many_pages_share_two_heaps(server: Server) -> None:
    """Sixteen, each as large as the largest page that it was ever used for, are what a server seems to leak."""
    pages = [asyncio.to_thread(server.request, "GET", "/settings/") for _ in range(24)]
    assert {status for status, *_ in await asyncio.gather(*pages)} == {200}
    assert isinstance(server.process, subprocess.Popen)
    # Beside the first, which lies elsewhere.
    assert heaps(server.process.pid) == 1


def heaps(pid: int) -> int:
    """What is used of each is followed by what is set aside for it."""
    maps = [line.split()[:2] for line in Path(f"/proc/{pid}/maps").read_text().splitlines()]
    begins = [int(where.split("-")[0], 16) for where, _ in maps]
    return sum(
        begin % HEAP == 0 and (may, rest) == ("rw-p", "---p")
        for begin, ((_, may), (_, rest)) in zip(begins, pairwise(maps), strict=False)
    )
