"""When what is committed must be on the disk."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection, transaction


@contextmanager
def flushed_later() -> Iterator[None]:
    """A transaction that does not wait for the disk: the next one that does takes it along. For what harms nobody where
    the machine breaks down in between; where only this process does, nothing is lost."""
    if connection.in_atomic_block:
        # It is flushed with what it stands in.
        with transaction.atomic():
            yield
    elif connection.vendor == "sqlite":
        before = run("PRAGMA synchronous")
        run("PRAGMA synchronous=NORMAL")
        try:
            with transaction.atomic():
                yield
        finally:
            run(f"PRAGMA synchronous={before}")
    else:
        with transaction.atomic():
            run("SET LOCAL synchronous_commit TO OFF")
            yield


def run(sql: str) -> object:
    """What the statement answers, if it does."""
    with connection.cursor() as cursor:
        cursor.execute(sql)
        return cursor.fetchone()[0] if cursor.description else None
