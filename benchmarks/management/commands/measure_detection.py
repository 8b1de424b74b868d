"""How often a model does with efforts what a person would expect."""

from __future__ import annotations

import asyncio
import json
import sys
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

from django.conf import settings
from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import transaction
from django.db.models import Count, Sum

from benchmarks.detection.cases import (
    JUDGES,
    SHA256,
    Case,
    Changed,
    Standing,
    answered_by,
    build,
    read_cases,
    standing,
)
from benchmarks.detection.recorded import ChatServer, chat_server, export
from benchmarks.gates.cases import Unreadable
from benchmarks.gates.pending import record_at
from benchmarks.gates.record import MODEL
from benchmarks.scratch import scratch_database
from efforts import actions
from efforts.context.prompts import system_text
from efforts.domain.effort.states import RunState
from efforts.llm.builtin.transport import BUILTIN_MODEL
from efforts.models import Branch, ContextPlan, Endpoint, Run, Turn
from efforts.models.threads import read, write
from efforts.turns import recording
from efforts.turns.orchestrator import RunControl, Unwatched, run_turn

OWNER = "measure_detection"
RECORD = Path(__file__).parents[2] / "detection" / "record.jsonl"
STALE = (
    "{count} replies are not in the record: it is stale, or not whole. Export again: "
    "measure_detection --model recorded --export DIR"
)


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """One case in one run. `fault`: why the turn failed, where it did."""

    case: Case
    passed: bool
    fault: str = ""


# No DatabaseCommand: it brings its own.
class Command(BaseCommand):
    help = "Say the frozen messages to a model, each in its state, and print how often the outcome is the expected one."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--model", required=True, help="“builtin”, “recorded”, or a model by its name")
        parser.add_argument("--base-url", default="", help="of its endpoint; else the one the environment names")
        parser.add_argument("--timeout", type=int, default=300, help="seconds for a reply")
        parser.add_argument("--runs", type=int, default=1)
        parser.add_argument("--half", choices=[*SHA256, "all"], default="all")
        parser.add_argument("--kind", choices=sorted(JUDGES))
        parser.add_argument("--system-text", type=Path, metavar="FILE", help="another wording than the product's")
        parser.add_argument("--record", type=Path, help="of replies; that of another wording stands beside its file")
        parser.add_argument("--export", type=Path, metavar="DIR", help="write each request that has no recorded reply")
        parser.add_argument("--answers", type=Path, metavar="DIR", help="take replies into the record")
        parser.add_argument("--by", default="", help="who gave them")
        parser.add_argument("--prune", action="store_true", help="drop recorded replies that nothing asks for")
        parser.add_argument("--json", action="store_true")

    def handle(self, *args: Any, **options: Any) -> None:
        cases = chosen(options["half"], options["kind"])
        wording = options["system_text"]
        options["record"] = options["record"] or (wording.with_suffix(".jsonl") if wording else RECORD)
        # Nobody watches the text coming.
        settings.CCM_BUILTIN_PACE = 0.0
        with mock.patch("efforts.context.planning.system_text", return_value=wording_of(wording)):
            found = self.measured(cases, options)
        self.stdout.write(json.dumps(found) if options["json"] else "\n".join(table(found)))

    def measured(self, cases: Sequence[Case], options: Mapping[str, Any]) -> dict[str, Any]:
        if options["model"] == MODEL:
            return self.measure_recorded(cases, options)
        if options["model"] == BUILTIN_MODEL or options["base_url"] or settings.CCM_MODEL_URL:
            return self.summed_up(cases, options)
        raise CommandError("Where is that model? Name its endpoint with --base-url.")

    def measure_recorded(self, cases: Sequence[Case], options: Mapping[str, Any]) -> dict[str, Any]:
        """By replies that were given elsewhere. Ends the command where a reply is not there yet."""
        try:
            record = record_at(options["record"], answers=options["answers"], by=options["by"])
        except Unreadable as error:
            raise CommandError(str(error)) from error
        with chat_server(record) as server:
            found = self.summed_up(cases, {**options, "base_url": server.url})
            self.settle(server, options)
        return {**found, "by": list(record.by), "replies": len(server.used)}

    def settle(self, server: ChatServer, options: Mapping[str, Any]) -> None:
        if options["export"]:
            export(server.waiting, options["export"])
            self.stdout.write(f"{len(server.waiting)} requests are in {options['export']}.")
            sys.exit(0)
        if server.waiting:
            raise CommandError(STALE.format(count=len(server.waiting)))
        if options["prune"]:
            server.record.only(server.used).write(options["record"])

    def summed_up(self, cases: Sequence[Case], options: Mapping[str, Any]) -> dict[str, Any]:
        with scratch_database(durable=False):
            outcomes = asyncio.run(self.measure(cases, options))
            sent = ContextPlan.objects.aggregate(requests=Count("pk"), tokens=Sum("tokens"))
        return {**summary(outcomes, options["model"], options["runs"]), **sent}

    async def measure(self, cases: Sequence[Case], options: Mapping[str, Any]) -> list[Outcome]:
        owner = await write(User.objects.create, username=OWNER)
        endpoint = await write(
            answered_by, owner, model=options["model"], base_url=options["base_url"], timeout=options["timeout"]
        )
        outcomes = []
        for number in range(options["runs"] * len(cases)):
            outcomes.append(await outcome(cases[number % len(cases)], owner, endpoint, options["model"]))
            if (number + 1) % 20 == 0:
                self.stderr.write(f"{number + 1:,} of {options['runs'] * len(cases):,} ...")
        return outcomes


