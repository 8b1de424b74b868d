"""All gates together."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace

from compaction.domain.gates import evaluate
from compaction.domain.verdicts import Gate, Offered, Outcome
from efforts.domain.canonical import canonical_json
from tests.compaction.gates import cases
from tests.house.process import ROOT


def test_a_good_artifact_passes_all_five_gates_in_their_order() -> None:
    verdicts = evaluate(cases.judged())
    assert [(verdict.gate, verdict.outcome, verdict.failures) for verdict in verdicts] == [
        (gate, Outcome.PASS, ()) for gate in Gate
    ]


def test_without_an_artifact_nothing_but_the_structure_is_judged() -> None:
    given = replace(cases.judged(), artifact=None, offered=Offered(text="not JSON", form="draft"))
    assert [verdict.outcome for verdict in evaluate(given)] == [Outcome.FAIL, *[Outcome.NOT_EVALUABLE] * 4]


def test_another_process_gives_the_same_bytes() -> None:
    program = (
        "from tests.compaction.gates import cases; from compaction.domain.gates import evaluate;"
        "from efforts.domain.canonical import canonical_json;"
        "print(canonical_json([each.as_json() for each in evaluate(cases.judged(cases.draft_without('i2')))]), end='')"
    )
    here = canonical_json([each.as_json() for each in evaluate(cases.judged(cases.draft_without("i2")))])
    for seed in ("1", "77"):
        run = subprocess.run(
            [sys.executable, "-c", program],
            cwd=ROOT,
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        )
        assert run.stdout.decode() == here


def test_each_input_has_its_hash_in_the_verdict() -> None:
    given = cases.judged()
    others = {
        "offered": replace(given, offered=replace(given.offered, stop_reason="length")),
        "artifact": cases.with_artifact(given, redactions=7),
        "source": replace(given, source=replace(given.source, parts=given.source.parts[:-1])),
        "ledger": replace(given, ledger=given.ledger[:-1]),
        "runs": replace(given, latest=(1, 2)),
        "findings": replace(given, set_aside=frozenset({"denied:i1:1"})),
    }
    before = evaluate(given)[0].inputs
    assert set(before) == set(others)
    for name, other in others.items():
        assert evaluate(other)[0].inputs[name] != before[name]
