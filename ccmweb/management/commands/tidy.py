"""Remove what is kept for a time only; to be run once a day."""

from __future__ import annotations

import json
from typing import Any

from django.core.management.base import CommandParser

from ccmweb import retention
from efforts.management.base import DatabaseCommand


class Command(DatabaseCommand):
    help = (
        "Remove expired sign-ins and what CCM_KEEP_AUDIT_DAYS and CCM_KEEP_REQUESTS_DAYS say. No word of any "
        "conversation is removed."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--dry-run", action="store_true", help="Only say what would go.")
        parser.add_argument("--json", action="store_true")

    def handle(self, *args: Any, **options: Any) -> None:
        told = retention.tidy(really=not options["dry_run"])
        if options["json"]:
            self.stdout.write(json.dumps(told))
            return
        done = "would go" if options["dry_run"] else "gone"
        for what, count in told.items():
            self.stdout.write(f"{count:,} {what}: {done}." if count else f"No {what}.")
