"""The gates that an artifact passes before it may stand in for anything: `evaluate` judges, somebody else acts."""

from __future__ import annotations

from ..verdicts import Gate, Judged, Verdict
from . import contradiction, cost, retention, structure, traceability

GATES = (structure, traceability, retention, contradiction, cost)


def evaluate(judged: Judged) -> tuple[Verdict, ...]:
    """From A to E. The same inputs give the same bytes, in any process."""
    return tuple(gate.judge(judged) for gate in GATES)


def judged_by(gate: Gate, judged: Judged) -> Verdict:
    """What that gate alone says."""
    verdict: Verdict = GATES[tuple(Gate).index(gate)].judge(judged)
    return verdict
