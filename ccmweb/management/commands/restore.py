"""Bring a backup back into an empty installation, and check it."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import OperationalError

from ccmweb import backups
from efforts.management.commands.check_integrity import everything_wrong


class Command(BaseCommand):
    help = (
        "Restore the backup in FOLDER into the empty database and state folder that the settings name, and check all "
        "of it. Nothing is overwritten. Exit status 0 only where everything is there and whole."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("folder", type=Path)
        parser.add_argument("--json", action="store_true")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            manifest = backups.restore(options["folder"].absolute())
        except backups.BackupError as error:
            raise CommandError(str(error)) from error
        except OperationalError as error:
            raise CommandError(f"The database cannot be used: {' '.join(str(error).split())}") from error
        missing = backups.missing_from(manifest)
        # Of an older version it is brought to this one.
        call_command("migrate", verbosity=0, interactive=False)
        _, wrong = everything_wrong()
        key_missing = backups.key_is_missing(manifest)
        if options["json"]:
            told = {name: manifest[name] for name in ("made_at", *backups.COUNTED)}
            found = {"missing": missing, "wrong": wrong, "key_missing": key_missing}
            self.stdout.write(json.dumps({**told, **found}))
        else:
            self.tell(manifest, missing, len(wrong), key_missing)
        if missing or wrong:
            sys.exit(1)

    def tell(self, manifest: backups.Manifest, missing: list[str], wrong: int, key_missing: bool) -> None:
        self.stdout.write(
            f"Restored as of {manifest['made_at']}: {manifest['conversations']:,} conversations with "
            f"{manifest['messages']:,} messages."
        )
        if missing:
            self.stdout.write(f"Missing: {'; '.join(missing)}.")
        elif not wrong:
            self.stdout.write("All of it was checked and is whole.")
        if wrong:
            self.stdout.write(f"{wrong:,} things were wrong. What is left of them: manage.py check_integrity")
        if key_missing:
            self.stdout.write(
                "SECRET_KEY is another one than that of the backup: keys of models must be entered again."
            )
