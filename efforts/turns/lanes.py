"""The interpreter is one for pages and for turns: a page is short and somebody waits for it, so that it goes first."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager, suppress

# How long a turn waits for pages at the most, in seconds, each time that it needs the interpreter; and what all that
# wait behind it share, so that pages without end hold up a crowd of turns little longer than one.
LONGEST, SHARED = 0.1, 0.3


class Pages:
    """Those that this process is making just now."""

    def __init__(self) -> None:
        self.count = 0
        self.awaited: set[asyncio.Future[None]] = set()

    @contextmanager
    def one(self) -> Iterator[None]:
        self.count += 1
        try:
            yield
        finally:
            self.count -= 1
            if not self.count:
                for waiting in self.awaited:
                    if not waiting.done():
                        waiting.set_result(None)

    async def done(self, seconds: float) -> None:
        """Return when there are none, and after so many seconds anyhow."""
        if not self.count:
            return
        waiting = asyncio.get_running_loop().create_future()
        self.awaited.add(waiting)
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await waiting
        finally:
            self.awaited.discard(waiting)


pages = Pages()


class Lane:
    """Held by one turn at a time: with each more, the loop that passes on text has a smaller share."""

    def __init__(self) -> None:
        self.free = asyncio.Semaphore(1)
        self.waiting = 0

    async def __aenter__(self) -> None:
        self.waiting += 1
        try:
            await self.free.acquire()
        finally:
            self.waiting -= 1
        try:
            await pages.done(min(LONGEST, SHARED / (1 + self.waiting)))
        except BaseException:
            self.free.release()
            raise

    async def __aexit__(self, *_: object) -> None:
        self.free.release()
