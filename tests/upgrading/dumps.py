"""A database of the first build, restored as the one that the code works on."""

from __future__ import annotations

import gzip
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch
from uuid import uuid4

import psycopg
from django.contrib.contenttypes.models import ContentType
from django.core.management import call_command
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.state import StateApps

HERE = Path(__file__).parent
FIRST_BUILD = [("ccmweb", "0001_initial"), ("efforts", "0015_scopes"), ("compaction", "0002_review")]


@contextmanager
def restored() -> Iterator[None]:
    """The dump in a database of its own, on the engine of the tests; gone afterwards."""
    connection.close()
    restore = restored_on_postgres if connection.vendor == "postgresql" else restored_on_sqlite
    with restore() as name, patch.dict(connection.settings_dict, NAME=name):
        ContentType.objects.clear_cache()
        try:
            yield
        finally:
            connection.close()
            ContentType.objects.clear_cache()


@contextmanager
def restored_on_sqlite() -> Iterator[str]:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "first_build.sqlite3"
        file.write_bytes(gzip.decompress((HERE / "first_build.sqlite3.gz").read_bytes()))
        yield str(file)


@contextmanager
def restored_on_postgres() -> Iterator[str]:
    name = f"first_build_{uuid4().hex}"
    run_on_postgres("postgres", f"CREATE DATABASE {name}")
    try:
        run_on_postgres(name, gzip.decompress((HERE / "first_build.postgres.sql.gz").read_bytes()))
        # The pool of the tests' own database may still serve other threads.
        with patch.dict(connection._connection_pools, clear=True):  # type: ignore[attr-defined]
            try:
                yield name
            finally:
                connection.close_pool()  # type: ignore[attr-defined]
    finally:
        run_on_postgres("postgres", f"DROP DATABASE {name} WITH (FORCE)")


def run_on_postgres(database: str, sql: Any) -> None:
    keys = {"HOST": "host", "PORT": "port", "USER": "user", "PASSWORD": "password"}
    given = connection.settings_dict
    server = {name: given[key] for key, name in keys.items() if given[key]}
    with psycopg.connect(dbname=database, autocommit=True, **server) as server_connection:
        server_connection.execute(sql)


def apps_of_first_build() -> StateApps:
    """The models as they were."""
    return MigrationExecutor(connection).loader.project_state(FIRST_BUILD).apps


def migrate_to_newest() -> None:
    call_command("migrate", verbosity=0, interactive=False)
