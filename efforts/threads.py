"""ORM work of consumers and runners, off the thread that all websockets of a process would share.

Channels' own helper is thread-sensitive: one slow query delays everybody's Stop. Writes on SQLite go through one
thread, because writers that wait in its busy handler starve each other.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache, partial
from typing import ParamSpec, TypeVar

from django.conf import settings
from django.db import close_old_connections, connection

P = ParamSpec("P")
R = TypeVar("R")


@cache
def readers() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(settings.CCM_ORM_THREADS, thread_name_prefix="orm")


@cache
def writers() -> ThreadPoolExecutor:
    on_sqlite = connection.vendor == "sqlite"
    return ThreadPoolExecutor(1, thread_name_prefix="orm-write") if on_sqlite else readers()


@contextmanager
def in_place() -> Iterator[None]:
    """All work on the thread of the loop, for a command that does one thing at a time: it can be inside a transaction,
    and no time goes by between the threads."""
    global _in_place
    unsafe = "DJANGO_ALLOW_ASYNC_UNSAFE"
    before = os.environ.get(unsafe)
    _in_place, os.environ[unsafe] = True, "true"
    try:
        yield
    finally:
        _in_place = False
        del os.environ[unsafe]
        if before is not None:
            os.environ[unsafe] = before


_in_place = False


async def read(function: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R:
    return await _run(readers(), partial(function, *args, **kwargs))


async def write(function: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R:
    return await _run(writers(), partial(function, *args, **kwargs))


async def _run(pool: ThreadPoolExecutor, function: Callable[[], R]) -> R:
    if _in_place:
        return function()
    return await asyncio.get_running_loop().run_in_executor(pool, _with_connection, function)


def _with_connection(function: Callable[[], R]) -> R:
    """SQLite keeps its connection with the thread; elsewhere it goes back to the pool after each piece of work."""
    try:
        return function()
    finally:
        # On SQLite a new connection would run its PRAGMAs anew for every piece of work.
        if connection.vendor != "sqlite":
            close_old_connections()
