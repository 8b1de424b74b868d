"""Reading in several queries while others write."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db import connection, transaction

OF_ONE_MOMENT = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY"


@contextmanager
def one_moment() -> Iterator[None]:
    """All that is read in it is of one moment; nothing is to be written. Inside a transaction it adds nothing: who
    writes there has locked what it reads."""
    if connection.in_atomic_block:
        yield
        return
    with deferred(connection), transaction.atomic():
        if connection.vendor == "postgresql":
            with connection.cursor() as cursor:
                cursor.execute(OF_ONE_MOMENT)
        yield


@contextmanager
def deferred(database: Any) -> Iterator[None]:
    """SQLite's transactions wait for whoever writes, but for these."""
    if database.vendor != "sqlite":
        yield
        return
    database.ensure_connection()
    mode, database.transaction_mode = database.transaction_mode, "DEFERRED"
    try:
        yield
    finally:
        database.transaction_mode = mode
