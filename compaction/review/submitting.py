"""A reviewer's drafts handed in at once; what they change becomes the next version."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from django.utils import timezone

from compaction.domain.artifact import parse_artifact
from compaction.domain.editing import edited
from compaction.domain.lifecycle import CHANGING, ArtifactState, ClaimVerdictValue, Ended
from compaction.domain.rendering import rendered
from compaction.domain.verdicts import Offered
from compaction.drafting.reading import decision_of, log_for
from compaction.drafting.scopes import task_of
from compaction.drafting.storing import Home, keep_artifact
from compaction.drafting.summaries import Tried, why_not
from compaction.models import Artifact, ClaimVerdict, DraftRun, Review, SetAside
from compaction.review.desk import at_desk, drafts_of, follow, newest_of, tell
from compaction.review.judging import gates_on, judge
from compaction.review.rechecking import check_again
from compaction.standing.accepting import checked
from efforts.domain.errors import Refused
from efforts.turns.recording import count

if TYPE_CHECKING:
    from django.contrib.auth.models import User

NOTHING = "There are no verdicts to submit. Keep, edit or strike a claim first."
SUBMITTED = "Your verdicts were submitted already, perhaps in another tab. There is a newer version: go on with that."


def submit(artifact: Artifact, *, reviewer: User) -> Review:
    """Verdicts that change something make the next version, which the gates judge.

    Where somebody has made one meanwhile, the verdicts stay with the version that they are of, and are drafts on the
    newest one: the reviewer looks at both sides (`conflicts`) and submits again.
    """
    with at_desk(artifact, reviewer) as row:
        checked(row)
        verdicts = list(drafts_of(row, reviewer))
        if not verdicts:
            raise Refused("nothing", NOTHING if newest_of(row).pk == row.pk else SUBMITTED)
        drafts_of(row, reviewer).update(submitted_at=timezone.now())
        newest, made = newest_of(row), None
        if newest.pk != row.pk:
            carry_over(verdicts, newest, reviewer)
        elif any(one.verdict in CHANGING for one in verdicts):
            made = next_version(row, verdicts, reviewer)
        elif row.state == ArtifactState.UNCHECKED:
            # Where nobody else may check it, a person who has read every claim has.
            judge(row, reviewer)
        review = Review.objects.create(artifact=row, reviewer=reviewer, made=made)
        told = {"verdicts": len(verdicts), "made": made.pk if made else "", "newest": newest.pk}
        tell(row, "review.submitted", reviewer, **told)
        return review


def carry_over(verdicts: Sequence[ClaimVerdict], newest: Artifact, reviewer: User) -> None:
    """As drafts, where the claim is still there and the reviewer has said nothing of it yet."""
    claims = parse_artifact(newest.document).by_id
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
    document = edited(before, map(decision_of, verdicts))
    home = Home(
        session_id=row.session_id,
        branch_id=row.branch_id,
        effort_id=row.effort_id,
        scope_id=row.run.scope_id,
        purpose=row.run.purpose,
    )
    run = DraftRun.objects.create(
        **home.of_run,
        purpose=home.purpose,
        drafter="edit",
        ended=Ended.DRAFTED,
        spent=row.run.spent,
        tokens=0,
        elapsed_ms=0,
    )
    tried = Tried(
        task=task_of(row, before, log_for(row, before)),
        drafter="edit",
        ended=Ended.DRAFTED,
        offered=Offered(text=document.document, form="document"),
        artifact=document,
        text=rendered(document, count=count),
    )
    more = {"family": row.family, "version": row.version + 1, "edited_from": row, "edited_by": reviewer}
    made = keep_artifact(home, run, tried, **more)
    carry_aside(row, made)
    follow(row, made, reviewer, why_not(gates_on(made).verdicts))
    check_again(made, tried.task)
    return made


def carry_aside(row: Artifact, made: Artifact) -> None:
    """What was set aside stays so: a finding is known by the claim, to the word."""
    SetAside.objects.bulk_create(
        SetAside(artifact=made, finding=one.finding, text=one.text, reason=one.reason, actor=one.actor)
        for one in row.set_aside.all()
    )
