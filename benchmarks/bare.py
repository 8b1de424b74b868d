"""The floor: a Channels consumer on Daphne that stamps frames and sends them, with no product around it."""

from __future__ import annotations

import asyncio
import json
import time
from typing import Any

from django.conf import settings

# Before the import below, which asks for the channel layers.
settings.configure(CHANNEL_LAYERS={"default": {"BACKEND": "channels.layers.InMemoryChannelLayer"}})

from channels.generic.websocket import AsyncWebsocketConsumer  # noqa: E402


class Stamps(AsyncWebsocketConsumer):  # type: ignore[misc]  # channels has no types
    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        order = json.loads(text_data or "{}")
        self.task = asyncio.create_task(self.stream(order["frames"], order["pace"]))

    async def stream(self, frames: int, pace: float) -> None:
        for _ in range(frames):
            await asyncio.sleep(pace)
            await self.send(json.dumps({"kind": "delta", "text": f"t{time.monotonic_ns()} "}))
        await self.send(json.dumps({"kind": "run.ended"}))

    async def disconnect(self, code: int) -> None:
        if hasattr(self, "task"):
            self.task.cancel()


application: Any = Stamps.as_asgi()
