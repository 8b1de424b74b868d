"""Refuses requests that bring more than anything here takes, before any of it is read or written to the disk."""

from __future__ import annotations

from typing import Any

from django.conf import settings

# Beside the largest file: names of fields, and lines that part them.
FRAME = 1024 * 1024
WORDS = b"This is too large to send."


class BoundedBodies:
    """Django's own bound (DATA_UPLOAD_MAX_MEMORY_SIZE) counts no files, and reads a body to its end first."""

    def __init__(self, application: Any) -> None:
        self.application = application

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if announced(scope["headers"]) > largest():
            headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"connection", b"close")]
            await send({"type": "http.response.start", "status": 413, "headers": headers})
            await send({"type": "http.response.body", "body": WORDS})
            return
        await self.application(scope, counted(receive), send)


def largest() -> int:
    """Bytes of one request."""
    files = max(settings.CCM_FILE_BYTES, settings.CCM_WORKSPACE_ARCHIVE_BYTES)
    return int(max(files, settings.DATA_UPLOAD_MAX_MEMORY_SIZE) + FRAME)


def announced(headers: list[tuple[bytes, bytes]]) -> int:
    """What the request says that it brings; 0 where it says nothing that is a number."""
    value = next((value for name, value in headers if name == b"content-length"), b"")
    return int(value) if value.isdigit() else 0


def counted(receive: Any) -> Any:
    """Who announced nothing is hung up on when it is too much."""
    got = 0

    async def next_part() -> Any:
        nonlocal got
        message = await receive()
        got += len(message.get("body", b""))
        return message if got <= largest() else {"type": "http.disconnect"}

    return next_part
