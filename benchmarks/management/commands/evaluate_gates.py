"""Measure the check and the gates: what they refuse, what they miss, and what they refuse though it is right."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from benchmarks.gates.bench import Bench
from benchmarks.gates.cases import Case, Unreadable, read_cases, read_trust
from benchmarks.gates.figures import Measured, Suite
from benchmarks.gates.mutants import Mutants
from benchmarks.gates.pending import export, record_at
from benchmarks.gates.record import MODEL, Record, record_server
from benchmarks.gates.running import as_json, measured, once
from efforts.context.connections import ModelChoice
from efforts.models.threads import run_here

STALE = "{count} answers are not in the record: it is stale, or not whole. Export again: evaluate_gates --export DIR"
SECONDS = 600.0


# No DatabaseCommand: it needs none.
class Command(BaseCommand):
    help = (
        "Judge good summaries, and summaries with planted mistakes, by the check and the gates as the product does. A "
        "model answers by endpoint, or from the record of answers given before. No database is touched. Exit status 0 "
        "only when all that is asked for holds."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("folder", type=Path, help="with cases/, trust/ and record/answers.jsonl")
        parser.add_argument(
            "--trust", type=Path, action="append", help="scopes with mistakes to plant, instead of trust/"
        )
        parser.add_argument("--record", type=Path, help="another record of answers")
        parser.add_argument("--fast", action="store_true", help="only what needs no answers of a model")
        parser.add_argument("--url", help="an OpenAI-compatible address that answers, instead of the record")
        parser.add_argument("--model", default="", help="at that address")
        parser.add_argument("--export", type=Path, metavar="DIR", help="write each request that has no answer")
        parser.add_argument("--answers", type=Path, metavar="DIR", help="take answers into the record")
        parser.add_argument("--by", default="", help="who gave them")
        parser.add_argument("--prune", action="store_true", help="drop recorded answers that nothing asks for")
        parser.add_argument("--json", action="store_true")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            self.evaluate(options)
        except Unreadable as error:
            raise CommandError(str(error)) from error

    def evaluate(self, options: dict[str, Any]) -> None:
        path = options["record"] or options["folder"] / "record" / "answers.jsonl"
        record = record_at(path, answers=options["answers"], by=options["by"])
        suites: list[Suite] = []
        by = "none are needed"
        if not options["fast"]:
            with bench_of(record, options) as bench:
                suites = run_here(measured(cases_of(options), bench))
                self.settle(bench, options)
                if options["prune"] and bench.server:
                    record.only(bench.server.used).write(path)
                by = answered_by(bench)
        mutants = Mutants(cases=read_cases(options["folder"] / "cases"))
        mutants.measure()
        self.tell([mutants, *suites], by, options)

    def settle(self, bench: Bench, options: dict[str, Any]) -> None:
        """Nothing is measured while an answer is not there."""
        for fault in bench.unreadable:
            self.stderr.write(fault)
        pending = once(bench.pending)
        if options["export"]:
            export(pending, options["export"])
            self.stdout.write(f"{len(pending)} requests are in {options['export']}.")
            sys.exit(0)
        if pending or bench.unreadable:
            raise CommandError(STALE.format(count=len(pending) + len(bench.unreadable)))

    def tell(self, suites: Sequence[Measured], by: str, options: dict[str, Any]) -> None:
        found = as_json(suites, by)
        text = json.dumps(found, ensure_ascii=False, indent=1) if options["json"] else "\n".join(lines_of(suites, by))
        self.stdout.write(text)
        if not found["holds"]:
            sys.exit(1)


def lines_of(suites: Sequence[Measured], by: str) -> Iterator[str]:
    yield f"Answers: {by}."
    for suite in suites:
        yield ""
        yield from suite.lines()
    yield ""
    yield from (demand.line() for suite in suites for demand in suite.demands())


def answered_by(bench: Bench) -> str:
    if bench.server is None:
        return f"{bench.choice.model} at {bench.choice.base_url}"
    return f"{', '.join(bench.server.record.by)}; {len(bench.server.used)} answers, recorded"


def cases_of(options: dict[str, Any]) -> list[Case]:
    """What has mistakes to plant first."""
    folder: Path = options["folder"]
    paths = options["trust"] or sorted((folder / "trust").glob("*.jsonl"))
    trusted = [case for path in paths for case in read_trust(path)]
    return trusted if options["trust"] else [*trusted, *read_cases(folder / "cases", ("dev",))]


@contextmanager
def bench_of(record: Record, options: dict[str, Any]) -> Iterator[Bench]:
    if options["url"]:
        yield Bench(choice=choice_of(options["url"], options["model"]))
        return
    with record_server(record) as server:
        yield Bench(choice=choice_of(server.url, MODEL), server=server)


def choice_of(url: str, model: str) -> ModelChoice:
    return ModelChoice(
        kind="endpoint", label=model, model=model, base_url=url, timeout_seconds=SECONDS, draft_seconds=SECONDS
    )
