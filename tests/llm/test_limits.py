"""How much of an answer is read, and how reading it ends."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator

import httpx2
import pytest

from efforts.llm.limits import Limits
from efforts.llm.protocol import ModelError


class Answer(httpx2.AsyncByteStream):
    """Without end; says whether its reading has."""

    ended = False

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            while True:
                yield b"data: {}\n\n"
        finally:
            self.ended = True


@pytest.mark.parametrize(
    ("status", "kind"), [(200, "text/event-stream"), (200, "application/json"), (500, "application/json")]
)
async def test_an_answer_that_is_not_read_to_its_end_is_ended_where_reading_stops(status: int, kind: str) -> None:
    answer = Answer()
    response = httpx2.Response(status, headers={"content-type": kind}, stream=answer)
    await Limits().bound(response)
    pieces = aiter(response.stream)  # type: ignore[arg-type]
    await anext(pieces)
    assert not answer.ended
    await response.aclose()
    assert answer.ended


async def test_whole_lines_that_come_together_with_one_too_long_are_kept() -> None:
    class Together(httpx2.AsyncByteStream):
        async def __aiter__(self) -> AsyncGenerator[bytes]:
            yield b"data: 1\n\ndata: 2\n\ndata: " + b"x" * 200

    response = httpx2.Response(200, headers={"content-type": "text/event-stream"}, stream=Together())
    await Limits(line=100).bound(response)
    pieces = aiter(response.stream)  # type: ignore[arg-type]
    assert await anext(pieces) == b"data: 1\n\ndata: 2\n\n"
    with pytest.raises(ModelError, match="in one piece and was stopped"):
        await anext(pieces)
