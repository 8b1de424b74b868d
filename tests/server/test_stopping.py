"""Stop, and the end of the process, on a real server."""

from __future__ import annotations

import threading

import pytest

from tests.fakes.provider import FakeProvider, NoAnswer, Reply
from tests.server.conftest import Server, follow

pytestmark = pytest.mark.server


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
