"""What the commands that read or write conversations have in common."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import connection
from django.db.migrations.executor import MigrationExecutor


class DatabaseCommand(BaseCommand):
    """Raises `CommandError` before anything is done where the database is not set up."""

    def execute(self, *args: Any, **options: Any) -> str | None:
        executor = MigrationExecutor(connection)
        if executor.migration_plan(executor.loader.graph.leaf_nodes()):
            raise CommandError("The database is not set up, or of an older version. First: python manage.py migrate")
        return super().execute(*args, **options)
