"""A reviewer's drafts handed in at once, what they change becomes the next version; and where reviewers say different
things of one claim, neither having seen what the other said."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

from django.utils import timezone

from compaction.domain.artifact import Artifact as Document
from compaction.domain.artifact import Warned, parse_artifact, with_id
from compaction.domain.editing import edited
from compaction.domain.lifecycle import CHANGING, ArtifactState, ClaimVerdictValue, Ended
from compaction.domain.rendering import rendered
from compaction.domain.verdicts import Offered
from compaction.drafting.reading import decision_of, log_for
from compaction.drafting.scopes import task_of
from compaction.drafting.storing import keep_artifact, keep_run
from compaction.drafting.summaries import Tried, why_not
from compaction.models import Artifact, ClaimVerdict, Review, SetAside
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
AGAIN = "This version says again what version {number} said."


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
    document = unlike_before(row, edited(before, map(decision_of, verdicts)))
    tried = Tried(
        task=task_of(row, before, log_for(row, before)),
        drafter="edit",
        ended=Ended.DRAFTED,
        offered=Offered(text=document.document, form="document"),
        artifact=document,
        text=rendered(document, count=count),
    )
    run = keep_run(tried, Ended.DRAFTED)
    # What its first version took is judged with it.
    run.spent = row.run.spent
    run.save(update_fields=["spent"])
    more = {"family": row.family, "version": row.version + 1, "edited_from": row, "edited_by": reviewer}
    made = keep_artifact(run, tried, **more)
    # What was set aside stays so: a finding is known by the claim, to the word.
    SetAside.objects.bulk_create(
        SetAside(artifact=made, finding=one.finding, text=one.text, reason=one.reason, actor=one.actor)
        for one in row.set_aside.all()
    )
    follow(row, made, reviewer, why_not(gates_on(made).verdicts))
    check_again(made, tried.task)
    return made


def unlike_before(row: Artifact, document: Document) -> Document:
    """A document's id is of what it says: where an edit is taken back, it says as well which version said so before."""
    bare = document.model_copy(update={"warnings": ()})
    for one in Artifact.objects.filter(family=row.family).order_by("-version"):
        if parse_artifact(one.document).claims == document.claims:
            told = Warned(code="again", message=AGAIN.format(number=one.version))
            return with_id(bare.model_copy(update={"warnings": (told,)}))
    return with_id(bare)


@dataclass(frozen=True, kw_only=True)
class Side:
    """`words` are those that the reviewer wants: edited ones, else those of the version that was reviewed."""

    reviewer: str
    verdict: str
    words: str
    version: int


@dataclass(frozen=True, kw_only=True)
class Conflict:
    item: str
    sides: tuple[Side, ...]


def conflicts(artifact: Artifact) -> tuple[Conflict, ...]:
    """Over all versions up to this one. Whoever submits again on a later version has seen the other side: settled. Of a
    claim that is no longer there this may be a verdict on anything else."""
    of_family = ClaimVerdict.objects.filter(artifact__family=artifact.family, submitted_at__isnull=False)
    rows = of_family.filter(artifact__version__lte=artifact.version).select_related("artifact", "reviewer")
    last: dict[str, dict[int, ClaimVerdict]] = {}
    seen: dict[int, int] = {}
    for row in rows.order_by("submitted_at", "pk"):
        last.setdefault(row.item, {})[row.reviewer_id] = row
        seen[row.reviewer_id] = max(row.artifact.version, seen.get(row.reviewer_id, 0))
    there = parse_artifact(artifact.document).by_id if artifact.is_current else {}
    found = (conflict_of(item, list(of_item.values()), {} if item in there else seen) for item, of_item in last.items())
    return tuple(one for one in found if one)


def conflict_of(item: str, rows: Sequence[ClaimVerdict], seen: Mapping[int, int]) -> Conflict | None:
    """`rows`: the last word of each reviewer; `seen`: the newest version of which a reviewer said anything."""
    against = {row.pk: row for pair in clashing(rows) for row in pair}
    newest = max((row.artifact.version for row in against.values()), default=0)
    if any(seen.get(row.reviewer_id, 0) > newest for row in against.values()):
        return None
    return Conflict(item=item, sides=tuple(map(side_of, against.values()))) if against else None


def clashing(rows: Sequence[ClaimVerdict]) -> Iterator[tuple[ClaimVerdict, ClaimVerdict]]:
    for earlier, later in combinations(sorted(rows, key=lambda row: (row.submitted_at, row.pk)), 2):
        unseen = later.artifact.version <= earlier.artifact.version
        if unseen and (earlier.verdict, earlier.text) != (later.verdict, later.text):
            yield earlier, later


def side_of(row: ClaimVerdict) -> Side:
    claim = parse_artifact(row.artifact.document).by_id.get(row.item) if row.artifact.is_current else None
    words = row.text or (row.added or {}).get("text") or (claim.text if claim else "")
    return Side(
        reviewer=row.reviewer.get_username(),
        verdict=row.verdict,
        words=words,
        version=row.artifact.version,
    )
