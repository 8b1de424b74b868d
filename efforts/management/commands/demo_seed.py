"""Fill a conversation with a week of efforts, to look around in."""

from __future__ import annotations

import json
from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import CommandError, CommandParser

from efforts.management.base import DatabaseCommand
from efforts.turns.demo import open_demo


class Command(DatabaseCommand):
    help = "Make a conversation with concluded, open and expanded efforts; a second run says where it is."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--user", help="whose it is; the first superuser where none is named")
        parser.add_argument("--json", action="store_true")

    def handle(self, *args: Any, **options: Any) -> None:
        owner = owner_of(options["user"])
        session, made = open_demo(owner)
        address = session.get_absolute_url()
        if options["json"]:
            self.stdout.write(json.dumps({"session": str(session.pk), "address": address, "made": made}))
            return
        self.stdout.write(f"{'Made' if made else 'There already'}: “{session}” of {owner.username}")
        self.stdout.write(address)


def owner_of(name: str | None) -> User:
    users = User.objects.filter(username=name) if name else User.objects.filter(is_superuser=True)
    if owner := users.order_by("pk").first():
        return owner
    raise CommandError(f"There is no user {name!r}." if name else NOBODY)


NOBODY = "There is nobody yet whose it could be: start the application once, or name somebody with --user."
