"""Planted defects: for every gate kinds of artifacts that it must refuse, each made of good ones."""

from __future__ import annotations

from . import contradictions, cost, retention, structure, traceability, turning
from .kinds import Kind

KINDS: tuple[Kind, ...] = (
    *structure.KINDS,
    *traceability.KINDS,
    *retention.KINDS,
    *contradictions.KINDS,
    *turning.KINDS,
    *cost.KINDS,
)
