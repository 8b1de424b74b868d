"""Compare the index of what was said with the log, and mend it."""

from __future__ import annotations

import json
from typing import Any

from django.core.management.base import CommandParser

from efforts.management.base import DatabaseCommand
from efforts.retrieval.rebuilding import Rebuilt, rebuild

TELL_EVERY = 10_000


class Command(DatabaseCommand):
    help = "Make the index of what was said anew where it differs from the log; conversations can go on meanwhile."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--json", action="store_true")

    def handle(self, *args: Any, **options: Any) -> None:
        self.told = 0
        done = rebuild(self.tell)
        if options["json"]:
            self.stdout.write(json.dumps(vars(done)))
            return
        self.stdout.write(f"{done.messages:,} messages of {done.sessions:,} conversations are indexed.")
        self.stdout.write(mended(done) or "Nothing had to be mended.")

    def tell(self, done: Rebuilt) -> None:
        if done.messages // TELL_EVERY > self.told:
            self.told = done.messages // TELL_EVERY
            self.stderr.write(f"{done.messages:,} messages ...")


def mended(done: Rebuilt) -> str:
    parts = [
        f"{done.passages:,} passages" if done.passages else "",
        f"the counts of {done.frequencies:,} conversations" if done.frequencies else "",
        "the table of terms" if done.terms else "",
    ]
    return f"Mended: {', '.join(filter(None, parts))}." if any(parts) else ""
