"""Of tests in which one transaction waits for another."""

from __future__ import annotations

import threading
from collections.abc import Callable

from django.db import connection

# Of this database alone: another run of tests may use the same server.
WAITING = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"


def wait_until_somebody_waits() -> None:
    with connection.cursor() as cursor:
        for _ in range(100_000):
            # What it was told before is kept for as long as a transaction.
            cursor.execute("SELECT pg_stat_clear_snapshot()")
            cursor.execute(WAITING)
            if cursor.fetchone() != (0,):
                return
    raise AssertionError("Nobody waits.")


def beside(act: Callable[[], object]) -> tuple[threading.Thread, list[object]]:
    """What is done meanwhile, on a connection of its own; what it got, or the words of what was raised."""
    got: list[object] = []

    def acting() -> None:
        try:
            got.append(act())
        except Exception as fault:  # noqa: BLE001
            got.append(str(fault))
        connection.close()

    thread = threading.Thread(target=acting)
    thread.start()
    return thread, got
