"""Several web processes and workers on PostgreSQL and Redis."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

import pytest

from efforts.turns.listeners import LOOK
from tests.fakes.provider import FakeProvider, Reply
from tests.server.conftest import Server, working
from tests.server.kills import Matrix
from tests.server.test_killing import survive
from tests.server.websocket import Websocket

pytestmark = [pytest.mark.server, pytest.mark.grown]


async def test_a_turn_streams_from_a_worker_through_two_web_processes(
    grown: dict[str, str], tmp_path: Path, provider: FakeProvider
) -> None:
    text = " ".join(f"word{number}" for number in range(80))
    gate = threading.Event()
    provider.script = [Reply(text, pace_seconds=0.005, gate=gate, gate_after=80)]
    model = {"CCM_RUNNER": "worker", "CCM_MODEL_URL": provider.url, "CCM_MODEL_NAME": "fake-1"}
    first, second = Server(tmp_path, **model, **grown), Server(tmp_path, **model, **grown)
    try:
        # Both at once, on an empty database that each would migrate.
        first.spawn()
        second.spawn()
        first.await_start()
        second.cookies = first.cookies
        second.await_start()
        with working(first.settings):
            session = first.new_session()
            async with await first.tab(session) as writer, await second.tab(session) as reader:
                await writer.say(kind="send", text="Talk", client_id="one")
                for tab in (writer, reader):
                    await streamed(tab, text)
                gate.set()
                for tab in (writer, reader):
                    assert (await tab.until("run.ended"))[-1]["state"] == "completed"
    finally:
        for server in (first, second):
            server.kill()


async def streamed(tab: Websocket, text: str) -> None:
    """The whole text comes as deltas, sooner than a socket looks by itself."""
    shown = ""
    async with asyncio.timeout(LOOK * 3 / 4):
        while shown != text:
            frame = await tab.frame()
            if frame["kind"] == "delta":
                assert frame["offset"] == len(shown)
                shown += frame["text"]


async def test_kills_and_stops_lose_nothing(tmp_path: Path, provider: FakeProvider, grown: dict[str, str]) -> None:
    # On the database that the test before has made.
    await survive(Matrix.of(tmp_path, provider, workers=2, seed=21, **grown), strikes=3)
