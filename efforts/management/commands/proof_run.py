"""Run the seeds' scripted proofs and print the seed's figures beside the measured ones."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import asdict
from itertools import pairwise
from typing import Any

from django.core.management.base import CommandError, CommandParser

from efforts.management.base import DatabaseCommand
from efforts.proofs import PROOFS, Proof, Step, run


class Command(DatabaseCommand):
    help = "Measure the scripted runs by their plans. Exit status 0 only when every claim holds; nothing is kept."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("proofs", nargs="*", metavar="proof", help=f"{', '.join(PROOFS)}; all where none is named")
        parser.add_argument("--json", action="store_true")

    def handle(self, *args: Any, **options: Any) -> None:
        if unknown := [name for name in options["proofs"] if name not in PROOFS]:
            raise CommandError(f"There is no proof {unknown[0]!r}. There are: {', '.join(PROOFS)}.")
        proofs = [run(name) for name in dict.fromkeys(options["proofs"] or PROOFS)]
        holds = all(proof.holds for proof in proofs)
        if options["json"]:
            self.stdout.write(json.dumps({"holds": holds, "proofs": [as_json(proof) for proof in proofs]}))
        else:
            for proof in proofs:
                self.stdout.write("\n".join(report(proof)))
        if not holds:
            sys.exit(1)


def as_json(proof: Proof) -> dict[str, Any]:
    return {
        "name": proof.name,
        "title": proof.title,
        "holds": proof.holds,
        "steps": [asdict(step) for step in proof.steps],
        "claims": [asdict(claim) for claim in proof.claims],
    }


def report(proof: Proof) -> Iterator[str]:
    yield f"{proof.name}: {proof.title} (tokens of the next prompt; sent: of the last prompt of the step's own turn)"
    yield f"{'step':<47}{'seed':>12}{'sent':>8}{'talk':>8}{'prompt':>8}{'change':>8}  layers"
    changes = [0, *(after.prompt - before.prompt for before, after in pairwise(proof.steps))]
    for step, change in zip(proof.steps, changes, strict=True):
        yield row(step, change)
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
        yield f"    {step.says} (seed: {step.seed_says})"
    if step.note:
        yield f"    Note: {step.note}"
