"""How much of an answer is read, and how reading it ends."""

from __future__ import annotations

from collections.abc import AsyncIterator

import httpx2
import pytest

from efforts.llm.limits import Limits


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
