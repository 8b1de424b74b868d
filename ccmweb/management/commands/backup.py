"""Write a backup while people go on talking."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from ccmweb import backups
from efforts.management.base import DatabaseCommand


class Command(DatabaseCommand):
    help = (
        "Write the database as it is at this moment, the secret key, unpacked archives of code and files of messages "
        "to the new folder FOLDER; people can go on talking meanwhile. Whoever can read the folder can read everything."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("folder", type=Path)
        parser.add_argument("--json", action="store_true")

    def handle(self, *args: Any, **options: Any) -> None:
        folder: Path = options["folder"].absolute()
        try:
            made = backups.make(folder)
        except backups.BackupError as error:
            raise CommandError(str(error)) from error
        size = sum(path.stat().st_size for path in backups.files_below(folder))
        has_key = backups.KEY in made["files"]
        if options["json"]:
            told = {name: made[name] for name in ("made_at", "database", *backups.COUNTED)}
            self.stdout.write(json.dumps({"folder": str(folder), **told, "bytes": size, "has_key": has_key}))
            return
        self.stdout.write(
            f"{folder}: {made['conversations']:,} conversations with {made['messages']:,} messages, {size:,} bytes."
        )
        if not has_key:
            self.stdout.write("SECRET_KEY comes from the environment and is not in it: keep it too.")
