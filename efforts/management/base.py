"""What the commands that read or write conversations have in common."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import OperationalError, connection
from django.db.migrations.executor import MigrationExecutor

NOT_SET_UP = "The database is not set up, or of an older version. First: python manage.py migrate"


class DatabaseCommand(BaseCommand):
    """Raises `CommandError` before anything is done where the database cannot be used, or is not set up."""

    def execute(self, *args: Any, **options: Any) -> str | None:
        try:
            executor = MigrationExecutor(connection)
            if executor.migration_plan(executor.loader.graph.leaf_nodes()):
                raise CommandError(NOT_SET_UP)
            return super().execute(*args, **options)
        except OperationalError as error:
            raise CommandError(f"The database cannot be used: {' '.join(str(error).split())}") from error
