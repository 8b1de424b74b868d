"""Write what a conversation's model calls were made of and what came of them, one line of JSON a plan."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import UUID

from django.core.management.base import CommandError, CommandParser

from efforts.management.base import DatabaseCommand
from efforts.models import Session
from efforts.snapshots.export import plan_lines

TELL_EVERY = 1_000


class Command(DatabaseCommand):
    help = "Write a conversation's plans as lines of JSON, secrets masked (docs/export.md)."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("session", type=UUID)
        parser.add_argument("--plans", action="store_true", required=True, help="what to export; there is no other yet")
        parser.add_argument("--out", type=Path, help="a file, written whole or not at all; default: standard output")

    def handle(self, *args: Any, **options: Any) -> None:
        session = Session.objects.filter(pk=options["session"]).first()
        if session is None:
            raise CommandError(f"There is no session {options['session']}.")
        if options["out"] is None:
            self.write(session, self.stdout.write)
            return
        try:
            self.write_whole(session, options["out"])
        except OSError as error:
            raise CommandError(f"{options['out']} cannot be written: {error.strerror}.") from error

    def write_whole(self, session: Session, out: Path) -> None:
        part = out.with_name(f"{out.name}.part")
        with part.open("w", encoding="utf-8", newline="\n") as file:
            self.write(session, file.write)
        # Only now has it its name: what broke off is not taken for all there is.
        part.replace(out)

    def write(self, session: Session, put: Callable[[str], object]) -> None:
        written = 0
        for lines in plan_lines(session):
            put("".join(f"{line}\n" for line in lines))
            written += len(lines)
            if written % TELL_EVERY == 0:
                self.stderr.write(f"{written:,} plans written ...")
        self.stderr.write(f"{written:,} plans written.")
