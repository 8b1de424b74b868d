"""Start the whole application: what `make run` calls."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.core import checks
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import DatabaseError, connection

from ccmweb import server, sign_in

# Any number, as long as nobody else locks by it.
MIGRATING = 3_601_944_128


class Command(BaseCommand):
    help = "Check, migrate, and serve; on this machine alone it prints a sign-in link."
    # Checked by hand below, for one line each instead of Django's report.
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--host", default="127.0.0.1")
        parser.add_argument("--port", default=8000, type=int)

    def handle(self, *args: Any, **options: Any) -> None:
        refuse_wrong_settings()
        try:
            # Before the database: a second start must not migrate it under the first.
            server.require_port(options["host"], options["port"])
        except server.PortTaken as error:
            raise CommandError(str(error)) from error
        prepare_database()
        from ccmweb.asgi import application

        server.serve(application, options["host"], options["port"], self._say)
        server.leave()

    def _say(self, text: str) -> None:
        self.stdout.write(text)
        # Behind a pipe the link would wait in a buffer until the server ends.
        sys.stdout.flush()


def refuse_wrong_settings() -> None:
    errors = [message for message in checks.run_checks() if message.level >= checks.ERROR]
    if errors:
        raise CommandError("\n".join(f"Wrong setting: {error.msg}" for error in errors))


@contextmanager
def one_at_a_time() -> Iterator[None]:
    """Several processes of a new version start at once; on SQLite there is one."""
    if connection.vendor != "postgresql":
        yield
        return
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_lock(%s)", [MIGRATING])
        try:
            yield
        finally:
            cursor.execute("SELECT pg_advisory_unlock(%s)", [MIGRATING])


def prepare_database() -> None:
    try:
        with one_at_a_time():
            call_command("migrate", verbosity=0, interactive=False)
        sign_in.local_owner()
    except DatabaseError as error:
        raise CommandError(f"The database cannot be used: {' '.join(str(error).split())}") from error
