"""A person with conversations, and the measurements played on them."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any, Self
from uuid import uuid4

from django.conf import settings
from django.contrib.auth.models import User
from django.test import Client

from benchmarks.measures import FRAMES, PACE, REPEATS, elapsed_ms, latencies, memory_per_socket, times
from efforts import actions
from tests.server.websocket import Websocket


@dataclass(frozen=True, kw_only=True)
class Stage:
    owner: User
    cookie: str
    sessions: tuple[str, ...]

    @classmethod
    def set(cls, sessions: int, name: str = "bench") -> Self:
        owner = User.objects.create_user(name)
        client = Client()
        client.force_login(owner)
        cookie = settings.SESSION_COOKIE_NAME
        return cls(
            owner=owner,
            cookie=f"{cookie}={client.cookies[cookie].value}",
            sessions=tuple(str(actions.create_session(owner).pk) for _ in range(sessions)),
        )

    async def of_bare(self, port: int, pid: int, streams: list[int], idle: list[int]) -> dict[str, Any]:
        async def open_socket(place: int) -> Websocket:
            return await Websocket.open(port, "/", "")

        async def begin(socket: Websocket, place: int) -> None:
            await socket.say(frames=FRAMES, pace=PACE)

        return {
            "latency": {count: await latencies(open_socket, begin, count) for count in streams},
            "memory": await memory_per_socket(open_socket, pid, idle),
        }

    async def of_product(self, port: int, pid: int, streams: list[int], idle: list[int]) -> dict[str, Any]:
        async def open_socket(place: int) -> Websocket:
            session = self.sessions[place % len(self.sessions)]
            socket = await Websocket.open(port, f"/ws/s/{session}/", self.cookie)
            await socket.say(kind="hello", last_seq=0)
            known = (await socket.until("welcome"))[-1]["seq"]
            seen = 0
            while seen < known:
                seen = (await socket.frame()).get("seq", seen)
            return socket

        async def begin(socket: Websocket, place: int) -> None:
            await socket.say(kind="send", client_id=uuid4().hex, text=f"stream {FRAMES} {PACE}")

        async def first_token(place: int) -> float:
            socket = await open_socket(place)
            waited = await elapsed_ms(
                socket, "delta", {"kind": "send", "client_id": uuid4().hex, "text": "stream 2 0.2"}
            )
            await socket.until("run.ended")
            # The provider's own pause before its first word; without one a reply may stand before any text is shown.
            return waited - 200

        async def stop(place: int) -> float:
            socket = await open_socket(place)
            await socket.say(kind="send", client_id=uuid4().hex, text="silent")
            planned = (await socket.until("plan.made"))[-1]
            waited = await elapsed_ms(socket, "ack", {"kind": "stop", "run": planned["run"]})
            async with asyncio.timeout(30):
                await socket.until("run.ended")
            return waited

        return {
            "first_token": await times(first_token, REPEATS),
            "stop": await times(stop, REPEATS),
            "latency": {count: await latencies(open_socket, begin, count) for count in streams},
            "memory": await memory_per_socket(open_socket, pid, idle),
        }
