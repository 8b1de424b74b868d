"""What the gates make of an artifact, and how large a source a model is given."""

from __future__ import annotations

import pytest

from compaction.domain.artifact import Kind
from compaction.domain.lifecycle import ArtifactState, state_of
from compaction.domain.limits import limits, reply_limit
from compaction.domain.verdicts import Gate, Outcome, Verdict


def verdicts(*failing: Gate, outcome: Outcome = Outcome.FAIL) -> list[Verdict]:
    return [
        Verdict(
            gate=gate,
            outcome=outcome if gate in failing else Outcome.PASS,
            says="",
            measures=(),
            failures=(),
            evaluator_version="1",
            inputs={},
        )
        for gate in Gate
    ]


@pytest.mark.parametrize(
    ("failing", "state"),
    [
        ((), ArtifactState.REPLACEABLE),
        ((Gate.TRACEABILITY,), ArtifactState.ADVISORY),
        ((Gate.COST,), ArtifactState.ADVISORY),
        ((Gate.RETENTION,), ArtifactState.REJECTED),
        ((Gate.CONTRADICTION,), ArtifactState.REJECTED),
        ((Gate.TRACEABILITY, Gate.RETENTION), ArtifactState.REJECTED),
    ],
)
@pytest.mark.parametrize("outcome", [Outcome.FAIL, Outcome.NOT_EVALUABLE])
def test_what_gates_make_of_an_artifact(failing: tuple[Gate, ...], state: ArtifactState, outcome: Outcome) -> None:
    assert state_of(Kind.CONCLUSION, verdicts(*failing, outcome=outcome)) == state


def test_a_checkpoint_never_replaces_anything() -> None:
    assert state_of(Kind.FALLBACK, verdicts()) == ArtifactState.ADVISORY


def test_what_nobody_judged_is_a_draft() -> None:
    assert state_of(Kind.CONCLUSION, ()) == ArtifactState.DRAFT


def test_a_draft_and_its_redraft_of_the_largest_source_stay_within_the_cap() -> None:
    found = limits(cap=40_000, window=None, overhead=700)
    two = 2 * (700 + found.with_redraft + reply_limit(found.with_redraft))
    assert 37_000 < two <= 40_000
    assert 39_000 < 700 + found.alone + reply_limit(found.alone) <= 40_000


def test_a_window_smaller_than_the_cap_is_the_limit_of_each_request() -> None:
    found = limits(cap=40_000, window=8_000, overhead=700)
    assert found.with_redraft == found.alone
    assert 700 + found.alone + reply_limit(found.alone) <= 8_000


def test_where_not_even_the_instructions_fit_nothing_does() -> None:
    assert limits(cap=1_000, window=None, overhead=900).alone == 0
