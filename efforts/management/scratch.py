"""A database that is gone when the work is done."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.core.management import call_command
from django.db import connections


@contextmanager
def scratch_database() -> Iterator[None]:
    """An empty database in a temporary file, for this whole process: nothing may have asked the other one before."""
    with tempfile.TemporaryDirectory(prefix="ccmweb-scratch-") as folder:
        connections.close_all()
        usual = connections.databases["default"]
        connections.databases["default"] = {
            **usual,
            "ENGINE": "django.db.backends.sqlite3",
            "NAME": str(Path(folder) / "scratch.sqlite3"),
            "OPTIONS": {"transaction_mode": "IMMEDIATE", "timeout": 20},
        }
        del connections["default"]
        try:
            call_command("migrate", verbosity=0)
            yield
        finally:
            connections.close_all()
            connections.databases["default"] = usual
            del connections["default"]
