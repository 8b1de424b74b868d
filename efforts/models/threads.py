"""ORM work of consumers and runners, off the thread that all websockets of a process would share.

Channels' own helper is thread-sensitive: one slow query delays everybody's Stop. Writes on SQLite go through one
thread, because writers that wait in its busy handler starve each other.
"""

from __future__ import annotations

import asyncio
import ctypes
import gc
import logging
import sys
import time
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from contextvars import ContextVar, copy_context
from functools import cache, partial
from threading import Lock
from typing import Any, ParamSpec, TypeVar

from asgiref.sync import async_to_sync, sync_to_async
from django.conf import settings
from django.db import InterfaceError, OperationalError, close_old_connections, connection

P = ParamSpec("P")
R = TypeVar("R")

log = logging.getLogger("ccm.turns")

# How long what a model wrote waits for a database that is locked, full or away, and how long between two tries, in
# seconds: it was waited and paid for.
PATIENCE = 60.0
FIRST_WAIT, LONGEST_WAIT = 0.1, 2.0
# As malloc.h numbers it.
ARENA_MAX = -8
# How long a thread may hold up all others, in seconds. A page asks the database dozens of times, and may wait so long
# after each while turns are prepared beside it; so may text on its way. Python says 5 ms.
SWITCH_SECONDS = 0.0005


def share_among_threads() -> None:
    """Memory and time of a process that serves.

    Two heaps for all threads: each page is made on a new thread, and glibc would give these sixteen on two cores, each
    as large as the largest page that it was ever used for, and mostly empty.
    """
    # Another C library does not have it.
    with suppress(AttributeError, OSError):
        ctypes.CDLL(None).mallopt(ARENA_MAX, 2)
    sys.setswitchinterval(SWITCH_SECONDS)


def keep_for_good() -> None:
    """What is loaded by now stays: the collector of garbage holds up all threads while it looks, and would look at all
    of it time and again."""
    gc.collect()
    gc.freeze()


@cache
def readers() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(settings.CCM_ORM_THREADS, thread_name_prefix="orm")


@cache
def writers() -> ThreadPoolExecutor:
    on_sqlite = connection.vendor == "sqlite"
    return ThreadPoolExecutor(1, thread_name_prefix="orm-write") if on_sqlite else readers()


@cache
def first_writer() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(1, thread_name_prefix="orm-first")


async def read(function: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R:
    return await _run(readers(), partial(function, *args, **kwargs))


async def write(function: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R:
    return await _run(writers(), partial(_one_at_a_time, partial(function, *args, **kwargs)))


async def write_first(function: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R:
    """Next, whatever else is in line: people look at text as it comes."""
    return await _run(first_writer(), partial(_one_at_a_time, partial(function, *args, **kwargs)))


async def patiently(store: Callable[[], Awaitable[R]]) -> R:
    """`store` is one transaction, which does nothing where it was done already although its connection broke."""
    until, wait = time.monotonic() + PATIENCE, FIRST_WAIT
    while True:
        try:
            return await store()
        except (OperationalError, InterfaceError):
            if time.monotonic() + wait > until:
                raise
            log.warning("What a model wrote could not be stored yet.", exc_info=True)
        await asyncio.sleep(wait)
        wait = min(2 * wait, LONGEST_WAIT)


_next, _writing = Lock(), Lock()


def _one_at_a_time(function: Callable[[], R]) -> R:
    if connection.vendor != "sqlite":
        return function()
    # Who waits for the one holds the other: the two threads take turns, however soon one comes back.
    with _next:
        _writing.acquire()
    try:
        return function()
    finally:
        _writing.release()


_here = ContextVar("here", default=False)


def run_here(work: Coroutine[Any, Any, R]) -> R:
    """All its work with rows is done on this thread, so that it can be inside a transaction."""

    async def whole() -> R:
        return await work

    token = _here.set(True)
    try:
        return async_to_sync(whole)()
    finally:
        _here.reset(token)


async def _run(pool: ThreadPoolExecutor, function: Callable[[], R]) -> R:
    if _here.get():
        return await sync_to_async(function)()
    # What is logged there names whom it concerns here.
    inside = partial(copy_context().run, _with_connection, function)
    return await asyncio.get_running_loop().run_in_executor(pool, inside)


def _with_connection(function: Callable[[], R]) -> R:
    """SQLite keeps its connection with the thread; elsewhere it goes back to the pool after each piece of work."""
    try:
        return function()
    finally:
        # On SQLite a new connection would run its PRAGMAs anew for every piece of work.
        if connection.vendor != "sqlite":
            close_old_connections()
