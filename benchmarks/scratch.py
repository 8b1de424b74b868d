"""A database that is gone when the work is done."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.db import connections

from tests.empty import empty_file

# What is lost when the power fails is lost anyway.
UNSAFE = "PRAGMA journal_mode=WAL; PRAGMA synchronous=OFF;"


@contextmanager
def scratch_database(*, durable: bool = True) -> Iterator[None]:
    """An empty database in a temporary file, for this whole process: no other thread may have asked the usual one."""
    with tempfile.TemporaryDirectory(prefix="ccmweb-scratch-") as folder:
        usual = connections.databases["default"]
        options = {"transaction_mode": "IMMEDIATE", "timeout": 20, **({} if durable else {"init_command": UNSAFE})}
        name = str(shutil.copyfile(empty_file(), Path(folder) / "scratch.sqlite3"))
        connect({**usual, "ENGINE": "ccmweb.sqlite3", "NAME": name, "OPTIONS": options})
        try:
            yield
        finally:
            connect(usual)


def connect(database: dict[str, Any]) -> None:
    connections.close_all()
    connections.databases["default"] = database
    connections["default"] = connections.create_connection("default")
