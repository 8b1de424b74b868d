"""The process is killed at any moment: what was acknowledged and what was shown is there after the next start."""

from __future__ import annotations

import asyncio
import random

import pytest

from tests.fakes.provider import FakeProvider, Reply
from tests.server.conftest import PATIENCE, Server, bare, follow, follow_for
from tests.sockets.follower import Follower

pytestmark = [pytest.mark.server, pytest.mark.slow]

KILLS = 10
WORDS = 60
PACE = 0.008


@pytest.mark.parametrize("seed", [20, 21])
async def test_ten_kills_lose_nothing_that_was_acknowledged_or_shown(
    server: Server, provider: FakeProvider, seed: int
) -> None:
    provider.otherwise = lambda request: Reply(saying(len(provider.bodies)), pace_seconds=PACE)
    moments = random.Random(seed)
    session = server.new_session()
    follower = server.follower(session)
    follower.open()
    states = set()
    for number in range(1, KILLS + 1):
        await send_and_kill(server, session, follower, number, moments.uniform(0, 1.6 * WORDS * PACE))
        server.start()
        states.add(await begin_again(server, session, follower, number))
        check(server, session, number)
    assert "interrupted" in states


def saying(number: int) -> str:
    return " ".join(f"{number}:{word}" for word in range(WORDS))


async def send_and_kill(server: Server, session: str, follower: Follower, number: int, moment: float) -> None:
    async with await server.tab(session, follower.seq) as tab:
        await follow(tab, follower, "welcome")
        await tab.say(kind="send", text=f"message {number}", client_id=f"id-{number}")
        frames = await follow_for(moment, tab, follower)
        server.kill()
        frames += await follow_for(PATIENCE, tab, follower)
    if any(frame["kind"] == "ack" for frame in frames):
        assert server.rows(SENT, bare(session), f"id-{number}") == [(f"message {number}",)]


async def begin_again(server: Server, session: str, follower: Follower, number: int) -> str:
    """As a browser: say what was not acknowledged again, try again what was interrupted. The state that was met."""
    async with await server.tab(session, follower.seq) as tab:
        await follow(tab, follower, "welcome")
        await tab.say(kind="send", text=f"message {number}", client_id=f"id-{number}")
        sent = await follow(tab, follower, "ack", of="send")
        assert sent["turn"] == number
        met = await ended(server, session, sent["run"])
        if met == "interrupted":
            follower.reload()
            await tab.say(kind="retry", turn=number)
            retried = await follow(tab, follower, "ack", of="retry")
            assert await ended(server, session, retried["run"]) == "completed"
    follower.reload()
    return met


async def ended(server: Server, session: str, run: str) -> str:
    async with asyncio.timeout(PATIENCE), await server.tab(session) as tab:
        while server.runs(session)[run] in ("queued", "running"):
            await tab.frame()
    return server.runs(session)[run]


def check(server: Server, session: str, turns: int) -> None:
    assert server.rows(SAID, bare(session)) == [(n, f"message {n}") for n in range(1, turns + 1)]
    assert server.page(session).live == {}
    numbers = [seq for (seq,) in server.rows(NUMBERS, bare(session))]
    assert len(numbers) == len(set(numbers))
    assert server.rows(CLOCK, bare(session)) == [(turns,)]


SENT = """
    SELECT text FROM efforts_message JOIN efforts_turn ON efforts_turn.id = turn_id
    WHERE efforts_turn.session_id = ? AND client_id = ? AND role = 'user'
"""
SAID = """
    SELECT number, text FROM efforts_message JOIN efforts_turn ON efforts_turn.id = turn_id
    WHERE efforts_turn.session_id = ? AND role = 'user' ORDER BY efforts_message.id
"""
NUMBERS = "SELECT seq FROM efforts_event WHERE session_id = ? ORDER BY id"
CLOCK = "SELECT clock FROM efforts_branch WHERE session_id = ?"
