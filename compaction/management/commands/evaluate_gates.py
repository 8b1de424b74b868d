"""Measure the gates on an annotated set, and print what they refuse and what they miss."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from compaction.evaluating.cases import Case, Unreadable, read_cases
from compaction.evaluating.drafts import offered, read_drafts
from compaction.evaluating.reporting import as_json, lines_of
from compaction.evaluating.running import Report, evaluate
from compaction.evaluating.tables import table
from efforts.llm.tokens import get_counter

# Of the scopes in which the fast part plants a kind of defect.
EVERY = 10


# No DatabaseCommand: it needs none.
class Command(BaseCommand):
    help = (
        "Judge annotated scopes: their good artifacts and the extractive drafts, which the gates are to accept, and "
        "artifacts with planted defects, each of which the gate that it is meant for is to refuse. No database is "
        "touched. Exit status 0 only when all that is asked for holds."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("directory", type=Path, help="with dev/*.json and test/*.json")
        parser.add_argument("--split", choices=["dev", "test"], help="only this one; default: both")
        parser.add_argument(
            "--fast",
            action="store_true",
            help=f"scopes of dev alone, and in each {EVERY}th of them a defect of each kind",
        )
        parser.add_argument("--drafts", type=Path, help="JSON Lines of recorded drafts, shown beside; nothing is asked")
        parser.add_argument("--json", action="store_true")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            report = measured(options)
        except Unreadable as error:
            raise CommandError(str(error)) from error
        found = as_json(report)
        self.stdout.write(
            json.dumps(found, ensure_ascii=False)
            if options["json"]
            else "\n".join([*table(found), "", *lines_of(found)])
        )
        if not found["holds"]:
            sys.exit(1)


def measured(options: dict[str, Any]) -> Report:
    count = get_counter().count
    cases = read_cases(options["directory"])
    recorded = offered(read_drafts(options["drafts"], cases), count) if options["drafts"] else ()
    return evaluate(chosen(cases, options), count=count, every=EVERY if options["fast"] else 1, recorded=recorded)


def chosen(cases: tuple[Case, ...], options: dict[str, Any]) -> list[Case]:
    split = "dev" if options["fast"] else options["split"]
    found = [case for case in cases if split in (None, case.split)]
    if not found:
        raise Unreadable(f"{options['directory']} has no cases of {split}.")
    return found
