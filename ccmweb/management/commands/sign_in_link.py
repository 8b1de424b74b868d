"""Print a fresh one-time sign-in link."""

from __future__ import annotations

import json
from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.urls import reverse

from ccmweb import sign_in


class Command(BaseCommand):
    help = "Print a sign-in link for USER; it works once, for an hour."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("user")
        parser.add_argument("--base", default="http://127.0.0.1:8000", help="where the browser finds this installation")
        parser.add_argument("--json", action="store_true")

    def handle(self, *args: Any, **options: Any) -> None:
        user = self._user(options["user"])
        url = options["base"].rstrip("/") + reverse("sign_in_link", args=[sign_in.make_link(user)])
        lifetime = int(sign_in.LIFETIME.total_seconds())
        if options["json"]:
            self.stdout.write(json.dumps({"user": user.username, "url": url, "seconds": lifetime}))
        else:
            self.stdout.write(f"{url}\nIt works once, within {lifetime // 60} minutes.")

    def _user(self, name: str) -> User:
        user = User.objects.filter(username=name, is_active=True).first()
        if user is None:
            raise CommandError(f"There is no active user {name!r}: make one with manage.py createsuperuser.")
        return user
