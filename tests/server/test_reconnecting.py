"""Sockets drop at any moment: every browser ends with the text that is stored, byte for byte, once."""

from __future__ import annotations

import asyncio
import random

import pytest

from tests.fakes.provider import FakeProvider, Reply
from tests.server.conftest import PATIENCE, Server, follow_for
from tests.sockets.follower import Follower

pytestmark = [pytest.mark.server, pytest.mark.long]

TURNS = 3
# Of one, two, three and four bytes, and joined ones: offsets count code points.
WORDS = ["plain", "naïve", "日本旅行", "👩‍👩‍👧", "🇩🇪", "e\u0301", "\u202eright", "🏳️‍🌈"]


async def test_browsers_whose_sockets_drop_have_what_is_stored(server: Server, provider: FakeProvider) -> None:
    script = random.Random(7)
    texts = [" ".join(script.choices(WORDS, k=120)) for _ in range(TURNS)]
    provider.script = [Reply(text, pace_seconds=0.008) for text in texts]
    session = server.new_session()
    followers = [server.follower(session) for _ in range(3)]
    async with asyncio.timeout(PATIENCE):
        await asyncio.gather(
            talk(server, session), *(watch(server, session, follower, n) for n, follower in enumerate(followers))
        )
    stored = list(server.page(session).standing.values())
    assert stored == texts
    assert [list(follower.standing.values()) for follower in followers] == [stored] * 3


async def talk(server: Server, session: str) -> None:
    """All messages at once: the later ones wait."""
    async with await server.tab(session) as tab:
        for number in range(TURNS):
            await tab.say(kind="send", text=f"message {number}", client_id=f"id-{number}")
            await tab.until("ack")


async def watch(server: Server, session: str, follower: Follower, seed: int) -> None:
    moments = random.Random(seed)
    while list(server.runs(session).values()) != ["completed"] * TURNS:
        async with await server.tab(session, follower.seq) as tab:
            await follow_for(moments.uniform(0, 0.4), tab, follower)
        if moments.random() < 0.5:
            follower.catch_up()
    follower.reload()