def wording_of(path: Path | None) -> str:
    """Of the file; the product's own where none is named."""
    try:
        return path.read_text(encoding="utf-8").strip() if path else system_text()
    except (OSError, UnicodeDecodeError) as error:
        raise CommandError(f"{path} cannot be read as a system text: {error}") from error


def chosen(half: str, kind: str | None) -> list[Case]:
    halves = list(SHA256) if half == "all" else [half]
    try:
        # Both are checked, whichever is asked for.
        every = {name: read_cases(name) for name in SHA256}
    except Changed as error:
        raise CommandError(str(error)) from error
    return [case for name in halves for case in every[name] if kind in (None, case.kind)]


async def outcome(case: Case, owner: User, endpoint: Endpoint | None, model: str) -> Outcome:
    """The turn as any turn is made, in a conversation of its own."""
    branch, before, turn = await write(prepare, case, owner, endpoint, model)
    for lease in await write(recording.claim_runs, OWNER, 1):
        await run_turn(RunControl(lease=lease), Unwatched())
    return await read(judge, case, branch, before, turn)


@transaction.atomic
def prepare(case: Case, owner: User, endpoint: Endpoint | None, model: str) -> tuple[Branch, Standing, Turn]:
    session = actions.create_session(owner, title=case.id)
    session.endpoint, session.model = endpoint, "" if endpoint else model
    session.save(update_fields=["endpoint", "model"])
    branch = build(session, case)
    before = standing(branch)
    return branch, before, actions.send_message(session, text=case.message, client_id="message", actor=owner)


def judge(case: Case, branch: Branch, before: Standing, turn: Turn) -> Outcome:
    run = Run.objects.filter(turn=turn).latest("attempt")
    fault = "" if run.state == RunState.COMPLETED else run.error_code or str(run.state)
    passed = not fault and JUDGES[case.kind](before, standing(branch, turn), case.expect)
    return Outcome(case=case, passed=passed, fault=fault)


def summary(outcomes: Sequence[Outcome], model: str, runs: int) -> dict[str, Any]:
    """Rates by half and kind. Of what failed only ids: the messages of the held-out half stay unread."""
    grouped: dict[str, dict[str, list[Outcome]]] = defaultdict(lambda: defaultdict(list))
    for result in outcomes:
        grouped[result.case.half][result.case.kind].append(result)
    halves = {
        half: {
            "rate": rate(result for results in kinds.values() for result in results),
            "kinds": {kind: {"rate": rate(results), "failed": failed(results)} for kind, results in kinds.items()},
        }
        for half, kinds in grouped.items()
    }
    faults = sorted({f"{result.case.id}: {result.fault}" for result in outcomes if result.fault})
    return {"model": model, "runs": runs, "cases": len(outcomes) // runs, "halves": halves, "faults": faults}


def rate(outcomes: Iterable[Outcome]) -> float:
    passed = [outcome.passed for outcome in outcomes]
    return round(sum(passed) / len(passed), 4)


def failed(outcomes: Iterable[Outcome]) -> list[str]:
    return sorted({outcome.case.id for outcome in outcomes if not outcome.passed})


def table(found: Mapping[str, Any]) -> Iterable[str]:
    yield f"{found['model']}: {found['cases']} messages, {found['runs']} run{'s' if found['runs'] != 1 else ''} each"
    yield f"{found['requests']:,} requests of {found['tokens']:,} tokens"
    for half, result in found["halves"].items():
        yield f"\n{half.replace('_', ' '):16} {result['rate']:6.1%}"
        for kind, of_kind in result["kinds"].items():
            yield f"  {kind:14} {of_kind['rate']:6.1%}  {' '.join(of_kind['failed'])}".rstrip()
    yield from (f"failed turn: {fault}" for fault in found["faults"])
