"""Write a conversation's model calls with what came of them, its ledger, or its summaries, as lines of JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

from django.core.management.base import CommandError, CommandParser

from efforts.management.base import DatabaseCommand
from efforts.models import Session
from efforts.pages.presenters.export import ledger_lines, plan_lines, summary_lines
from efforts.standins.compacting import registered

TELL_EVERY = 1_000


@dataclass(frozen=True, kw_only=True)
class Export:
    name: str
    lines: Callable[[Session], Iterator[list[str]]]


def summaries(session: Session) -> Iterator[list[str]]:
    return summary_lines(session, registered().exported(session))


PLANS = Export(name="plans", lines=plan_lines)
LEDGER = Export(name="entries", lines=ledger_lines)
SUMMARIES = Export(name="summaries and moves", lines=summaries)


class Command(DatabaseCommand):
    help = (
        "Write a conversation's plans, its ledger, or its summaries, as lines of JSON, secrets masked (docs/export.md)."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("session", type=UUID)
        what = parser.add_mutually_exclusive_group(required=True)
        what.add_argument("--plans", action="store_true", help="what each model call was made of, and what came of it")
        what.add_argument("--ledger", action="store_true", help="decisions, open work and rules")
        what.add_argument("--summaries", action="store_true", help="summaries, and all that has stood for turns")
        parser.add_argument("--out", type=Path, help="a file, written whole or not at all; default: standard output")

    def handle(self, *args: Any, **options: Any) -> None:
        session = Session.objects.filter(pk=options["session"]).first()
        if session is None:
            raise CommandError(f"There is no session {options['session']}.")
        export = LEDGER if options["ledger"] else SUMMARIES if options["summaries"] else PLANS
        if options["out"] is None:
            self.write(session, export, self.stdout.write)
            return
        try:
            self.write_whole(session, export, options["out"])
        except OSError as error:
            raise CommandError(f"{options['out']} cannot be written: {error.strerror}.") from error

    def write_whole(self, session: Session, export: Export, out: Path) -> None:
        part = out.with_name(f"{out.name}.part")
        with part.open("w", encoding="utf-8", newline="\n") as file:
            self.write(session, export, file.write)
        # Only now has it its name: what broke off is not taken for all there is.
        part.replace(out)

    def write(self, session: Session, export: Export, put: Callable[[str], object]) -> None:
        written = 0
        for lines in export.lines(session):
            put("".join(f"{line}\n" for line in lines))
            written += len(lines)
            if written % TELL_EVERY == 0:
                self.stderr.write(f"{written:,} {export.name} written ...")
        self.stderr.write(f"{written:,} {export.name} written.")
