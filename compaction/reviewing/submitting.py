"""A reviewer's drafts handed in at once; what they change becomes the next version."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

from django.utils import timezone

from compaction.actions import Home, keep_artifact
from compaction.domain.artifact import Artifact as Document
from compaction.domain.artifact import Item, parse_artifact
from compaction.domain.editing import Decision, claims_of, edited, edits_of
from compaction.domain.gates import judged_by
from compaction.domain.lifecycle import CHANGING, ArtifactState, ClaimVerdictValue, Ended
from compaction.domain.verdicts import Finding, Gate
from compaction.models import Artifact, ClaimVerdict, DraftRun, Review, SetAside
from compaction.snapshots import judged_now, log_for, read_ledger
from efforts.errors import Refused
from efforts.recording import count

from .desk import at_desk, drafts_of, follow, newest_of, tell, why_not
from .judging import findings_of, gates_on

if TYPE_CHECKING:
    from django.contrib.auth.models import User

NOTHING = "There are no verdicts to submit. Keep, edit or strike a claim first."


def submit(artifact: Artifact, *, reviewer: User) -> Review:
    """Verdicts that change something make the next version, which the gates judge.

    Where somebody has made one meanwhile, the verdicts stay with the version that they are of, and are drafts on the
    newest one: the reviewer looks at both sides (`conflicts`) and submits again.
    """
    with at_desk(artifact, reviewer) as row:
        verdicts = list(drafts_of(row, reviewer))
        if not verdicts:
            raise Refused("nothing", NOTHING)
        drafts_of(row, reviewer).update(submitted_at=timezone.now())
        newest, made = newest_of(row), None
        if newest.pk != row.pk:
            carry_over(verdicts, newest, reviewer)
        elif any(one.verdict in CHANGING for one in verdicts):
            made = next_version(row, verdicts, reviewer)
        review = Review.objects.create(artifact=row, reviewer=reviewer, made=made)
        told = {"verdicts": len(verdicts), "made": made.pk if made else "", "newest": newest.pk}
        tell(row, "review.submitted", reviewer, **told)
        return review


def carry_over(verdicts: Sequence[ClaimVerdict], newest: Artifact, reviewer: User) -> None:
    """As drafts, where the claim is still there and the reviewer has said nothing of it yet."""
    claims = claims_of(parse_artifact(newest.document))
    said = set(newest.claim_verdicts.filter(reviewer=reviewer).values_list("item", flat=True))
    ClaimVerdict.objects.bulk_create(
        ClaimVerdict(
            artifact=newest, reviewer=reviewer, item=one.item, verdict=one.verdict, text=one.text, added=one.added
        )
        for one in verdicts
        if one.item not in said and (one.item in claims) != (one.verdict == ClaimVerdictValue.ADDED)
    )


def next_version(row: Artifact, verdicts: Sequence[ClaimVerdict], reviewer: User) -> Artifact:
    before = parse_artifact(row.document)
    edits = edits_of(before, map(decision_of, verdicts))
    document = edited(before, edits, version=row.version + 1, count=count)
    home = Home(
        session_id=row.session_id,
        branch_id=row.branch_id,
        effort_id=row.effort_id,
        scope_id=row.run.scope_id,
        purpose=row.run.purpose,
    )
    run = DraftRun.objects.create(
        **home.of_run, purpose=home.purpose, drafter="edit", ended=Ended.DRAFTED, tokens=0, elapsed_ms=0
    )
    made = keep_artifact(
        home,
        run,
        document,
        ArtifactState.DRAFT,
        standing=edits.headline or row.standing,
        family=row.family,
        version=row.version + 1,
        edited_from=row,
        edited_by=reviewer,
    )
    findings = carried_findings(findings_of(row), before, document)
    judged = gates_on(made, findings, carry_aside(row, made, document, findings))
    follow(row, made, reviewer, why_not(judged))
    return made


def decision_of(row: ClaimVerdict) -> Decision:
    added = Item.model_validate_json(json.dumps(row.added)) if row.added else None
    return Decision(item=row.item, verdict=ClaimVerdictValue(row.verdict), text=row.text, added=added)


def carried_findings(findings: Sequence[Finding], before: Document, now: Document) -> tuple[Finding, ...]:
    """What a judge found in words that are still there; what was edited it has not read."""
    old, new = claims_of(before), claims_of(now)
    return tuple(one for one in findings if one.item in new and old.get(one.item) == new[one.item])


def carry_aside(row: Artifact, made: Artifact, document: Document, findings: tuple[Finding, ...]) -> set[str]:
    """What was set aside stays so where the same is found again, in the same words."""
    before = list(row.set_aside.all())
    if not before:
        return set()
    source = log_for(made, document).source
    judged = judged_now(made, document, source, read_ledger(made.session, source), findings=findings)
    found = {(one.id, one.text) for one in judged_by(Gate.CONTRADICTION, judged).failures}
    again = [one for one in before if (one.finding, one.text) in found]
    SetAside.objects.bulk_create(
        SetAside(artifact=made, finding=one.finding, text=one.text, reason=one.reason, actor=one.actor) for one in again
    )
    return {one.finding for one in again}
