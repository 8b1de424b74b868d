"""The gates that an artifact passes before it may stand in for anything: `evaluate` judges, somebody else acts."""

from __future__ import annotations

from ..verdicts import Judged, Verdict
from . import contradiction, cost, retention, structure, traceability

GATES = (structure, traceability, retention, contradiction, cost)


def evaluate(judged: Judged) -> tuple[Verdict, ...]:
    """From A to E."""
    return tuple(gate.judge(judged) for gate in GATES)
