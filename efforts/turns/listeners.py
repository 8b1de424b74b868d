"""The sockets of a process, by conversation: the channel layer reaches all of them by one channel.

So an idle socket has no task of its own, and what is rung comes to a process once, however many of its pages show it.
What is rung for conversations that no page here shows is passed over.
"""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Awaitable, Callable
from typing import Any, Protocol
from uuid import UUID

from channels.layers import get_channel_layer

from efforts.log import events
from efforts.turns.runner import end

# How long joining or leaving a group may take, in seconds.
LAYER_SECONDS = 5.0
# In a row, when the layer is asked for what was rung.
MOST_FAULTS = 3


class Listener(Protocol):
    session_id: UUID

    def hear(self, frames: list[dict[str, Any]]) -> None:
        """Take what was rung."""

    def ring(self) -> None:
        """Look at the log: what was rung may be lost."""

    def hang_up(self) -> None:
        """The conversation is gone."""

    def hear_nothing(self, fault: BaseException) -> None:
        """The layer does not answer; who listens has to come anew."""


class Listeners:
    """Of one loop. It hears for as long as there are any."""

    def __init__(self, layer: Any) -> None:
        self.layer = layer
        self.loop = asyncio.get_running_loop()
        # By the conversation's id as rings have it.
        self.of: dict[str, set[Listener]] = {}
        self.channel = ""
        self.hearing: asyncio.Task[None] | None = None
        # Under way: hundreds of pages that come at once, as after a restart, ask the layer once.
        self.joining: asyncio.Task[BaseException | None] | None = None

    async def add(self, one: Listener) -> BaseException | None:
        """What keeps it from hearing, if anything does."""
        self.of.setdefault(str(one.session_id), set()).add(one)
        return await self.renew()

    async def renew(self) -> BaseException | None:
        """Join again: a layer that was begun anew has forgotten who listens."""
        # The last one may have left meanwhile.
        if not self.of:
            return None
        if self.joining is None or self.joining.done():
            self.joining = asyncio.create_task(fault_of(self.join), context=contextvars.Context())
        # A page that leaves meanwhile does not take it from the others.
        return await asyncio.shield(self.joining)

    async def join(self) -> None:
        # The page that asked may have left before this began.
        if not self.of:
            return
        if self.hearing is None or self.hearing.done():
            self.channel = await self.layer.new_channel()
            # In a context of its own, not in that of the socket which happens to be the first.
            self.hearing = asyncio.create_task(self.hear(self.channel), context=contextvars.Context())
        await self.layer.group_add(events.PAGES, self.channel)

    async def drop(self, one: Listener) -> None:
        """It hears nothing any more."""
        mine = self.of.get(str(one.session_id), set())
        mine.discard(one)
        if not mine:
            self.of.pop(str(one.session_id), None)
        if self.of or self.hearing is None:
            return
        # Who comes while this one leaves gets a channel of its own.
        hearing, self.hearing = self.hearing, None
        await fault_of(self.layer.group_discard, events.PAGES, self.channel)
        await end([hearing])

    async def hear(self, channel: str) -> None:
        faults = 0
        while True:
            # Gathered to have any fault as a value: what a layer may raise is said nowhere.
            gathered = await asyncio.gather(self.layer.receive(channel), return_exceptions=True)
            received: Any = gathered[0]
            if not isinstance(received, BaseException):
                faults = 0
                self.pass_on(received)
                continue
            faults += 1
            fault = received if faults > MOST_FAULTS else await self.renew()
            if fault is not None:
                break
            # It was away for a moment, and may have lost what was rung.
            for one in self.all():
                one.ring()
        for one in self.all():
            one.hear_nothing(fault)

    def pass_on(self, message: dict[str, Any]) -> None:
        for session, frames in message.get("frames", {}).items():
            for one in self.of.get(session, ()):
                one.hear(frames)
        for session in message.get("gone", ()):
            for one in self.of.get(session, ()):
                one.hang_up()

    def all(self) -> list[Listener]:
        return [one for mine in self.of.values() for one in mine]


async def fault_of(change: Callable[..., Awaitable[None]], *values: str) -> BaseException | None:
    """What kept the channel layer from doing it."""
    fault: BaseException | None = None
    # Twice, because of a layer that has come back the old connection fails once.
    for _ in range(2):
        asked = asyncio.ensure_future(change(*values))
        # Not by a timeout, which cancels: on Python 3.11 Redis' client may swallow a cancellation.
        await asyncio.wait([asked], timeout=LAYER_SECONDS)
        if not asked.done():
            asked.cancel()
            return TimeoutError()
        fault = asked.exception()
        if fault is None:
            return None
    return fault


_current: Listeners | None = None


def listeners() -> Listeners:
    """Those of this process. The layer is another only in tests, which have a loop each."""
    global _current
    layer = get_channel_layer()
    if _current is None or _current.layer is not layer or _current.loop is not asyncio.get_running_loop():
        _current = Listeners(layer)
    return _current
