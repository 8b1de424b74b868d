"""Have what recall brings judged blind: whether it helps to answer."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from benchmarks.gates.cases import Unreadable
from benchmarks.gates.pending import answers_in
from benchmarks.recall import Chosen
from benchmarks.recall.judged import (
    ORDINARY,
    QUESTION,
    Sample,
    Verdicts,
    answered,
    export,
    judged,
    read_verdicts,
    sample,
    write_verdicts,
)
from benchmarks.replay import read_talks
from efforts.domain.effort.policy import ContextMode
from efforts.domain.prompt.budget import SMALLEST_BUDGET
from efforts.management.base import DatabaseCommand

RECORD = Path(__file__).parents[2] / "recall" / "judged.jsonl"


class Command(DatabaseCommand):
    help = (
        "Count what recall brings at ordinary messages and at questions of each file, and how much of it was judged "
        "helpful; write what nobody has judged as requests, one file a message, or take in the answers, which stand "
        "beside them: files of the same names, ending .json."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("files", type=Path, nargs="+", help="JSON Lines, each of one kind of talk")
        what = parser.add_mutually_exclusive_group()
        what.add_argument("--export", type=Path, help="a folder for the requests")
        what.add_argument("--answers", type=Path, help="that folder, with answers; they are kept in the record")
        parser.add_argument("--record", type=Path, default=RECORD, help="what was judged so far")
        parser.add_argument("--messages", type=int, default=20, help="ordinary messages of each file")
        parser.add_argument("--questions", type=int, default=14, help="questions of each file")
        parser.add_argument("--conversations", type=int, default=5, help="of each file, the first")
        parser.add_argument("--budget", type=int, default=SMALLEST_BUDGET, help="tokens of each prompt at most")
        parser.add_argument("--meaning", action="store_true", help="meanings too, by the installation's model")
        parser.add_argument("--json", action="store_true")

    def handle(self, *args: Any, **options: Any) -> None:
        chosen = Chosen(budget=options["budget"], mode=ContextMode.LIGHT, meaning=options["meaning"])
        samples = []
        for file in options["files"]:
            try:
                talks = list(read_talks(file, options["conversations"]))
            except (OSError, ValueError) as error:
                raise CommandError(f"{file} cannot be read: {error}") from error
            counts = {name: options[name] for name in ("messages", "questions")}
            samples.append(sample(file.stem, talks, chosen, **counts))
            self.stderr.write(f"{file.stem}: {samples[-1].fired} of {samples[-1].tried} ordinary messages recall")
        try:
            known = read_verdicts(options["record"])
            if folder := options["answers"]:
                known |= answered(folder, answers_in(folder))
                write_verdicts(options["record"], known)
        except (Unreadable, OSError, ValueError) as error:
            raise CommandError(str(error)) from error
        if options["export"]:
            self.stdout.write(f"{export(samples, options['export'], known)} requests in {options['export']}.")
            return
        found = figures(samples, known)
        self.stdout.write(json.dumps(found) if options["json"] else "\n".join(lines_of(found)))


Figures = dict[str, dict[str, dict[str, float | int]]]


def figures(samples: list[Sample], known: Verdicts) -> Figures:
    return {
        some.name: {
            "recalled": {"tried": some.tried, "fired": some.fired},
            **{kind: judged(some, known, kind) for kind in (ORDINARY, QUESTION)},
        }
        for some in samples
    }


def lines_of(found: Figures) -> Iterator[str]:
    yield "| kind of talk | at | judged | passages | helpful | any of them | unanswered |"
    yield "|---" * 7 + "|"
    for name, rows in found.items():
        for kind in (ORDINARY, QUESTION):
            row = rows[kind]
            yield (
                f"| {name} | {kind}s | {row['judged']} | {row['passages']} | {row['helpful']:.3f} | {row['any']:.3f} | "
                f"{row['unanswered']} |"
            )
        yield "| {name} | fires at {fired} of {tried} ordinary messages |||||".format(name=name, **rows["recalled"])
