"""What a person is told when the database fails, whichever it is."""

from __future__ import annotations

from django.db import DatabaseError

from efforts.domain.errors import Refused

# As PostgreSQL numbers it; SQLite has words alone.
DISK_FULL = "53100"


def told_of(error: DatabaseError) -> Refused:
    """The transaction is undone, so that nothing is stored by halves."""
    if getattr(error.__cause__, "sqlstate", "") == DISK_FULL or "disk is full" in str(error):
        return disk_is_full()
    return Refused("database", "The database did not answer. Nothing was stored or changed; try again.")


def disk_is_full() -> Refused:
    return Refused(
        "disk_full",
        "The disk of the server is full. Nothing was stored or changed; what was stored before is there. "
        "Keep what you wrote, and try again once whoever runs the server has made room.",
    )
