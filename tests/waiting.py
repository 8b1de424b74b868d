"""Of tests in which one transaction waits for another."""

from __future__ import annotations

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
