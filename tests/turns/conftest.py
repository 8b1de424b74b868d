"""A running runner, a provider that does as it is told, and ways to wait for what must happen."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Any
from uuid import uuid4

import pytest
import pytest_asyncio
from channels.layers import channel_layers, get_channel_layer
from django.contrib.auth.models import User

from efforts import actions
from efforts.domain.effort.states import UNFINISHED
from efforts.log import events
from efforts.models import Endpoint, Event, Message, Run, Session, Turn
from efforts.models.threads import read, write
from efforts.turns.runner import Runner, stop
from tests.fakes.provider import FakeProvider

PATIENCE = 10.0


@pytest.fixture
def provider() -> Iterator[FakeProvider]:
    with FakeProvider() as provider:
        yield provider


@pytest.fixture
def session(transactional_db: None, alice: User, provider: FakeProvider) -> Session:
    """A conversation of alice that the fake provider answers."""
    endpoint = Endpoint.objects.create(
        owner=alice, name="fake", base_url=provider.url, model="fake-1", timeout_seconds=5
    )
    session = actions.create_session(alice)
    return actions.configure_session(
        session, actor=alice, endpoint=endpoint, model="", budget=16_000, ambient_window=10
    )


@pytest.fixture
def layer(settings: Any) -> Any:
    """A channel layer of this test alone: one belongs to one loop, and other workers use the same Redis."""
    config = settings.CHANNEL_LAYERS["default"]
    if "prefix" in config["CONFIG"]:
        settings.CHANNEL_LAYERS = {
            "default": {**config, "CONFIG": {**config["CONFIG"], "prefix": f"test-{uuid4().hex}"}}
        }
    channel_layers.backends = {}
    return get_channel_layer()


@pytest_asyncio.fixture
async def runner(transactional_db: None, layer: Any) -> AsyncIterator[Runner]:
    runner = Runner()
    task = asyncio.create_task(runner.run())
    yield runner
    await stop(runner, task)


class Stage:
    """Says what a person says, and waits for what comes of it."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.sent = 0

    async def say(self, text: str, client_id: str = "") -> Turn:
        self.sent += 1
        client_id = client_id or f"message-{self.sent}"
        return await write(actions.send_message, self.session, text=text, client_id=client_id, actor=self.session.owner)

    async def ask(self, text: str) -> Turn:
        turn = await self.say(text)
        await self.settled()
        return await self.turn(turn.number)

    async def turn(self, number: int) -> Turn:
        return await read(Turn.objects.select_related("run", "session").get, session=self.session, number=number)

    async def stop(self, turn: Turn) -> Run:
        current = await self.turn(turn.number)
        assert current.run is not None
        return await write(actions.stop_run, current.run, actor=self.session.owner)

    async def retry(self, turn: Turn, **changes: Any) -> Run:
        return await write(actions.retry_turn, turn, actor=self.session.owner, changes=changes)

    async def settled(self) -> None:
        """All runs of the session have ended."""
        unfinished = Run.objects.filter(turn__session=self.session, state__in=UNFINISHED)
        await self.until(lambda: read(lambda: not unfinished.exists()))

    async def logged(self, kind: str, count: int = 1) -> None:
        entries = Event.objects.filter(session=self.session, kind=kind)
        await self.until(lambda: read(lambda: entries.count() >= count))

    async def until(self, holds: Callable[[], Awaitable[bool]]) -> None:
        layer = get_channel_layer()
        channel = await layer.new_channel()
        await layer.group_add(events.PAGES, channel)
        async with asyncio.timeout(PATIENCE):
            while not await holds():
                await layer.receive(channel)
        await layer.group_discard(events.PAGES, channel)

    async def texts(self, turn: Turn) -> list[tuple[str, str]]:
        current = await self.turn(turn.number)
        rows = Message.objects.filter(turn=turn).filter(run__in=[None, current.run_id]) | Message.objects.filter(
            turn=turn, run=None
        )
        return await read(lambda: [(row.role, row.text) for row in rows.order_by("id")])


@pytest.fixture
def stage(session: Session, layer: Any) -> Stage:
    # Whoever waits on it listens to a layer of this test, and not to one that an earlier loop has left locked.
    return Stage(session)
