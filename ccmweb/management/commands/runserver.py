"""Daphne's development server; on this machine it prints a sign-in link too."""

from __future__ import annotations

from typing import Any

from daphne.management.commands.runserver import Command as DaphneCommand
from daphne.server import Server
from django.db import DatabaseError

from ccmweb.server import welcome


class AnnouncingServer(Server):  # type: ignore[misc]
    def __init__(self, **options: Any) -> None:
        super().__init__(**options, ready_callable=self._announce)

    def _announce(self) -> None:
        host, port = self.listening_addresses[0]
        try:
            print(welcome(host, port), flush=True)  # noqa: T201
        # Like Django's own and unlike `serve`, this does not migrate.
        except DatabaseError:
            print("The database is not ready: run manage.py migrate.", flush=True)  # noqa: T201


class Command(DaphneCommand):  # type: ignore[misc]
    server_cls = AnnouncingServer
