"""The client's side of a websocket, as much of RFC 6455 as a test needs; it can vanish without a word."""

from __future__ import annotations

import asyncio
import json
import os
import ssl
from typing import Any, Self

TEXT, CLOSE, PING, PONG = 1, 8, 9, 10


class Closed(Exception):
    """The server closed, or is gone; the code is 1006 where it said none."""

    def __init__(self, code: int = 1006) -> None:
        super().__init__(code)
        self.code = code


class Websocket:
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer
        # How long to wait for a frame that says something, in seconds; a real model may think for minutes.
        self.patience: float | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc: object) -> None:
        self.vanish()

    @classmethod
    async def open(cls, port: int, path: str, cookie: str, tls: ssl.SSLContext | None = None) -> Self:
        reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=2**24, ssl=tls)
        host, scheme = f"127.0.0.1:{port}", "https" if tls else "http"
        head = (
            f"GET {path} HTTP/1.1\r\nHost: {host}\r\nOrigin: {scheme}://{host}\r\nCookie: {cookie}\r\n"
            "Upgrade: websocket\r\nConnection: Upgrade\r\n"
            "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
        )
        writer.write(head.encode())
        answer = await reader.readuntil(b"\r\n\r\n")
        assert answer.startswith(b"HTTP/1.1 101"), answer
        return cls(reader, writer)

    async def say(self, **frame: Any) -> None:
        await self._send(TEXT, json.dumps({"v": 1, **frame}).encode())

    async def frame(self) -> dict[str, Any]:
        # Over all: a server that has nothing more to say goes on pinging.
        async with asyncio.timeout(self.patience):
            while True:
                kind, data = await self._receive()
                if kind == TEXT:
                    frame: dict[str, Any] = json.loads(data)
                    return frame
                if kind == PING:
                    await self._send(PONG, data)
                elif kind == CLOSE:
                    raise Closed(int.from_bytes(data[:2], "big") or 1006)

    async def until(self, kind: str, **values: Any) -> list[dict[str, Any]]:
        """All frames up to the first of this kind with these values."""
        frames: list[dict[str, Any]] = []
        wanted = {"kind": kind, **values}
        while not frames or not wanted.items() <= frames[-1].items():
            frames.append(await self.frame())
        return frames

    def vanish(self) -> None:
        self.writer.transport.abort()

    async def _send(self, kind: int, data: bytes) -> None:
        size = len(data)
        length = bytes([0x80 | size]) if size < 126 else bytes([0xFE]) + size.to_bytes(2, "big")
        mask = os.urandom(4)
        masked = bytes(byte ^ mask[place % 4] for place, byte in enumerate(data))
        self.writer.write(bytes([0x80 | kind]) + length + mask + masked)
        try:
            await self.writer.drain()
        except ConnectionError as error:
            raise Closed from error

    async def _receive(self) -> tuple[int, bytes]:
        try:
            first, size = await self.reader.readexactly(2)
            if size >= 126:
                size = int.from_bytes(await self.reader.readexactly(2 if size == 126 else 8), "big")
            return first & 0x0F, await self.reader.readexactly(size)
        except (asyncio.IncompleteReadError, ConnectionError) as error:
            raise Closed from error
