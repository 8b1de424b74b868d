"""Stop, and the end of the process, on a real server."""

from __future__ import annotations

import http.client
import threading
import time
from contextlib import suppress

import pytest

from tests.fakes.provider import FakeProvider, NoAnswer, Reply
from tests.server.conftest import Server, follow

pytestmark = [pytest.mark.server, pytest.mark.long]


async def test_stop_is_acknowledged_while_the_provider_is_silent(server: Server, provider: FakeProvider) -> None:
    provider.script = [NoAnswer()]
    session = server.new_session()
    async with await server.tab(session) as tab:
        await tab.say(kind="send", text="Hi", client_id="one")
        run = (await tab.until("plan.made"))[-1]["run"]
        await tab.say(kind="stop", run=run)
        frames = await tab.until("run.ended")
    told = [frame["kind"] for frame in frames if frame["kind"] != "ack" or frame["of"] == "stop"]
    assert sorted(told[:-1]) == ["ack", "run.stopping"]
    assert frames[-1]["state"] == "stopped"
    assert server.runs(session) == {run: "stopped"}


async def test_a_terminated_server_marks_what_it_was_answering_with_its_text(
    server: Server, provider: FakeProvider
) -> None:
    provider.script = [Reply("One two three four", gate=threading.Event(), gate_after=3), Reply("All four.")]
    session = server.new_session()
    follower = server.follower(session)
    async with await server.tab(session) as tab:
        await tab.say(kind="send", text="Count", client_id="one")
        delta = await follow(tab, follower, "delta")
        call = (delta["run"], delta["call"])
        while follower.live[call] != "One two three":
            await follow(tab, follower, "delta")
        server.end()
    assert server.runs(session) == {delta["run"]: "interrupted"}
    assert server.page(session).standing[call] == "One two three"
    server.start()
    async with await server.tab(session, follower.seq) as tab:
        await tab.say(kind="retry", turn=1)
        again = await follow(tab, follower, "ack", of="retry")
        while server.runs(session)[again["run"]] != "completed":
            follower.take(await tab.frame())
    assert "All four." in server.page(session).standing.values()


def test_a_terminated_server_ends_although_pages_are_being_made(server: Server) -> None:
    server.new_session()
    asking = [threading.Thread(target=ask_on, args=(server,)) for _ in range(8)]
    for one in asking:
        one.start()
    time.sleep(1)
    server.end()
    for one in asking:
        one.join()
    server.start()
    assert server.request("GET", "/")[0] == 200


def ask_on(server: Server) -> None:
    # Until nobody answers any more.
    with suppress(OSError, http.client.HTTPException):
        while True:
            server.request("GET", "/")
