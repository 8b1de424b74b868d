"""Chosen turns: asked to be summarised, drafted behind a lease, and waiting for a review."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User

from efforts import actions
from efforts.actions.pointers import StandIn, set_pointer
from efforts.context.planning import main_branch
from efforts.context.sources import read_scope_log
from efforts.domain.effort.states import SCOPE_MOVES, RunState, ScopeKind, ScopeState
from efforts.domain.errors import Refused
from efforts.models import ContextPointer, Event, Run, ScopeDraft, Session
from efforts.standins.compacting import DraftWork, Summary
from efforts.turns import drafts
from efforts.turns.drafts import INTERNAL, Job, claim_from
from efforts.turns.scopes import SCOPES
from efforts.turns.summaries import SUMMARIES
from tests.efforts.logs import WEBHOOK, concluded, conversation, say

HERE = "here:1:a"
SAID = "The webhook answers at once; the retry limit is 3."


def by_hand(session: Session) -> actions.Place:
    return actions.here(session, actor=session.owner)


def ask(session: Session, first: int = 1, last: int = 3, **more: Any) -> ScopeDraft:
    return actions.compact_turns(by_hand(session), first, last, **more)


def again(draft: ScopeDraft) -> ScopeDraft:
    return ScopeDraft.objects.get(pk=draft.pk)


def refusal(session: Session, first: int, last: int, **more: Any) -> tuple[str, str]:
    with pytest.raises(Refused) as refused:
        ask(session, first, last, **more)
    assert not Event.objects.filter(kind="compaction.requested").exists()
    return refused.value.code, refused.value.text


def claimed(draft: ScopeDraft) -> Job:
    (job,) = claim_from([SCOPES], HERE, 4)
    assert job.row_id == draft.pk
    return job


def work_of(job: Job) -> DraftWork:
    work = SCOPES.read_work(job)
    assert work is not None
    return work


def settled(draft: ScopeDraft, **made: Any) -> ScopeDraft:
    job = claimed(draft)
    SCOPES.settle(job, work_of(job), Summary(**{"text": SAID, "artifact": "cv1_x", "stands": True, **made}))
    return again(draft)


def last_event(session: Session) -> dict[str, Any]:
    event = Event.objects.filter(session=session).latest("seq")
    return {"kind": event.kind, **event.data}


def stand(session: Session, *numbers: int) -> ContextPointer:
    """A summary of these turns stands."""
    branch = main_branch(session)
    log = read_scope_log(branch, numbers)
    return set_pointer(
        branch, None, log, StandIn(text=SAID, headline=SAID, tokens=9), actor=session.owner, via="review"
    )


@pytest.fixture
def talk(alice: User) -> Session:
    """Three turns that the built-in engine answered."""
    session = conversation(alice)
    say(session, WEBHOOK)
    return session


# Asked for


def test_chosen_turns_are_in_line_with_who_asked(talk: Session) -> None:
    draft = ask(talk, 2, 3)
    assert (draft.turns, draft.kind, draft.state) == ([2, 3], ScopeKind.INTENTIONAL, ScopeState.DUE)
    assert draft.actor == talk.owner
    told = last_event(talk)
    assert (told["kind"], told["first"], told["last"], told["turn"]) == ("compaction.requested", 2, 3, 3)


def test_asked_for_again_the_same_turns_are_the_same_draft(talk: Session) -> None:
    draft = ask(talk)
    assert ask(talk) == draft
    settled(draft)
    assert ask(talk) == draft
    assert Event.objects.filter(kind="compaction.requested").count() == 1
    assert ask(talk, 1, 2) != draft
    assert ask(talk, kind=ScopeKind.STAGE) != draft


def test_what_failed_or_was_stopped_is_asked_for_anew(talk: Session) -> None:
    draft = ask(talk)
    actions.stop_compaction(by_hand(talk), draft)
    assert ask(talk) != draft


def test_a_turn_that_was_cancelled_is_left_out(talk: Session) -> None:
    Run.objects.filter(turn__number=2).update(state=RunState.CANCELLED)
    assert ask(talk).turns == [1, 3]


def test_an_open_effort_may_be_among_the_turns(talk: Session) -> None:
    actions.open_effort(by_hand(talk), "webhook")
    actions.move_turn(by_hand(talk), 2, "webhook")
    assert ask(talk).turns == [1, 2, 3]


# Refused


def test_the_later_turn_cannot_come_first(talk: Session) -> None:
    assert refusal(talk, 3, 1) == ("order", "Turn 3 comes after turn 1. Choose the earlier one first.")


@pytest.mark.parametrize(("first", "last", "wrong"), [(0, 2, 0), (2, 9, 9)])
def test_turns_that_are_not_there_cannot_be_chosen(talk: Session, first: int, last: int, wrong: int) -> None:
    text = f"There is no turn {wrong} here. Choose turns from 1 to 3."
    assert refusal(talk, first, last) == ("unknown_turn", text)


def test_a_turn_that_runs_or_waits_cannot_be_among_them(talk: Session) -> None:
    Run.objects.filter(turn__number=3).update(state=RunState.RUNNING)
    text = "Turn 3 has not ended. Wait for it, or choose turns before it."
    assert refusal(talk, 1, 3) == ("unfinished", text)
    assert ask(talk, 1, 2).turns == [1, 2]


def test_turns_that_were_all_cancelled_have_nothing_to_say(talk: Session) -> None:
    Run.objects.update(state=RunState.CANCELLED)
    text = "None of these turns has anything that could be summarised. Choose others."
    assert refusal(talk, 1, 3) == ("no_turns", text)


def test_what_stands_for_some_of_the_turns_and_for_others_is_to_be_rolled_back_first(talk: Session) -> None:
    stand(talk, 1, 2)
    code, text = refusal(talk, 2, 3)
    assert (code, "chosen turns (turns 1-2). Roll these back first." in text) == ("clash", True)


def test_what_stands_for_some_of_the_turns_and_no_others_is_no_obstacle(talk: Session) -> None:
    stand(talk, 1, 2)
    assert ask(talk, 1, 3).state == ScopeState.DUE


def test_a_stage_of_a_package_stands_nowhere_so_nothing_is_in_its_way(talk: Session) -> None:
    stand(talk, 1, 2)
    assert ask(talk, 2, 3, kind=ScopeKind.STAGE).state == ScopeState.DUE


# Drafted


def test_what_passes_waits_for_a_review_and_stands_for_nothing(talk: Session) -> None:
    draft = settled(ask(talk))
    assert (draft.state, draft.artifact, draft.owner_key, draft.expires_at) == (ScopeState.READY, "cv1_x", "", None)
    assert not ContextPointer.objects.exists()
    told = last_event(talk)
    assert (told["kind"], told["artifact"], told["passed"], told["text"]) == ("compaction.drafted", "cv1_x", True, SAID)


def test_what_does_not_pass_says_why_and_can_be_opened(talk: Session) -> None:
    draft = settled(ask(talk), stands=False, why="Gate C: one decision is missing.")
    assert (draft.state, draft.artifact, draft.why) == (
        ScopeState.FAILED,
        "cv1_x",
        "Gate C: one decision is missing.",
    )
    told = last_event(talk)
    assert (told["kind"], told["passed"], told["text"]) == ("compaction.drafted", False, draft.why)


def test_what_only_lacks_a_check_waits_for_a_review(talk: Session) -> None:
    draft = settled(ask(talk), stands=False, takeable=True, why="No model checks here.")
    assert (draft.state, draft.artifact) == (ScopeState.READY, "cv1_x")


def test_where_nothing_was_drafted_the_digest_waits_for_a_review(talk: Session) -> None:
    draft = settled(ask(talk), stands=False, artifact="", digest="cv2_d", why="No model is set up to write summaries.")
    assert (draft.state, draft.artifact) == (ScopeState.READY, "cv2_d")


def test_a_fault_of_the_program_is_said_and_can_be_tried_again(talk: Session) -> None:
    draft = ask(talk)
    SCOPES.fail(claimed(draft), INTERNAL)
    assert (again(draft).state, again(draft).why) == (ScopeState.FAILED, INTERNAL)
    assert last_event(talk)["kind"] == "compaction.failed"
    assert actions.redraft_turns(by_hand(talk), draft).state == ScopeState.DUE


def test_what_happens_later_is_noted_where_it_was_asked_for(talk: Session) -> None:
    draft = ask(talk)
    say(talk, [("And now?", "Now we wait.")])
    settled(draft)
    assert last_event(talk)["turn"] == 3


def test_a_source_that_changed_meanwhile_makes_it_due_again(talk: Session) -> None:
    draft = ask(talk)
    job = claimed(draft)
    work = work_of(job)
    Run.objects.filter(turn__number=2).update(state=RunState.CANCELLED)
    SCOPES.settle(job, work, Summary(text=SAID, artifact="cv1_x", stands=True))
    assert (again(draft).state, again(draft).artifact) == (ScopeState.DUE, "")


def test_nothing_is_drafted_while_one_of_the_turns_is_tried_again(talk: Session) -> None:
    draft = ask(talk)
    Run.objects.filter(turn__number=3).update(state=RunState.RUNNING)
    assert claim_from([SCOPES], HERE, 4) == []
    Run.objects.filter(turn__number=3).update(state=RunState.STOPPED)
    assert claimed(draft).branch_id == draft.branch_id


def test_a_draft_is_claimed_once(talk: Session) -> None:
    draft = ask(talk)
    assert SCOPES.claim(draft, HERE)
    assert SCOPES.claim(draft, "there:2:b") is None


def test_what_a_dead_runner_was_drafting_is_due_again(talk: Session) -> None:
    draft = ask(talk)
    claimed(draft)
    assert drafts.recover([SCOPES], lambda owner: False) == 0
    assert drafts.recover([SCOPES], lambda owner: owner == HERE) == 1
    assert again(draft).state == ScopeState.DUE


def test_efforts_and_chosen_turns_share_the_room_efforts_first(talk: Session) -> None:
    draft = ask(talk)
    state = concluded(talk)
    lines = (SUMMARIES, SCOPES)
    assert [job.row_id for job in drafts.claim_from(lines, HERE, 1)] == [state.pk]
    jobs = drafts.claim_from(lines, HERE, 4)
    assert [job.row_id for job in jobs] == [draft.pk]
    assert drafts.still_mine(jobs) == {jobs[0].key}


# Taken back, and tried again


def test_stopped_it_is_nobody_s_any_more_and_what_is_made_of_it_is_not_kept(talk: Session) -> None:
    draft = ask(talk)
    job = claimed(draft)
    work = work_of(job)
    actions.stop_compaction(by_hand(talk), draft)
    assert drafts.still_mine([job]) == set()
    SCOPES.settle(job, work, Summary(text=SAID, artifact="cv1_x", stands=True))
    assert (again(draft).state, again(draft).artifact) == (ScopeState.STOPPED, "")
    assert last_event(talk)["kind"] == "compaction.stopped"


@pytest.mark.parametrize("state", [ScopeState.READY, ScopeState.FAILED, ScopeState.STOPPED])
def test_only_what_is_being_drafted_can_be_stopped(talk: Session, state: ScopeState) -> None:
    draft = ask(talk)
    ScopeDraft.objects.update(state=state)
    with pytest.raises(Refused, match="The summary of turns 1-3 is not being drafted"):
        actions.stop_compaction(by_hand(talk), draft)


@pytest.mark.parametrize("state", [ScopeState.READY, ScopeState.FAILED, ScopeState.STOPPED])
def test_what_has_ended_can_be_drafted_again(talk: Session, state: ScopeState) -> None:
    draft = ask(talk)
    ScopeDraft.objects.update(state=state, artifact="cv1_x", why="Because.")
    anew = actions.redraft_turns(by_hand(talk), draft)
    assert (anew.pk, anew.state, anew.artifact, anew.why) == (draft.pk, ScopeState.DUE, "", "")
    assert last_event(talk)["kind"] == "compaction.requested"


def test_turns_that_lie_apart_are_drafted_again_whatever_stands_for_those_between_them(talk: Session) -> None:
    say(talk, [("And the dashboard?", "It stays."), ("Good.", "Anything else?")])
    stand(talk, 2, 5)
    draft = actions.scopes.draft_turns(by_hand(talk), [1, 3], ScopeKind.ROLLING)
    ScopeDraft.objects.update(state=ScopeState.FAILED)
    actions.redraft_turns(by_hand(talk), draft)
    assert (again(draft).state, again(draft).turns) == (ScopeState.DUE, [1, 3])
    stand(talk, 3, 4)
    ScopeDraft.objects.update(state=ScopeState.FAILED)
    with pytest.raises(Refused, match="Roll these back first"):
        actions.redraft_turns(by_hand(talk), draft)


@pytest.mark.parametrize("state", [ScopeState.DUE, ScopeState.DRAFTING])
def test_what_is_being_drafted_is_not_drafted_twice(talk: Session, state: ScopeState) -> None:
    draft = ask(talk)
    ScopeDraft.objects.update(state=state)
    with pytest.raises(Refused, match="is being drafted already"):
        actions.redraft_turns(by_hand(talk), draft)


def test_a_draft_of_another_branch_is_not_there(talk: Session, alice: User) -> None:
    draft = ask(talk)
    other = conversation(alice)
    with pytest.raises(Refused, match="There is no such summary here"):
        actions.stop_compaction(by_hand(other), draft)


def test_every_move_is_in_the_table() -> None:
    assert set(SCOPE_MOVES) == set(ScopeState)


def test_a_deleted_conversation_has_no_drafts(talk: Session) -> None:
    job = claimed(ask(talk))
    work = work_of(job)
    actions.erase_session(talk, actor=talk.owner)
    SCOPES.settle(job, work, Summary(text=SAID))
    assert not ScopeDraft.objects.exists()
