"""From a concluded effort to the summary that stands in for it, whatever happens on the way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User

from efforts import actions, drafts
from efforts.actions.pointers import end_pointers
from efforts.compacting import Summary, Work
from efforts.domain.lifecycle import EffortStatus, PointerState, RunState, SummaryState, Via
from efforts.drafts import Job
from efforts.llm.tokens import get_counter
from efforts.models import ContextPointer, EffortState, Event, PointerTurn, Run, Session, TurnLabel
from efforts.snapshots import main_branch
from efforts.summaries import SUMMARIES
from tests.efforts.logs import WEBHOOK, concluded, conversation, say

HERE = "here:1:a"
SAID = "The webhook answers at once; the retry limit is 3."


def job_of(state: EffortState) -> Job:
    (job,) = SUMMARIES.claim_due(HERE, 4)
    assert job.row_id == state.pk
    return job


def work_of(job: Job) -> Work:
    work = SUMMARIES.read_work(job)
    assert work is not None
    return work


def settled(state: EffortState, text: str = SAID) -> EffortState:
    job = job_of(state)
    SUMMARIES.settle(job, work_of(job), Summary(text=text, drafter="builtin"))
    return EffortState.objects.get(pk=state.pk)


def by_hand(session: Session) -> actions.Place:
    return actions.here(session, actor=session.owner)


def covered() -> set[int]:
    return set(PointerTurn.objects.filter(active=True).values_list("turn__number", flat=True))


def labelled(state: EffortState) -> set[int]:
    return set(TurnLabel.objects.filter(effort=state.effort).values_list("turn__number", flat=True))


def last_event(session: Session) -> dict[str, Any]:
    event = Event.objects.filter(session=session).latest("seq")
    return {"kind": event.kind, **event.data}


@pytest.fixture
def talk(alice: User) -> Session:
    """A conversation that the built-in engine answers."""
    return conversation(alice)


@pytest.mark.parametrize("via", [Via.CONTROL, Via.OFFER])
def test_what_a_person_concludes_has_its_summary_stand(talk: Session, via: Via) -> None:
    before = say(talk, [("How is it going?", "Fine, thank you.")])
    state = settled(concluded(talk, via=via))
    pointer = ContextPointer.objects.get()
    assert (state.summary, state.draft, state.summary_owner) == (SummaryState.STANDS, "", "")
    assert (pointer.state, pointer.text, pointer.actor) == (PointerState.ACTIVE, SAID, talk.owner)
    assert pointer.tokens == get_counter().count(SAID)
    assert covered() == {2, 3, 4}
    assert before[0].number == 1


def test_the_notice_gains_the_summary_word_for_word(talk: Session) -> None:
    settled(concluded(talk))
    assert last_event(talk) == {
        "kind": "effort.summarised",
        "turn": 3,
        "branch": str(main_branch(talk).pk),
        "effort": "payment-webhook",
        "via": "control",
        "text": SAID,
        "tokens": get_counter().count(SAID),
        "drafter": "builtin",
        "note": "",
        "artifact": "",
        "clock": 3,
        "notice": f"--- Concluded effort: payment-webhook ---\nSummary: {SAID}",
    }


def test_what_the_model_concludes_at_the_person_s_word_has_its_summary_stand(talk: Session) -> None:
    assert settled(concluded(talk, via=Via.MODEL)).summary == SummaryState.STANDS
    assert ContextPointer.objects.get().actor == talk.owner


def test_what_the_model_concludes_by_itself_waits_for_the_person(talk: Session) -> None:
    unsure = [*WEBHOOK[:2], ("I wonder what Dana says.", "She will like it.")]
    state = settled(concluded(talk, exchanges=unsure, via=Via.MODEL))
    assert (state.summary, state.draft) == (SummaryState.WAITING, SAID)
    assert not ContextPointer.objects.exists()
    event = last_event(talk)
    assert (event["kind"], event["text"]) == ("effort.summary_waiting", SAID)
    assert "notice" not in event
    actions.use_summary(by_hand(talk), "payment-webhook")
    assert ContextPointer.objects.get().text == SAID
    assert covered() == {1, 2, 3}


def test_an_effort_reopened_while_it_is_drafted_gets_no_pointer(talk: Session) -> None:
    state = concluded(talk)
    job = job_of(state)
    work = work_of(job)
    actions.reopen_effort(by_hand(talk), "payment-webhook")
    SUMMARIES.settle(job, work, Summary(text=SAID, drafter="builtin"))
    assert EffortState.objects.get(pk=state.pk).summary == SummaryState.NONE
    assert not ContextPointer.objects.exists()
    assert last_event(talk)["kind"] == "effort.reopened"


def test_a_draft_of_an_earlier_conclusion_is_not_taken_for_the_later_one(talk: Session) -> None:
    state = concluded(talk)
    early = job_of(state)
    work = work_of(early)
    early.release()
    late = job_of(state)
    SUMMARIES.settle(early, work, Summary(text="early", drafter="builtin"))
    assert not ContextPointer.objects.exists()
    SUMMARIES.settle(late, work, Summary(text="late", drafter="builtin"))
    assert ContextPointer.objects.get().text == "late"


def take_a_turn_out(talk: Session) -> None:
    actions.move_turn(by_hand(talk), 2, None)


def add_a_turn(talk: Session) -> None:
    say(talk, [("One more thing.", "Yes?")])
    actions.move_turn(by_hand(talk), 4, "payment-webhook")


@pytest.mark.parametrize("change", [take_a_turn_out, add_a_turn])
def test_a_turn_moved_while_it_is_drafted_makes_it_due_again(talk: Session, change: Callable[[Session], None]) -> None:
    state = concluded(talk)
    job = job_of(state)
    work = work_of(job)
    change(talk)
    SUMMARIES.settle(job, work, Summary(text=SAID, drafter="builtin"))
    assert EffortState.objects.get(pk=state.pk).summary == SummaryState.DUE
    assert not ContextPointer.objects.exists()
    settled(state, "anew")
    assert covered() == labelled(state)


def test_a_source_that_changed_unnoticed_makes_it_due_again(talk: Session) -> None:
    state = concluded(talk)
    job = job_of(state)
    work = work_of(job)
    TurnLabel.objects.filter(turn__number=2).delete()
    SUMMARIES.settle(job, work, Summary(text=SAID, drafter="builtin"))
    assert EffortState.objects.get(pk=state.pk).summary == SummaryState.DUE
    assert not ContextPointer.objects.exists()


@pytest.mark.parametrize("change", [take_a_turn_out, add_a_turn])
def test_a_turn_moved_afterwards_leaves_no_pointer_over_wrong_turns(
    talk: Session, change: Callable[[Session], None]
) -> None:
    state = settled(concluded(talk))
    change(talk)
    assert ContextPointer.objects.get().state == PointerState.INVALIDATED
    assert covered() == set()
    settled(state, "anew")
    assert covered() == labelled(state)


def test_a_summary_drafted_again_supersedes_the_one_before(talk: Session) -> None:
    state = settled(concluded(talk))
    EffortState.objects.filter(pk=state.pk).update(summary=SummaryState.DUE)
    settled(state, "anew")
    old, new = ContextPointer.objects.order_by("pk")
    assert (old.state, new.state) == (PointerState.SUPERSEDED, PointerState.ACTIVE)
    assert list(new.previous.all()) == [old]
    assert covered() == {1, 2, 3}
    assert PointerTurn.objects.count() == 6


def test_nothing_is_drafted_before_the_closing_turn_has_ended(talk: Session) -> None:
    state = concluded(talk)
    closing = Run.objects.get(turn__number=3)
    Run.objects.filter(pk=closing.pk).update(state=RunState.RUNNING)
    assert SUMMARIES.claim_due(HERE, 4) == []
    Run.objects.filter(pk=closing.pk).update(state=RunState.STOPPED)
    assert job_of(state).branch_id == state.branch_id


def test_a_summary_is_claimed_once(talk: Session) -> None:
    state = concluded(talk)
    stale = EffortState.objects.get(pk=state.pk)
    assert SUMMARIES.claim(state, HERE)
    assert SUMMARIES.claim(stale, "there:2:b") is None


def test_no_more_are_claimed_than_there_is_room_for(talk: Session) -> None:
    for name in ("one", "two", "three"):
        concluded(talk, name)
    assert len(SUMMARIES.claim_due(HERE, 2)) == 2


def test_what_a_dead_runner_was_drafting_is_due_again(talk: Session) -> None:
    state = concluded(talk)
    job_of(state)
    assert SUMMARIES.recover(lambda owner: False) == 0
    assert SUMMARIES.recover(lambda owner: owner == HERE) == 1
    assert EffortState.objects.get(pk=state.pk).summary == SummaryState.DUE


def test_what_is_drafted_beyond_its_lease_is_due_again_unless_it_is_renewed(talk: Session, settings: Any) -> None:
    settings.CCM_LEASE_SECONDS = -1
    state = concluded(talk)
    job = job_of(state)
    settings.CCM_LEASE_SECONDS = 15
    drafts.renew([job])
    assert SUMMARIES.recover(lambda owner: False) == 0
    settings.CCM_LEASE_SECONDS = -1
    drafts.renew([job])
    assert SUMMARIES.recover(lambda owner: False) == 1


def test_another_attempt_at_the_closing_turn_makes_its_summary_due_again(talk: Session) -> None:
    state = settled(concluded(talk))
    closing = Run.objects.get(turn__number=3)
    Run.objects.filter(pk=closing.pk).update(state=RunState.STOPPED)
    actions.retry_turn(closing.turn, actor=talk.owner)
    assert EffortState.objects.get(pk=state.pk).summary == SummaryState.DUE
    assert ContextPointer.objects.get().state == PointerState.INVALIDATED
    assert not PointerTurn.objects.filter(active=True).exists()
    assert SUMMARIES.claim_due(HERE, 4) == []


def test_a_pointer_that_ended_leaves_its_turns_to_another(talk: Session) -> None:
    state = settled(concluded(talk))
    assert end_pointers(main_branch(talk), state.effort, PointerState.ROLLED_BACK) == 1
    EffortState.objects.filter(pk=state.pk).update(summary=SummaryState.DUE)
    assert settled(state, "anew").summary == SummaryState.STANDS


def test_a_conversation_deleted_meanwhile_is_no_fault(talk: Session) -> None:
    job = job_of(concluded(talk))
    work = work_of(job)
    actions.delete_session(talk, typed_name=str(talk), actor=talk.owner)
    SUMMARIES.settle(job, work, Summary(text=SAID, drafter="builtin"))
    assert SUMMARIES.read_work(job) is None
    assert not ContextPointer.objects.exists()


def test_where_nothing_can_be_quoted_the_effort_stays_concluded_and_says_why(talk: Session) -> None:
    state = settled(concluded(talk), "")
    assert (state.summary, state.status) == (SummaryState.FAILED, EffortStatus.CONCLUDED)
    assert state.draft == "There is nothing in it that could be quoted."
    event = last_event(talk)
    assert (event["kind"], event["text"]) == ("effort.summary_failed", state.draft)
