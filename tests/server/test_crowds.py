"""Clients that read slowly, and clients that all come at once, as after a server that was begun anew."""

from __future__ import annotations

import asyncio

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
    async with asyncio.timeout(ALL_IN):
        tabs = await asyncio.gather(*(let_in(server, session) for _ in range(CROWD)))
        await tabs[0].say(kind="send", text="Hello", client_id="one")
        ends = await asyncio.gather(*(tab.until("run.ended") for tab in tabs))
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
