"""Artifacts as values for lines of JSON (docs/export.md)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from django.db.models import Prefetch

from compaction.models import Acceptance, Artifact, GateRun

if TYPE_CHECKING:
    from efforts.models import Session

# Artifacts in memory at a time.
CHUNK = 50


def exported(session: Session) -> Iterator[dict[str, Any]]:
    """Oldest first; versions of one have the same family."""
    accepted = Acceptance.objects.select_related("actor", "pointer")
    rows = Artifact.objects.filter(session=session).select_related("effort", "run", "edited_by")
    rows = rows.prefetch_related("gate_runs", Prefetch("acceptances", accepted)).order_by("created_at", "pk")
    yield from map(line_of, rows.iterator(chunk_size=CHUNK))


def line_of(row: Artifact) -> dict[str, Any]:
    return {
        "artifact": row.pk,
        "branch": str(row.branch_id),
        "effort": row.effort.slug if row.effort else None,
        "kind": row.kind,
        "state": row.state,
        "family": row.family,
        "version": row.version,
        "edited_from": row.edited_from_id,
        "edited_by": row.edited_by.get_username() if row.edited_by else None,
        "first": row.source_start,
        "last": row.source_end,
        "drafter": row.run.drafter,
        "model": row.run.model,
        "schema_version": row.schema_version,
        "headline": row.headline,
        "standing": row.standing,
        "body": row.body,
        "document": json.loads(row.document),
        "judged": [judged(run) for run in row.gate_runs.all()],
        "acceptances": [acceptance(one) for one in row.acceptances.all()],
        "made_at": row.created_at.isoformat(),
    }


def judged(run: GateRun) -> dict[str, Any]:
    return {
        "passed": run.passed,
        "tags": run.tags,
        "policy": run.policy_version,
        "evaluator": run.evaluator_version,
        "inputs": run.inputs,
        "verdicts": run.verdicts,
        "checks": run.checks,
        "set_aside": run.set_aside,
        "at": run.created_at.isoformat(),
    }


def acceptance(row: Acceptance) -> dict[str, Any]:
    return {
        "pointer": row.pointer_id,
        "branch": str(row.pointer.branch_id),
        "by": row.actor.get_username() if row.actor else None,
        "via": row.via,
        "at": row.created_at.isoformat(),
    }
