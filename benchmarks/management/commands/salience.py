"""Play conversations to their end and print what stands in the prompt then, and what their questions bring back."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from benchmarks.recall import KeepingReport
from benchmarks.replay import Settings, read_talks
from benchmarks.scratch import scratch_database
from efforts.domain.effort.policy import ContextMode
from efforts.domain.prompt.budget import DEFAULT_BUDGET

COLUMNS = ("headlines", "standing", "seed", "evicted", "returned")


# No DatabaseCommand: it brings its own.
class Command(BaseCommand):
    help = (
        "Play each conversation of a file turn by turn, its sessions as efforts, and print how many of their headlines "
        "stand in the prompt at the end, beside the seeds' rule as written; and of each question whether the headline "
        "of a session that holds its answer stands, or comes by what the question says, or by a search for it. The "
        "database is a temporary one. Exit status 0 only when both shares are as asked for."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, help="JSON Lines, one conversation a line")
        parser.add_argument("--budget", type=int, default=DEFAULT_BUDGET, help="tokens of each prompt at most")
        parser.add_argument("--most", type=float, default=0.6, help="share of the headlines that may stand")
        parser.add_argument("--least", type=float, default=0.9, help="share of the questions that must bring one")
        parser.add_argument("--given-summaries", action="store_true", help="those of the data, where it has any")
        parser.add_argument("--conversations", type=int, help="only so many, the first")
        parser.add_argument("--sample", type=int, default=0, help="show so many references by keywords, evenly")
        parser.add_argument("--json", action="store_true")

    def handle(self, *args: Any, **options: Any) -> None:
        report = KeepingReport(name=options["file"].stem, most=options["most"], least=options["least"])
        chosen = Settings(budget=options["budget"], mode=ContextMode.OFF, given=options["given_summaries"])
        began = time.monotonic()
        try:
            with scratch_database(durable=False):
                for talk in read_talks(options["file"], options["conversations"]):
                    report.add(talk, chosen, sample=options["sample"])
                    took = time.monotonic() - began
                    self.stderr.write(
                        f"{talk.id}: {report.conversations[-1].turns:,} turns played, {took:.0f} s so far"
                    )
        except (OSError, ValueError) as error:
            raise CommandError(f"{options['file']} cannot be played: {error}") from error
        found = {"holds": report.holds, **report.as_json()}
        self.stdout.write(json.dumps(found) if options["json"] else "\n".join(lines_of(found)))
        if not report.holds:
            sys.exit(1)


def lines_of(found: Mapping[str, Any]) -> Iterator[str]:
    yield "{name}: {share:.1%} of the headlines stand at the end; by the seeds' rule {seed_share:.1%}".format(**found)
    yield f"  {'':<24}" + "".join(f"{name:>10}" for name in ("turns", *COLUMNS))
    for one in found["conversations"]:
        counts = "".join(f"{one[name]:>10,}" for name in COLUMNS)
        yield f"  {one['id']:<24}{one['turns']:>10,}{counts}{one['share']:>8.1%}"
    for name, row in found["questions"].items():
        yield (
            "  {name:<24}{questions:>6,} questions, {brought:.1%} bring it: {kept:,} it stood, {reference:,} by "
            "reference, {search:,} by search; {missed:,} missed".format(name=name, **row)
        )
    for one in found["sample"]:
        yield "  {conversation}, turn {turn}, {by}: {effort} by {spelled}".format(
            **one, spelled=", ".join(one["words"])
        )
