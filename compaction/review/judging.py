"""The gates asked again, findings that a person sets aside, and what is not to stand."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from compaction.domain.gates import evaluate
from compaction.domain.lifecycle import ArtifactState, state_of
from compaction.drafting.reading import basis_of, checked_of, judged_now
from compaction.drafting.storing import inputs_of, keep_verdicts
from compaction.drafting.summaries import why_not
from compaction.models import Artifact, GateRun, SetAside
from compaction.review.desk import at_desk, follow, place_of, tell
from compaction.standing.accepting import LONGEST_REASON, checked, in_one_line
from efforts import actions
from efforts.domain.effort.states import EffortStatus, PointerState, SummaryState
from efforts.domain.errors import Refused
from efforts.models import ContextPointer, EffortState, ScopeDraft

if TYPE_CHECKING:
    from django.contrib.auth.models import User

NO_REASON = "Say in a few words why. It is kept with your name."
LONG_REASON = "The reason has {has:,} characters; {most:,} is the most. Shorten it."
NO_FINDING = "The gates do not find this any more. Load the page again."
NOT_SET_ASIDE = "This was not set aside, or has been put back already."
STANDS = "This summary is in use. Roll it back first."
BEING_DRAFTED = "A new draft of these turns is on its way already."
NOT_CONCLUDED = "{slug} is open, so there is nothing to summarise. Conclude it first."
NO_SCOPE = "There is no draft of these turns that could be made again. Choose the turns in the conversation."


def judge_again(artifact: Artifact, *, actor: User) -> GateRun:
    """By the log, the ledger and the rules as they are now."""
    with at_desk(artifact, actor) as row:
        judged = judge(row, actor)
        tell(row, "review.judged", actor, passed=judged.passed, state=row.state)
        return judged


def judge_what_is_open(row: Artifact, actor: User) -> GateRun:
    """What a person has turned down stays so, whatever the gates say now, until somebody has it judged again."""
    return gates_on(row, turned_down=True) if row.is_turned_down else judge(row, actor)


def judge(row: Artifact, actor: User) -> GateRun:
    """Under the lock; the effort that waits with it follows."""
    judged = gates_on(row)
    follow(row, row, actor, why_not(judged.verdicts))
    return judged


def gates_on(row: Artifact, *, turned_down: bool = False) -> GateRun:
    """By the stored answers of all valid checks of its versions, and what people have said. Raises `Refused` of one of
    an earlier form."""
    document = checked(row)
    basis = basis_of(row, document)
    check, checks = checked_of(row, document, basis.source)
    judged = judged_now(row, document, basis.source, basis.entries, check)
    verdicts = evaluate(judged)
    row.state = ArtifactState.REJECTED if turned_down else state_of(verdicts)
    Artifact.objects.filter(pk=row.pk).update(state=row.state)
    inputs = inputs_of(basis.source, basis.entries)
    return keep_verdicts(row.run, row, verdicts, inputs, checks, judged.set_aside, turned_down=turned_down)


def set_aside(artifact: Artifact, finding: str, reason: str, *, actor: User) -> GateRun:
    """A doubt or contradiction that is none: it counts no more, stays visible, and is collected as a false alarm."""
    reason = checked_reason(reason)
    with at_desk(artifact, actor) as row:
        text = text_of(row, finding)
        fields = {"text": text, "reason": reason, "actor": actor}
        SetAside.objects.get_or_create(artifact=row, finding=finding, defaults=fields)
        tell(row, "review.set_aside", actor, finding=finding, text=text, reason=reason)
        return judge_what_is_open(row, actor)


def put_back(artifact: Artifact, finding: str, *, actor: User) -> GateRun:
    """It counts again."""
    with at_desk(artifact, actor) as row:
        if not row.set_aside.filter(finding=finding).delete()[0]:
            raise Refused("not_set_aside", NOT_SET_ASIDE)
        tell(row, "review.put_back", actor, finding=finding)
        return judge_what_is_open(row, actor)


def text_of(row: Artifact, finding: str) -> str:
    last = row.last_judged
    failures = [one for verdict in (last.verdicts if last else []) for one in verdict["failures"] if finding]
    text = next((str(one["text"]) for one in failures if one["id"] == finding), None)
    if text is None:
        raise Refused("no_finding", NO_FINDING)
    return text


def reject(artifact: Artifact, *, actor: User, reason: str) -> None:
    """It is not to stand, whatever the gates say; the log does. Judged again it may."""
    reason = checked_reason(reason)
    with at_desk(artifact, actor) as row:
        # Also in a branch that took it along.
        if ContextPointer.objects.filter(artifact=row.pk, state=PointerState.ACTIVE).exists():
            raise Refused("stands", STANDS)
        row.state = ArtifactState.REJECTED
        Artifact.objects.filter(pk=row.pk).update(state=row.state)
        tell(row, "review.rejected", actor, reason=reason)
        follow(row, row, actor, f"{actor.get_username()} rejected it: {reason}")


def checked_reason(reason: str) -> str:
    reason = in_one_line(reason)
    if not reason:
        raise Refused("reason", NO_REASON)
    if len(reason) > LONGEST_REASON:
        raise Refused("reason", LONG_REASON.format(has=len(reason), most=LONGEST_REASON))
    return reason


def redraft(artifact: Artifact, *, actor: User) -> None:
    """The same turns are drafted anew, with what was to be kept in view; this version stays as it is."""
    with at_desk(artifact, actor) as row:
        if row.effort_id:
            redraft_effort(row, actor)
        else:
            redraft_scope(row, actor)
        tell(row, "review.redrafted", actor)


def redraft_effort(row: Artifact, actor: User) -> None:
    assert row.effort is not None
    state = EffortState.objects.get(branch=row.branch, effort=row.effort)
    if state.status != EffortStatus.CONCLUDED:
        raise Refused("open", NOT_CONCLUDED.format(slug=row.effort.slug))
    if state.summary in (SummaryState.STANDS, SummaryState.COVERED):
        raise Refused("stands", STANDS)
    if state.summary in (SummaryState.DUE, SummaryState.DRAFTING):
        raise Refused("drafting", BEING_DRAFTED)
    actions.retry_summary(place_of(row, actor), row.effort.slug, row.run.focus)


def redraft_scope(row: Artifact, actor: User) -> None:
    # One of an earlier form, too, is drafted again: of its document only the turns are read.
    turns = json.loads(row.document)["source"]["turns"]
    draft = row.run.scope or ScopeDraft.objects.filter(branch=row.branch, turns=turns).order_by("-pk").first()
    if draft is None:
        raise Refused("no_scope", NO_SCOPE)
    actions.redraft_turns(place_of(row, actor), draft)
