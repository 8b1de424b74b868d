"""Summaries outside of the product: as lines of JSON (docs/export.md), as claims with the sentences that they come
from, and whether they are what they were made as."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from django.db.models import Prefetch

from compaction.domain.artifact import Claim, Section, parse_artifact
from compaction.domain.rendering import TITLES, line_of
from compaction.drafting.reading import log_for
from compaction.models import Acceptance, Artifact, GateRun
from compaction.standing.blockers import is_unchecked
from efforts.domain.effort.states import PointerState
from efforts.domain.text.canonical import canonical_json, sha256
from efforts.domain.text.locating import one_line
from efforts.domain.text.source_text import Part, Source
from efforts.models import ContextPointer
from efforts.standins.compacting import ToldCite, ToldClaim, ToldSummary

if TYPE_CHECKING:
    from efforts.models import Branch, Session

# Artifacts in memory at a time.
CHUNK = 50


def exported(session: Session) -> Iterator[dict[str, Any]]:
    """Oldest first; versions of one have the same family."""
    accepted = Acceptance.objects.select_related("actor", "pointer")
    rows = Artifact.objects.filter(session=session).select_related("effort", "run", "edited_by")
    rows = rows.prefetch_related("gate_runs", Prefetch("acceptances", accepted)).order_by("created_at", "pk")
    yield from map(as_line, rows.iterator(chunk_size=CHUNK))


def as_line(row: Artifact) -> dict[str, Any]:
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


NOT_CHECKED = "Nobody has checked this summary against the log."
# Other words than in the prompt, where a title costs tokens.
SECTIONS: dict[str, str] = {Section.RESULT: "Result"} | {str(section): title for section, title in TITLES.items()}
SECTIONS |= {Section.DECISION: "Decisions", Section.OPEN_WORK: "To-dos"}


def told(artifact: str, branch: Branch) -> ToldSummary | None:
    """None of excerpts, which claim nothing, and of an earlier form, whose claims cite no sentences."""
    row = Artifact.objects.select_related("effort", "branch__session").filter(pk=artifact).first()
    if row is None or not row.is_current:
        return None
    document = parse_artifact(row.document)
    if not document.claims:
        return None
    source = log_for(row, document, branch).source
    pointer = ContextPointer.objects.filter(branch=branch, artifact=artifact, state=PointerState.ACTIVE).first()
    in_order = [claim for section in SECTIONS for claim in document.claims if claim.section == section]
    return ToldSummary(
        claims=tuple(claim_of(claim, source) for claim in in_order),
        cites=tuple(cites_of(in_order, source)),
        note=NOT_CHECKED if is_unchecked(row, pointer) else "",
    )


def claim_of(claim: Claim, source: Source) -> ToldClaim:
    # What the log does not have any more leads nowhere.
    cites = tuple(dict.fromkeys(id for id in claim.cites if id in source.by_sentence))
    return ToldClaim(section=SECTIONS[claim.section], text=line_of(claim), cites=cites)


def cites_of(claims: Iterable[Claim], source: Source) -> Iterable[ToldCite]:
    cited = {id for claim in claims for id in claim.cites}
    for id, sentence in source.by_sentence.items():
        if id in cited:
            part = source.part_of(id)
            role = part.tool or "tool" if part.part == Part.RESULT else part.who
            yield ToldCite(id=id, turn=part.turn, role=role, text=one_line(sentence.text))


CHECKED_AT_ONCE = 200
OTHER = "its document is not that of its id"


def damaged(session: Session) -> Iterator[tuple[str, str]]:
    """What it is, and what is wrong with it."""
    for row in Artifact.objects.filter(session=session).iterator(chunk_size=CHECKED_AT_ONCE):
        if not is_its_document(row):
            yield f"summary {row.pk[:12]}", OTHER
    pointers = ContextPointer.objects.filter(branch__session=session).exclude(artifact="").order_by("pk")
    # What a conversation starts from was made in another.
    made = Artifact.objects.filter(pk__in=pointers.values("artifact"))
    standing = {pk: texts for pk, *texts in made.values_list("pk", "standing", "body")}
    for pointer in pointers.iterator(chunk_size=CHECKED_AT_ONCE):
        text, body = standing.get(pointer.artifact, (None, ""))
        if text is None:
            yield f"pointer {pointer.pk}", "what it stands by is gone"
        elif pointer.text != text or pointer.body not in ("", body):
            yield f"pointer {pointer.pk}", "its text is not that of the summary that it stands by"


def is_its_document(row: Artifact) -> bool:
    try:
        document = json.loads(row.document)
    except (zlib.error, ValueError):
        return False
    id = document.pop("artifact_id", None)
    return bool(row.pk == id == f"cmp_{sha256(canonical_json(document))}")
