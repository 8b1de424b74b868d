"""All gates together: three outcomes, each a function of what it is given."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import pytest

from compaction.domain.gates import evaluate
from compaction.domain.lifecycle import ArtifactState, state_of
from compaction.domain.verdicts import Gate, Offered, Outcome
from efforts.domain.text.canonical import canonical_json
from tests.compaction.gates import cases
from tests.house.process import ROOT


def outcomes(**changes: Any) -> dict[str, Outcome]:
    return {verdict.gate: verdict.outcome for verdict in evaluate(cases.judged(**changes))}


def test_a_good_summary_that_was_read_passes_all_five() -> None:
    verdicts = evaluate(cases.judged())
    assert [(verdict.gate, verdict.outcome, verdict.failures) for verdict in verdicts] == [
        (gate, Outcome.PASS, ()) for gate in Gate
    ]


def test_without_a_reader_what_needs_one_is_not_judged_and_the_rest_passes() -> None:
    found = outcomes(check=None)
    assert found == {"A": "pass", "B": "pass", "C": "not judged", "D": "not judged", "E": "pass"}


def test_without_a_summary_nothing_but_the_structure_is_judged() -> None:
    given = cases.judged()
    verdicts = evaluate(
        given.__class__(**{**vars(given), "artifact": None, "offered": Offered(text="{", form="draft")})
    )
    assert [verdict.outcome for verdict in verdicts] == [Outcome.FAIL, *[Outcome.NOT_JUDGED] * 4]


@pytest.mark.parametrize(
    ("changes", "state"),
    [
        ({}, ArtifactState.REPLACEABLE),
        ({"check": None}, ArtifactState.UNCHECKED),
        ({"told": cases.claims({"id": "5", "cites": ["9.9"]})}, ArtifactState.ADVISORY),
        ({"told": cases.claims(without=("2",)), "check": cases.checked(cases.claims())}, ArtifactState.REJECTED),
    ],
)
def test_the_outcomes_say_whether_it_may_stand(changes: dict[str, Any], state: ArtifactState) -> None:
    assert state_of(evaluate(cases.judged(**changes))) == state


def test_another_process_gives_the_same_bytes() -> None:
    program = (
        "from tests.compaction.gates import cases; from compaction.domain.gates import evaluate;"
        "from efforts.domain.text.canonical import canonical_json;"
        "given = cases.judged(cases.claims(without=('3',)));"
        "print(canonical_json([each.as_json() for each in evaluate(given)]), end='')"
    )
    here = canonical_json([each.as_json() for each in evaluate(cases.judged(cases.claims(without=("3",))))])
    for seed in ("1", "77"):
        run = subprocess.run(
            [sys.executable, "-c", program],
            cwd=ROOT,
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        )
        assert run.stdout == here
