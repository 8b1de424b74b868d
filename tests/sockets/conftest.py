"""Tabs of a browser, by websockets through the whole application, and a runner that answers."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from typing import Any

import pytest
import pytest_asyncio
from channels.testing import WebsocketCommunicator
from django.test import Client

from ccmweb.asgi import application
from efforts.models import Session
from tests.turns.conftest import PATIENCE, Stage, layer, provider, runner, session, stage

__all__ = ["Open", "Stage", "Tab", "layer", "provider", "runner", "session", "stage"]


class Tab:
    """One open page of `client` on a conversation."""

    def __init__(self, session_id: object, client: Client, origin: str = "http://localhost") -> None:
        cookie = client.cookies.output(header="", sep=";").strip()
        headers = [(b"host", b"localhost"), (b"origin", origin.encode()), (b"cookie", cookie.encode())]
        self.socket = WebsocketCommunicator(application, f"/ws/s/{session_id}/", headers=headers)

    async def connect(self) -> bool:
        connected, _ = await self.socket.connect(timeout=PATIENCE)
        return bool(connected)

    async def hello(self, last_seq: int = 0) -> dict[str, Any]:
        await self.say(kind="hello", last_seq=last_seq)
        return await self.frame()

    async def say(self, **frame: Any) -> None:
        await self.say_raw(json.dumps({"v": 1, **frame}))

    async def say_raw(self, text: str) -> None:
        await self.socket.send_input({"type": "websocket.receive", "text": text})

    async def frame(self) -> dict[str, Any]:
        message = await self.socket.receive_output(timeout=PATIENCE)
        assert message["type"] == "websocket.send", message
        frame: dict[str, Any] = json.loads(message["text"])
        assert frame["v"] == 1
        return frame

    async def until(self, kind: str, **values: Any) -> list[dict[str, Any]]:
        """All frames up to the first of this kind with these values."""
        frames: list[dict[str, Any]] = []
        while not frames or not matches(frames[-1], {"kind": kind, **values}):
            frames.append(await self.frame())
        return frames

    async def last(self, kind: str, **values: Any) -> dict[str, Any]:
        return (await self.until(kind, **values))[-1]

    async def pings(self) -> list[dict[str, Any]]:
        """The frames before the pong."""
        await self.say(kind="ping")
        return (await self.until("pong"))[:-1]

    async def ending(self) -> tuple[dict[str, Any], int]:
        """The last words and the close code."""
        gone = await self.last("gone")
        message = await self.socket.receive_output(timeout=PATIENCE)
        assert message["type"] == "websocket.close"
        return gone, message["code"]

    async def leave(self) -> None:
        # Not waited for long: a cancellation that meets Redis' client in the middle of writing is lost on Python 3.11.
        # Of a tab that nothing came from in time nothing is left to end, and all that its test set up must be undone.
        with suppress(asyncio.CancelledError, TimeoutError):
            await self.socket.disconnect(timeout=0.5)


def matches(frame: dict[str, Any], values: dict[str, Any]) -> bool:
    return all(frame.get(key) == value for key, value in values.items())


Open = Callable[..., Any]


@pytest_asyncio.fixture
async def open_tab(settings: Any, layer: Any, session: Session, as_alice: Client) -> AsyncIterator[Open]:
    """A tab of alice on her conversation, unless told otherwise; all are closed in the end."""
    settings.CCM_RUNNER = "worker"  # the tests bring their own
    tabs: list[Tab] = []

    async def open_tab(client: Client = as_alice, session_id: object = session.pk) -> Tab:
        tab = Tab(session_id, client)
        assert await tab.connect()
        tabs.append(tab)
        return tab

    yield open_tab
    for tab in tabs:
        await tab.leave()


@pytest.fixture
def away(settings: Any) -> None:
    settings.CCM_RUNNER = "worker"
