"""The gates that an artifact passes before it may stand in for anything: `evaluate` judges, somebody else acts."""

from __future__ import annotations

from ..verdicts import GateVerdict, Judged
from . import contradiction, cost, retention, structure, traceability

GATES = (structure, traceability, retention, contradiction, cost)


def evaluate(judged: Judged) -> tuple[GateVerdict, ...]:
    """From A to E."""
    return tuple(gate.judge(judged) for gate in GATES)
