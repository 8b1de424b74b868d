"""Make conversations of JSON Lines the conversations of somebody."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import CommandError, CommandParser

from benchmarks.importing import import_talk
from benchmarks.replay import Talk, read_talks
from efforts.management.base import DatabaseCommand


@dataclass(frozen=True, kw_only=True)
class Row:
    """One conversation of the file; without a session it was there already."""

    conversation: str
    session: str | None = None
    turns: int = 0
    messages: int = 0

    @property
    def line(self) -> str:
        if self.session is None:
            return f"{self.conversation}: there already, skipped"
        return f"{self.conversation}: {self.turns:,} turns, {self.messages:,} messages"


class Command(DatabaseCommand):
    help = (
        "Make each line of a file a conversation of OWNER's, its turns completed, as if it had been held here. What "
        "OWNER has from an earlier import is skipped. The file is checked whole before anything is imported."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, help="JSON Lines, one conversation a line")
        parser.add_argument("--owner", required=True, help="whose the conversations will be")
        parser.add_argument(
            "--sessions-as-efforts",
            action="store_true",
            help="each session is an effort, concluded at its end; otherwise nothing belongs to an effort",
        )
        parser.add_argument("--json", action="store_true")

    def handle(self, *args: Any, **options: Any) -> None:
        owner = User.objects.filter(username=options["owner"]).first()
        if owner is None:
            raise CommandError(f"There is no user {options['owner']!r}.")
        path: Path = options["file"]
        check(path)
        rows = []
        for talk in read_talks(path):
            rows.append(imported(owner, talk, as_efforts=options["sessions_as_efforts"]))
            self.stderr.write(rows[-1].line)
        made = [row for row in rows if row.session]
        if options["json"]:
            found = {"imported": len(made), "skipped": len(rows) - len(made)}
            self.stdout.write(json.dumps({**found, "conversations": [asdict(row) for row in rows]}))
            return
        messages = sum(row.messages for row in made)
        self.stdout.write(
            f"{len(made):,} conversations with {messages:,} messages imported for {owner.username}, "
            f"{len(rows) - len(made):,} were there already."
        )


def check(path: Path) -> None:
    try:
        for _ in read_talks(path):
            pass
    except (OSError, ValueError) as error:
        raise CommandError(f"Nothing was imported. {error}. Correct it and import again.") from error


def imported(owner: User, talk: Talk, *, as_efforts: bool) -> Row:
    made = import_talk(owner, talk, as_efforts=as_efforts)
    if made is None:
        return Row(conversation=talk.id)
    return Row(conversation=talk.id, session=str(made.session.pk), turns=made.turns, messages=len(made.pieces))
