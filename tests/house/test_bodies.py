"""What is too large is refused before it is read."""

from __future__ import annotations

from typing import Any

import pytest

from ccmweb.bodies import FRAME, BoundedBodies, largest


class Reader:
    """An application that reads all it gets."""

    def __init__(self) -> None:
        self.got: list[dict[str, Any]] = []

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        while not self.got or self.got[-1].get("more_body"):
            self.got.append(await receive())


@pytest.fixture(autouse=True)
def small(settings: Any) -> None:
    settings.CCM_FILE_BYTES = settings.CCM_WORKSPACE_ARCHIVE_BYTES = settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 1_000


async def asked(headers: list[tuple[bytes, bytes]], *bodies: bytes) -> tuple[Reader, list[dict[str, Any]]]:
    reader, sent = Reader(), []
    parts = [{"type": "http.request", "body": body, "more_body": True} for body in bodies]
    parts[-1]["more_body"] = False

    async def receive() -> Any:
        return parts.pop(0)

    async def send(message: Any) -> None:
        sent.append(message)

    await BoundedBodies(reader)({"headers": headers}, receive, send)
    return reader, sent


async def test_what_says_that_it_is_too_large_is_not_read() -> None:
    reader, sent = await asked([(b"content-length", str(largest() + 1).encode())], b"x")
    assert reader.got == []
    assert sent[0]["status"] == 413
    assert sent[1]["body"] == b"This is too large to send."


async def test_what_fits_is_read() -> None:
    reader, sent = await asked([(b"content-length", b"1000")], b"x" * 500, b"x" * 500)
    assert sum(len(part["body"]) for part in reader.got) == 1_000
    assert sent == []


@pytest.mark.parametrize("length", [[], [(b"content-length", b"-5")], [(b"content-length", b"5")]])
async def test_what_says_nothing_or_lies_is_hung_up_on(length: list[tuple[bytes, bytes]]) -> None:
    reader, _ = await asked(length, b"x" * FRAME, b"x" * 900, b"x" * 200)
    assert [part["type"] for part in reader.got] == ["http.request", "http.request", "http.disconnect"]
