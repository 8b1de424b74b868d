"""The sockets of a process, by conversation: what other processes ring reaches all of them by one channel.

So an idle socket has no task of its own, and what is rung comes to a process once, however many of its pages show it.
What is rung for conversations that no page here shows is passed over.
"""

from __future__ import annotations

import asyncio
import contextvars
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Protocol
from uuid import UUID

from channels.layers import get_channel_layer
from django.contrib.auth import get_user
from django.contrib.sessions.backends.db import SessionStore
from django.db import DatabaseError
from django.http import HttpRequest

from efforts.log import events
from efforts.models import Session
from efforts.models.threads import read
from efforts.turns.runner import end

log = logging.getLogger("ccm.sockets")

# On these two a browser gives up; on every other code it comes back.
SIGNED_OUT, NO_SUCH_SESSION = 4401, 4404
# How often all are looked at without being rung, in seconds; how many at once, and what text that streams has to itself
# before the next ones: each browser among them takes two questions.
LOOK, LOOKED_AT, PAUSE = 10.0, 100, 0.1
# How long joining or leaving a group may take, in seconds.
LAYER_SECONDS = 5.0


class Listener(Protocol):
    session_id: UUID
    user_id: int
    # The key of what the browser is signed in by.
    signed_in: str | None

    def hear(self, frames: list[dict[str, Any]]) -> None:
        """Take what was rung."""

    def ring(self) -> None:
        """Look at the log: what was rung may be lost."""

    def stand_at(self, seq: int) -> None:
        """The log is there now, rung or not."""

    def close_soon(self, code: int) -> None:
        """Nothing of the conversation is theirs any more."""

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
        self.looking: asyncio.Task[None] | None = None
        # Under way: hundreds of pages that come at once, as after a restart, ask the layer once.
        self.joining: asyncio.Task[BaseException | None] | None = None

    async def add(self, one: Listener) -> BaseException | None:
        """What keeps it from hearing, if anything does."""
        self.of.setdefault(str(one.session_id), set()).add(one)
        return await self.renew()

    async def renew(self) -> BaseException | None:
        """Join, or see whether the layer that we have joined still answers."""
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
        events.doorbell.here[events.PAGES].add(self.pass_on)
        if self.hearing is None or self.hearing.done():
            self.channel = await self.layer.new_channel()
            # In a context of its own, not in that of the socket which happens to be the first.
            self.hearing = asyncio.create_task(self.hear(self.channel), context=contextvars.Context())
        if self.looking is None or self.looking.done():
            self.looking = asyncio.create_task(self.look_on(), context=contextvars.Context())
            self.looking.add_done_callback(self.looked)
        await self.layer.group_add(events.PAGES, self.channel)
        # Redis is not asked for what is joined already: whether it is there, a ring to nobody tells.
        await self.layer.group_send("nobody", {"type": "still"})

    async def drop(self, one: Listener) -> None:
        """It hears nothing any more."""
        mine = self.of.get(str(one.session_id), set())
        mine.discard(one)
        if not mine:
            self.of.pop(str(one.session_id), None)
        if self.of or self.hearing is None:
            return
        # Who comes while this one leaves gets a channel of its own.
        ending = [task for task in (self.hearing, self.looking) if task]
        self.hearing = self.looking = None
        events.doorbell.here[events.PAGES].discard(self.pass_on)
        await fault_of(self.layer.group_discard, events.PAGES, self.channel)
        await end(ending)

    async def look_on(self) -> None:
        """A ring may be lost, nobody rings when a person signs out, and the layer may be gone."""
        while True:
            await asyncio.sleep(LOOK)
            try:
                await self.look()
            except DatabaseError:
                log.warning("What is new for open pages could not be read; it is looked for again.", exc_info=True)

    async def look(self) -> None:
        if fault := await self.renew():
            for one in self.all():
                one.hear_nothing(fault)
            return
        everybody = self.all()
        for first in range(0, len(everybody), LOOKED_AT):
            if first:
                await asyncio.sleep(PAUSE)
            some = everybody[first : first + LOOKED_AT]
            for one, (code, seq) in zip(some, await read(standing, some), strict=True):
                if code is None:
                    one.stand_at(seq)
                else:
                    one.close_soon(code)

    def looked(self, looking: asyncio.Task[None]) -> None:
        """A fault that nobody foresaw: who is looked at no more would stay open, though signed out."""
        if looking.cancelled() or not (fault := looking.exception()):
            return
        for one in self.all():
            one.hear_nothing(fault)

    async def hear(self, channel: str) -> None:
        while True:
            message = await self.layer.receive(channel)
            if not events.doorbell.is_ours(message):
                self.pass_on(message)

    def pass_on(self, message: dict[str, Any]) -> None:
        for session, frames in message.get("frames", {}).items():
            for one in self.of.get(session, ()):
                one.hear(frames)
        for session in message.get("gone", ()):
            for one in self.of.get(session, ()):
                one.close_soon(NO_SUCH_SESSION)

    def all(self) -> list[Listener]:
        return [one for mine in self.of.values() for one in mine]


def standing(asked: Sequence[Listener]) -> list[tuple[int | None, int]]:
    """For each: the close code for who is signed out or does not own the conversation, None for who may stay; and the
    number of its last event. The same few questions, however many ask."""
    browsers = {(one.user_id, one.signed_in) for one in asked}
    signed_in = {browser for browser in browsers if is_signed_in(*browser)}
    sessions = Session.objects.filter(pk__in={one.session_id for one in asked}, erase_at=None)
    found = {pk: (owner, seq) for pk, owner, seq in sessions.values_list("pk", "owner_id", "event_seq")}
    stand: list[tuple[int | None, int]] = []
    for one in asked:
        owner, seq = found.get(one.session_id, (None, 0))
        if (one.user_id, one.signed_in) not in signed_in:
            stand.append((SIGNED_OUT, seq))
        else:
            stand.append((None if owner == one.user_id else NO_SUCH_SESSION, seq))
    return stand


def is_signed_in(user_id: int, key: str | None) -> bool:
    request = HttpRequest()
    request.session = SessionStore(key)
    user = get_user(request)
    return user.is_authenticated and user.pk == user_id


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
