"""Play conversations of other people's through the planner and print what each call would have been sent."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from efforts.domain.budget import DEFAULT_BUDGET, SMALLEST_BUDGET
from efforts.llm.tokens import get_counter
from efforts.replaying import Report, Settings, Talk, read_talks, replayed


class Command(BaseCommand):
    help = (
        "Plan every call of conversations in JSON Lines: each session is one effort, concluded at its end. Prints how "
        "much of each request is an unchanged beginning of the next, beside the seeds' layout. No database is used. "
        "Exit status 0 only when no call is over its budget."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("files", nargs="+", type=Path, metavar="file", help="one conversation a line")
        parser.add_argument("--budget", type=int, default=DEFAULT_BUDGET, help="tokens of each prompt at most")
        parser.add_argument("--prefer-cache", action="store_true", help="as the setting of a conversation")
        parser.add_argument("--ambient", action="store_true", help="without efforts: all turns are ambient")
        parser.add_argument(
            "--given-summaries", action="store_true", help="those of the data, where it has any, not extractive ones"
        )
        parser.add_argument("--conversations", type=int, help="of each file only so many, the first")
        parser.add_argument("--json", action="store_true")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["budget"] < SMALLEST_BUDGET:
            raise CommandError(
                f"A budget of {options['budget']:,} tokens is too small: {SMALLEST_BUDGET:,} is the least."
            )
        chosen = Settings(
            count=get_counter(settings.CCM_ENCODING).count,
            budget=options["budget"],
            prefer_cache=options["prefer_cache"],
            ambient=options["ambient"],
            given=options["given_summaries"],
        )
        reports = [self.of_file(path, chosen, options["conversations"]) for path in options["files"]]
        holds = not any(report.over_budget for report in reports)
        if options["json"]:
            files = [report.as_json() for report in reports]
            self.stdout.write(json.dumps({"holds": holds, "budget": chosen.budget, "files": files}))
        else:
            self.stdout.write("\n".join(line for report in reports for line in lines_of(report, chosen)))
        if not holds:
            sys.exit(1)

    def of_file(self, path: Path, chosen: Settings, most: int | None) -> Report:
        def tell(talk: Talk) -> None:
            self.stderr.write(f"{path.name}: {talk.id} played")

        try:
            return replayed(path.stem, read_talks(path, most), chosen, tell)
        except (OSError, ValueError) as error:
            raise CommandError(f"{path} cannot be played: {error}") from error


def lines_of(report: Report, chosen: Settings) -> Iterator[str]:
    found = report.as_json()
    yield (
        f"{report.name}: {report.conversations} conversations, {report.calls:,} calls at {chosen.budget:,} tokens; "
        f"{report.over_budget} over budget, {report.refused} not sent, the largest {report.largest:,}"
    )
    yield "  unchanged beginning, mean share of the request before (of the request itself)"
    for whose, where in found["unchanged_prefix"].items():
        said = "; ".join(f"{place} {figures(share)}" for place, share in where.items())
        yield f"  {whose.replace('_', ' '):<12} {said}"


def figures(share: dict[str, Any]) -> str:
    if not share["calls"]:
        return "none"
    return f"{share['of_previous']:.3f} ({share['of_this']:.3f}) in {share['calls']:,} calls"
