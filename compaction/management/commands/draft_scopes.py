"""Let a model draft annotated scopes, and keep its answers word for word for `evaluate_gates --drafts`."""

from __future__ import annotations

import asyncio
import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from compaction.asking import ask
from compaction.domain.artifact import Kind, SourceRef
from compaction.drafting import Task, request_of, source_tokens
from compaction.evaluating.cases import Case, Unreadable, read_cases
from efforts.connections import ModelChoice


class Command(BaseCommand):
    help = "Draft the shortest scopes of a set by a model, one request each, and write its answers as JSON lines."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("folder", type=Path, help="a set as evaluate_gates reads it")
        parser.add_argument("out", type=Path, help="answers are added to this file; what it has is not asked again")
        parser.add_argument("--base-url", required=True, help="an OpenAI-compatible address")
        parser.add_argument("--model", default="local")
        parser.add_argument("--most-tokens", type=int, default=2_000, help="of a scope")
        parser.add_argument("--limit", type=int, default=16)
        parser.add_argument("--seconds", type=float, default=600)

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            cases = [case for case in read_cases(options["folder"]) if case.split == "test"]
        except Unreadable as error:
            raise CommandError(str(error)) from error
        short = [case for case in cases if source_tokens(case.source) < options["most_tokens"]]
        chosen = sorted(short, key=lambda case: (source_tokens(case.source), case.id))[: options["limit"]]
        choice = ModelChoice(
            kind="endpoint",
            label="measured",
            model=options["model"],
            base_url=options["base_url"],
            timeout_seconds=options["seconds"],
        )
        done = {json.loads(line)["case"] for line in lines_of(options["out"])}
        for case in chosen:
            if case.id not in done:
                answer = asyncio.run(answered(case, choice, options["seconds"]))
                with options["out"].open("a") as out:
                    out.write(json.dumps(answer, ensure_ascii=False) + "\n")
                self.stderr.write(f"{case.id}: {answer['stop_reason']}, {answer['elapsed_ms'] / 1000:.0f} s")


def lines_of(path: Path) -> list[str]:
    return path.read_text().splitlines() if path.exists() else []


async def answered(case: Case, choice: ModelChoice, seconds: float) -> dict[str, Any]:
    tokens = source_tokens(case.source)
    turns = case.source.turns
    ref = SourceRef(
        session="",
        branch="",
        effort=None,
        start=turns[0],
        end=turns[-1],
        turns=turns,
        source_sha256=case.source.sha256,
        source_tokens=tokens,
    )
    task = Task(
        name=case.id, kind=Kind.INTENTIONAL, source=case.source, ref=ref, cap=40_000, timeout_ms=int(seconds * 1000)
    )
    answer = await ask(request_of(task, choice), choice, seconds)
    return {
        "case": case.id,
        "text": answer.text,
        "stop_reason": answer.stop_reason,
        "usage": answer.attempt.model_dump(mode="json")["usage"],
        "elapsed_ms": answer.elapsed_ms,
        "model": choice.model,
    }
