"""Ask what other people asked about their conversations, and print how much of the answer's evidence is found."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from benchmarks.recall import ALL, Chosen, Report
from benchmarks.replay import Question, read_talks
from efforts.domain.effort.policy import ContextMode
from efforts.domain.prompt.budget import SMALLEST_BUDGET
from efforts.management.base import DatabaseCommand

FIGURES = ("recall@1", "recall@5", "recall@10", "recall@20", "hit@10", "mrr")
STANDING = ("share", "all", "any", "passages", "recalled")


class Command(DatabaseCommand):
    help = (
        "Import each conversation of a file, its sessions as concluded efforts, ask each of its questions as the next "
        "message, and print which of the messages that hold the answer are found, and stand in the prompt that would "
        "be sent. Beside it plain FTS5 and the seeds' keywords. The answers are not read. Nothing is kept; on SQLite "
        "other writers wait while a conversation is measured. Exit status 0 only when no prompt is over its budget."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, help="JSON Lines, one conversation a line")
        parser.add_argument("--budget", type=int, default=SMALLEST_BUDGET, help="tokens of each prompt at most")
        parser.add_argument("--mode", choices=[ContextMode.LIGHT, ContextMode.HEAVY], default=ContextMode.LIGHT)
        share = parser.add_mutually_exclusive_group()
        share.add_argument("--share", type=float, help="of the budget for recall; default: what the mode has")
        share.add_argument("--uncapped", action="store_const", const=1.0, dest="share", help="all of it")
        parser.add_argument("--meaning", action="store_true", help="meanings too, by the installation's model")
        parser.add_argument("--conversations", type=int, help="only so many, the first")
        parser.add_argument("--limit", type=int, help="only so many questions of each conversation, evenly over all")
        parser.add_argument("--ordinary", type=int, default=40, help="messages of each that recall is tried at as well")
        parser.add_argument("--json", action="store_true")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["budget"] < SMALLEST_BUDGET:
            raise CommandError(
                f"A budget of {options['budget']:,} tokens is too small: {SMALLEST_BUDGET:,} is the least."
            )
        chosen = Chosen(
            budget=options["budget"],
            mode=ContextMode(options["mode"]),
            share=options["share"],
            meaning=options["meaning"],
        )
        report = Report(name=options["file"].stem, chosen=chosen)
        began = time.monotonic()
        try:
            for talk in read_talks(options["file"], options["conversations"]):
                asked = evenly(talk.questions, options["limit"])
                report.add(replace(talk, questions=asked), options["ordinary"])
                self.stderr.write(f"{talk.id}: {len(asked)} questions asked")
        except (OSError, ValueError) as error:
            raise CommandError(f"{options['file']} cannot be measured: {error}") from error
        found = {"holds": report.holds, **report.as_json(), "elapsed_s": round(time.monotonic() - began, 1)}
        self.stdout.write(json.dumps(found) if options["json"] else "\n".join(lines_of(found)))
        if not report.holds:
            sys.exit(1)


def evenly(questions: Sequence[Question], most: int | None) -> tuple[Question, ...]:
    if most is None or most >= len(questions):
        return tuple(questions)
    return tuple(questions[place * len(questions) // most] for place in range(most))


def lines_of(found: Mapping[str, Any]) -> Iterator[str]:
    yield (
        "{name}: {conversations:,} conversations, {messages:,} messages, {questions:,} questions at {budget:,} tokens, "
        "{mode}, {recall_share:.0%} for recall; {over_budget:,} over budget; {elapsed_s:.1f} s".format(**found)
    )
    yield f"{'found':<36}" + "".join(f"{figure:>11}" for figure in FIGURES)
    for method, tables in found["found"].items():
        for what, table in tables.items():
            yield f"  {method + ', ' + what.replace('_', ' '):<34}" + row_of(table[ALL], FIGURES)
    yield f"{'evidence in prompt':<36}" + "".join(f"{figure:>11}" for figure in ("questions", *STANDING))
    for category, row in found["evidence_in_prompt"].items():
        yield f"  {category:<34}{row['questions']:>11,}" + row_of(row, STANDING)
    for what, table in (("questions", "recall_at_questions"), ("ordinary messages", "recall_at_ordinary_messages")):
        if ALL in found[table]:
            yield "recall fired at {fired:.0%} of {asked:,} {what}".format(what=what, **found[table][ALL]) + right(
                found[table][ALL]
            )


def row_of(row: Mapping[str, float], figures: Sequence[str]) -> str:
    # Shares and counts in one table.
    return "".join(f"{row[figure]:>11.3f}" if row[figure] <= 1 else f"{row[figure]:>11,.1f}" for figure in figures)


def right(row: Mapping[str, Any]) -> str:
    return "" if row["right"] is None else f", and was right at {row['right']:.0%} of these"
