"""What all verbs of a review share: who may, under which lock, and what the log says of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from compaction.domain.lifecycle import ArtifactState
from compaction.models import Artifact, ClaimVerdict
from compaction.standing.accepting import drafter_of, found, is_reviewer
from efforts.actions import Place
from efforts.actions.places import changing, record, states_of
from efforts.domain.effort.states import EffortStatus, ScopeKind, ScopeState, SummaryState, Via
from efforts.domain.errors import Refused
from efforts.log import events
from efforts.models import ContextPointer, EffortState, ScopeDraft
from efforts.standins.compacting import Summary
from efforts.turns.scopes import SCOPES

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.db.models import QuerySet

NOT_A_REVIEWER = "Only the owner of the conversation, and people the owner has named, review what is made of it."
# What waits for the person's word: a new version of it, or a new verdict, changes what is waited with.
UNSETTLED = (SummaryState.WAITING, SummaryState.FAILED, SummaryState.DIGEST)
# What can come to stand by a person's word.
ACCEPTABLE = (ArtifactState.REPLACEABLE, ArtifactState.UNCHECKED)
REVIEWED = (ScopeState.READY, ScopeState.FAILED)


@contextmanager
def at_desk(artifact: Artifact, user: User) -> Iterator[Artifact]:
    """The artifact as it is now, under the lock of its branch: nobody accepts or edits it meanwhile."""
    with changing(place_of(artifact, user)):
        row = found(artifact.pk)
        if not is_reviewer(row.session, user):
            raise Refused("not_reviewer", NOT_A_REVIEWER)
        yield row


def place_of(artifact: Artifact, user: User) -> Place:
    return Place(branch=artifact.branch, turn=artifact.branch.head, actor=user)


def tell(artifact: Artifact, kind: str, actor: User | None, **more: Any) -> None:
    data = {"artifact": artifact.pk, "branch": str(artifact.branch_id), **more}
    events.append(artifact.session_id, kind, data, actor=actor)


def newest_of(artifact: Artifact) -> Artifact:
    """The last version of its family."""
    versions = Artifact.objects.filter(family=artifact.family).select_related("session", "branch", "effort", "run")
    return versions.order_by("-version")[0]


def drafts_of(artifact: Artifact, reviewer: User) -> QuerySet[ClaimVerdict]:
    """Verdicts that only their reviewer sees yet."""
    return artifact.claim_verdicts.filter(reviewer=reviewer, submitted_at=None)


def follow(before: Artifact, now: Artifact, actor: User | None, why: str = "") -> None:
    """Where the effort, or the chosen turns, wait with it, they wait with what has become of it."""
    if now.effort is None:
        follow_scope(before, now, why)
        return
    waiting = states_of(now.branch).filter(effort=now.effort, status=EffortStatus.CONCLUDED, artifact=before.pk)
    state = waiting.filter(summary__in=UNSETTLED).first()
    if state:
        put(state, now, actor, why)


def put(state: EffortState, now: Artifact, actor: User | None, why: str) -> None:
    """Beside a digest that stands, the draft goes on to wait."""
    ready = now.state in ACCEPTABLE
    beside = state.summary == SummaryState.DIGEST
    to = state.summary if beside else SummaryState.WAITING if ready else SummaryState.FAILED
    text = now.headline if ready and not beside else why
    if (state.summary, state.artifact, state.draft) == (to, now.pk, text):
        return
    EffortState.objects.filter(pk=state.pk).update(summary=to, draft=text, artifact=now.pk)
    place = Place(branch=now.branch, turn=state.concluded_turn or 0, via=Via(state.via), actor=actor)
    kind = "effort.summary_waiting" if ready else "effort.summary_failed"
    told = {"drafter": drafter_of(now), "why": why} if ready else {}
    record(place, kind, state.effort.slug, text=text, artifact=now.pk, **told)


def follow_scope(before: Artifact, now: Artifact, why: str) -> None:
    # What has stood is decided; a stage of a package looks for its newest version itself.
    if ContextPointer.objects.filter(branch=now.branch, artifact=before.pk).exists():
        return
    waiting = ScopeDraft.objects.filter(branch=now.branch, artifact=before.pk, state__in=REVIEWED)
    draft = waiting.exclude(kind=ScopeKind.STAGE).select_related("branch").first()
    ready = now.state in ACCEPTABLE
    why = "" if ready else why
    to = ScopeState.READY if ready else ScopeState.FAILED
    if draft is None or (draft.state, draft.artifact, draft.why) == (to, now.pk, why):
        return
    if ready:
        SCOPES.wait(draft, Summary(text=now.headline, drafter=drafter_of(now), artifact=now.pk))
    else:
        SCOPES.end_without(draft, why, now.pk)
