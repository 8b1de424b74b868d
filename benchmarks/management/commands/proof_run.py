"""Run scripted proofs and print what holds; of the seeds' with their figures beside the measured ones."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from benchmarks.proofs import PROOFS, Claims, Step, kill, plot, run
from efforts.management.base import DatabaseCommand

KILL = "kill"
TOKENS = " (tokens of the next prompt; sent: of the last prompt of the step's own turn)"
NAMES = ", ".join((*PROOFS, KILL))


class Command(DatabaseCommand):
    help = (
        "Measure the scripted runs by their plans; kill: end a server of its own in the middle of an answer. Exit "
        "status 0 only when every claim holds. Your database keeps nothing of it."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("proofs", nargs="*", metavar="proof", help=f"{NAMES}; all but {KILL} where none is named")
        parser.add_argument("--home", type=Path, help=f"a new folder, in which {KILL} leaves what it stored")
        parser.add_argument("--plot", type=Path, help="an SVG; of several proofs one each, with their names")
        parser.add_argument("--json", action="store_true")

    def handle(self, *args: Any, **options: Any) -> None:
        names = list(dict.fromkeys(options["proofs"] or PROOFS))
        check(names, options["home"])
        proofs = [kill(options["home"]) if name == KILL else run(name) for name in names]
        holds = all(proof.holds for proof in proofs)
        if options["plot"]:
            write_plots(options["plot"], proofs)
        if options["json"]:
            self.stdout.write(json.dumps({"holds": holds, "proofs": [as_json(proof) for proof in proofs]}))
        else:
            for proof in proofs:
                self.stdout.write("\n".join(report(proof)))
        if not holds:
            sys.exit(1)


def check(names: list[str], home: Path | None) -> None:
    if unknown := [name for name in names if name not in (*PROOFS, KILL)]:
        raise CommandError(f"There is no proof {unknown[0]!r}. There are: {NAMES}.")
    if home and KILL not in names:
        raise CommandError(f"--home is for {KILL}; the other proofs leave nothing behind.")
    if home and home.exists():
        raise CommandError(f"{home} is there already. Name a folder that is not.")


def write_plots(path: Path, proofs: list[Claims]) -> None:
    proofs = [proof for proof in proofs if proof.steps]
    for proof in proofs:
        target = path if len(proofs) == 1 else path.with_name(f"{path.stem}-{proof.name}{path.suffix}")
        target.write_text(plot(proof), encoding="utf-8")


def as_json(proof: Claims) -> dict[str, Any]:
    return {
        "name": proof.name,
        "title": proof.title,
        "holds": proof.holds,
        "steps": [asdict(step) for step in proof.steps],
        "claims": [asdict(claim) for claim in proof.claims],
    }


def report(proof: Claims) -> Iterator[str]:
    yield f"{proof.name}: {proof.title}{TOKENS if proof.steps else ''}"
    if proof.steps:
        yield f"{'step':<47}{'seed':>12}{'sent':>8}{'talk':>8}{'prompt':>8}{'change':>8}  layers"
    before = proof.steps[0].prompt if proof.steps else 0
    for step in proof.steps:
        yield row(step, step.prompt - before)
        before = step.prompt
        yield from beside(step)
    for claim in proof.claims:
        seed = f" (seed: {claim.seed})" if claim.seed else ""
        yield f"{'holds' if claim.holds else 'FAILS':<6} {claim.text}: {claim.measured}{seed}"
    yield ""


def row(step: Step, change: int) -> str:
    layers = " ".join(f"{key} {tokens:,}" for key, tokens in step.layers.items() if key != "system")
    sent = f"{step.sent.tokens:,}" if step.sent else ""
    return f"{step.title:<47}{step.seed:>12}{sent:>8}{step.talk:>8,}{step.prompt:>8,}{change:>+8,}  {layers}"


def beside(step: Step) -> Iterator[str]:
    """What the row has besides tokens."""
    if step.says:
        yield f"    {step.says}" + (f" (seed: {step.seed_says})" if step.seed_says else "")
    if step.note:
        yield f"    Note: {step.note}"
