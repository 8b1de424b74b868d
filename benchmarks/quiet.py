"""Conversations played at once, with nobody to follow them and no time between the threads."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from typing import TypeVar
from unittest.mock import patch

from efforts.log import events
from efforts.models import threads

R = TypeVar("R")


@contextmanager
def unheard() -> Iterator[None]:
    """Where nobody follows what is written, nobody is told."""
    with patch.object(events.doorbell, "send", lambda rings: None):
        yield


@contextmanager
def in_place() -> Iterator[None]:
    """All work with rows on the thread of the loop, for what does one thing at a time: it can be inside a transaction,
    and no time goes by between the threads."""
    with patch.object(threads, "_run", _here):
        yield


async def _here(pool: Executor, function: Callable[[], R]) -> R:
    loop = asyncio.get_running_loop()
    # Inside of a loop the connection would be another than outside, and Django would refuse to use it.
    asyncio._set_running_loop(None)
    try:
        return function()
    finally:
        asyncio._set_running_loop(loop)
