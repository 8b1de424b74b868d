"""How much a provider may answer: nobody's memory is theirs to fill."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from dataclasses import dataclass
from typing import cast

import httpx2

from efforts.llm.protocol import ModelError

# Of an error only its message is shown, which stands in the first few thousand characters or nowhere.
ERROR_BYTES = 64 * 1024


@dataclass(frozen=True, kw_only=True)
class Limits:
    """In bytes: `answer` of one that comes whole, such as a list of models; `stream` of a reply, `line` of one of its
    lines."""

    answer: int = 4 * 1024 * 1024
    stream: int = 32 * 1024 * 1024
    line: int = 4 * 1024 * 1024

    async def bound(self, response: httpx2.Response) -> None:
        """Reading on beyond a limit raises `ModelError`; an error ends there."""
        encoding = response.headers.get("content-encoding", "identity")
        # It was asked for as it is: a few hundred kilobytes can unpack to a gigabyte.
        if encoding != "identity":
            raise ModelError(
                "refused",
                "The address answers with compressed data, although it was asked not to. Check it in Settings.",
            )
        stream = response.stream
        assert isinstance(stream, httpx2.AsyncByteStream)
        if response.is_error:
            response.stream = _Bounded(stream, _beginning(stream))
        elif "event-stream" in response.headers.get("content-type", ""):
            response.stream = _Bounded(stream, self._reply(stream))
        else:
            response.stream = _Bounded(stream, self._whole(stream))

    async def _whole(self, stream: httpx2.AsyncByteStream) -> AsyncGenerator[bytes]:
        total = 0
        async with pieces_of(stream) as pieces:
            async for chunk in pieces:
                total += len(chunk)
                if total > self.answer:
                    raise ModelError(
                        "too_large",
                        f"The address answered with more than {megabytes(self.answer)}, which was not read. "
                        "Check it in Settings; it often ends in /v1.",
                    )
                yield chunk

    async def _reply(self, stream: httpx2.AsyncByteStream) -> AsyncGenerator[bytes]:
        total = line = 0
        async with pieces_of(stream) as pieces:
            async for chunk in pieces:
                total += len(chunk)
                last = chunk.rfind(b"\n")
                line = line + len(chunk) if last < 0 else len(chunk) - last - 1
                if total <= self.stream and line <= self.line:
                    yield chunk
                    continue
                # Its whole lines were received together with what is too much.
                yield chunk[: last + 1]
                raise stopped(self.line, " in one piece") if line > self.line else stopped(self.stream)


class _Bounded(httpx2.AsyncByteStream):
    def __init__(self, stream: httpx2.AsyncByteStream, chunks: AsyncGenerator[bytes]) -> None:
        self._stream = stream
        self._chunks = chunks

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self._chunks

    async def aclose(self) -> None:
        await self._chunks.aclose()
        await self._stream.aclose()


def pieces_of(stream: httpx2.AsyncByteStream) -> aclosing[AsyncGenerator[bytes]]:
    """Ended where reading ends: the collector of garbage would do it later, on whatever thread it runs just then."""
    # As every stream of the library begins one; its annotation says less.
    return aclosing(cast("AsyncGenerator[bytes]", aiter(stream)))


async def _beginning(stream: httpx2.AsyncByteStream) -> AsyncGenerator[bytes]:
    left = ERROR_BYTES
    async with pieces_of(stream) as pieces:
        async for chunk in pieces:
            yield chunk[:left]
            left -= len(chunk)
            if left <= 0:
                return


def stopped(limit: int, where: str = "") -> ModelError:
    return ModelError(
        "too_large",
        f"The reply had more than {megabytes(limit)}{where} and was stopped. What came is kept; Retry asks again.",
    )


def megabytes(count: int) -> str:
    return f"{count / 1024 / 1024:.3g} MB"
