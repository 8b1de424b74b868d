"""Ten efforts of real talk concluded with a small model that is there, as drafter and checker: what ends in what.

`python -m benchmarks.small_model --url http://127.0.0.1:8081/v1 --model local`
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import django

if TYPE_CHECKING:
    from benchmarks.conclusion_figures import Outcome

EFFORTS = 10


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--url", required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--seconds", type=int, default=600, help="a request may take")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        os.environ.update(CCM_HOME=home, DJANGO_SETTINGS_MODULE="ccmweb.settings")
        django.setup()
        print(json.dumps(concluded(arguments), indent=1, ensure_ascii=False))


def concluded(arguments: argparse.Namespace) -> dict[str, Any]:
    from django.contrib.auth.models import User
    from django.core.management import call_command

    from benchmarks import conclusions, servers
    from benchmarks.conclusion_figures import Outcome
    from benchmarks.gates.ranges import read_ranges
    from efforts.models import Endpoint

    call_command("migrate", verbosity=0)
    owner = User.objects.create_user("small")
    Endpoint.objects.create(
        owner=owner, name="small", base_url=arguments.url, model=arguments.model, draft_seconds=arguments.seconds
    )
    ranges = read_ranges(conclusions.RANGES, Path(os.environ["CCM_DATA"]))
    made = [conclusions.imported_for(owner, one) for one in ranges if not one.is_windowed]
    made = sorted(made, key=lambda one: Outcome(one).source_tokens)[:EFFORTS]
    with servers.process("manage.py", "serve", "--port", "0") as running:
        port = servers.port_in(running, r"http://127\.0\.0\.1:(\d+)/sign-in/")
        cookie = conclusions.cookie_of(owner)
        for one in made:
            _, one.raw = conclusions.next_prompt(one)
            asyncio.run(conclusions.pressed(one, port, cookie, patience=6 * arguments.seconds))
    return figures([Outcome(one) for one in made])


def figures(found: Sequence[Outcome]) -> dict[str, Any]:
    from compaction.models import Check, Exam, Planted

    planted = Planted.objects.exclude(held=None)
    return {
        "endings": Counter(one.ending for one in found),
        "exams": list(Exam.objects.values("caught", "wrong", "doubted", "true", "passed", "why", "tokens")),
        "checks": Counter(Check.objects.values_list("void", flat=True)),
        "planted": {
            role: [planted.filter(role=role, held=True).count(), planted.filter(role=role).count()]
            for role in ("canary", "control", "hidden")
        },
        "each": [
            {
                "range": one.of.range.id,
                "source_tokens": one.source_tokens,
                "ended": one.ending,
                "why": one.why,
                "log_in_prompt": one.of.raw,
                "taken_out": round(1 - (one.pointer.tokens if one.pointer else one.of.raw) / one.of.raw, 3),
                "spent": one.draft_tokens + one.check_tokens,
            }
            for one in found
        ],
    }


if __name__ == "__main__":
    main()
