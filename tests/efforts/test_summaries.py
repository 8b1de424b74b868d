"""From a concluded effort to what stands in for it, whatever happens on the way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from efforts import actions
from efforts.actions.pointers import end_pointer
from efforts.context.planning import chosen_settings, main_branch, next_inputs
from efforts.context.sources import read_summary_log
from efforts.domain.effort.states import EffortStatus, PointerState, ReviewMode, RunState, SummaryState, Via
from efforts.domain.prompt.planner import plan
from efforts.llm.tokens import get_counter
from efforts.models import ContextPointer, EffortState, Event, PointerTurn, Run, Session, TurnLabel
from efforts.standins.compacting import DraftWork, Summary
from efforts.turns import drafts
from efforts.turns.drafts import NOTHING, Job, claim_from
from efforts.turns.summaries import BY_THE_MODEL, NOT_JUDGED, REVIEWED, SUMMARIES, WHOLE
from tests.efforts.logs import concluded, conversation, say
from tests.efforts.port import EXCERPTS, HEADLINE, SHORT_FORM, Scripted

HERE = "here:1:a"
SLUG = "payment-webhook"
WHY = "The check found one claim that nobody said."
HIS_WORDS = "the webhook works now"

pytestmark = pytest.mark.usefixtures("port")


def job_of(state: EffortState) -> Job:
    (job,) = claim_from([SUMMARIES], HERE, 4)
    assert job.row_id == state.pk
    return job


def work_of(job: Job) -> DraftWork:
    work = SUMMARIES.read_work(job)
    assert work is not None
    return work


def fresh(state: EffortState) -> EffortState:
    return EffortState.objects.select_related("effort", "branch__session").get(pk=state.pk)


def drafted(port: Scripted, state: EffortState, text: str = SHORT_FORM, **more: Any) -> Summary:
    """What comes of a draft that may stand, unless it is said otherwise."""
    state = fresh(state)
    log = read_summary_log(state.branch, state.effort)
    made = {"artifact": port.draft_of(state, log, text), "digest": port.digest_of(state, log), "stands": True}
    return Summary(**{"text": text.split("\n")[0], "drafter": "some-model", **made, **more})


def settled(state: EffortState, made: Summary) -> EffortState:
    job = job_of(state)
    SUMMARIES.settle(job, work_of(job), made)
    return fresh(state)


def not_standing(port: Scripted, state: EffortState, **more: Any) -> Summary:
    return drafted(port, state, **{"stands": False, "why": WHY, **more})


def without_a_draft(port: Scripted, state: EffortState) -> Summary:
    return not_standing(port, state, artifact="", text="", why="The model did not answer.")


def standing() -> str | None:
    pointer = ContextPointer.objects.filter(state=PointerState.ACTIVE).first()
    return pointer.text if pointer else None


def by_hand(session: Session) -> actions.Place:
    return actions.here(session, actor=session.owner)


def covered() -> set[int]:
    return set(PointerTurn.objects.filter(active=True).values_list("turn__number", flat=True))


def labelled(state: EffortState) -> set[int]:
    return set(TurnLabel.objects.filter(effort=state.effort).values_list("turn__number", flat=True))


def last_event(session: Session) -> dict[str, Any]:
    event = Event.objects.filter(session=session).latest("seq")
    return {"kind": event.kind, **event.data}


def reviewing(session: Session, mode: ReviewMode) -> None:
    Session.objects.filter(pk=session.pk).update(review_mode=mode)


@pytest.fixture
def talk(alice: User) -> Session:
    return conversation(alice)


# What stands by itself


@pytest.mark.parametrize("via", [Via.CONTROL, Via.OFFER])
def test_what_a_person_concludes_has_its_summary_stand(talk: Session, port: Scripted, via: Via) -> None:
    before = say(talk, [("How is it going?", "Fine, thank you.")])
    state = concluded(talk, via=via)
    made = drafted(port, state)
    state = settled(state, made)
    pointer = ContextPointer.objects.get()
    assert (state.summary, state.draft, state.artifact) == (SummaryState.STANDS, "", made.artifact)
    assert (pointer.state, pointer.text, pointer.headline) == (PointerState.ACTIVE, SHORT_FORM, HEADLINE)
    assert (pointer.actor, pointer.digest) == (talk.owner, False)
    assert covered() == {2, 3, 4}
    assert before[0].number == 1


def test_the_notice_gains_one_line_of_the_summary(talk: Session, port: Scripted) -> None:
    state = concluded(talk)
    settled(state, drafted(port, state))
    event = last_event(talk)
    assert (event["kind"], event["text"]) == ("effort.summarised", HEADLINE)
    assert event["notice"] == f"--- Concluded effort: {SLUG} ---\nSummary: {HEADLINE}"
    assert event["tokens"] == get_counter().count(SHORT_FORM)


def test_the_next_prompt_has_the_short_form_byte_for_byte(talk: Session, port: Scripted) -> None:
    state = concluded(talk)
    settled(state, drafted(port, state))
    sent = plan(next_inputs(main_branch(talk), chosen_settings(talk), "", None)).request["messages"]
    note = f"- {SLUG} (turns 1-3, {timezone.now():%Y-%m-%d}):\n{SHORT_FORM}\n[End of notes]"
    assert any(note in message["content"] for message in sent)


def test_what_the_model_concludes_with_the_person_s_words_has_its_summary_stand(talk: Session, port: Scripted) -> None:
    state = concluded(talk, via=Via.MODEL, said=HIS_WORDS)
    assert settled(state, drafted(port, state)).summary == SummaryState.STANDS
    assert ContextPointer.objects.get().actor == talk.owner


def test_what_may_not_stand_leaves_its_place_to_the_digest_and_waits_beside_it(talk: Session, port: Scripted) -> None:
    state = concluded(talk)
    made = not_standing(port, state)
    state = settled(state, made)
    assert (state.summary, state.artifact, state.draft) == (SummaryState.DIGEST, made.artifact, WHY)
    assert (standing(), covered()) == (EXCERPTS, {1, 2, 3})
    assert last_event(talk)["kind"] == "effort.digested"


@pytest.mark.parametrize("make", [without_a_draft, lambda port, state: not_standing(port, state, artifact="")])
def test_where_nothing_was_drafted_the_digest_stands_and_says_why(
    talk: Session, port: Scripted, make: Callable[[Scripted, EffortState], Summary]
) -> None:
    state = concluded(talk)
    made = make(port, state)
    state = settled(state, made)
    assert (state.summary, state.artifact, state.draft) == (SummaryState.DIGEST, "", made.why)
    assert standing() == EXCERPTS


def test_where_nothing_can_be_quoted_the_effort_stays_concluded_and_says_why(talk: Session) -> None:
    state = settled(concluded(talk), Summary())
    assert (state.summary, state.status) == (SummaryState.FAILED, EffortStatus.CONCLUDED)
    assert (state.draft, standing()) == (NOTHING, None)
    event = last_event(talk)
    assert (event["kind"], event["text"]) == ("effort.summary_failed", NOTHING)


@pytest.mark.parametrize("via", [Via.CONTROL, Via.MODEL])
def test_a_log_that_nothing_shortens_stays_and_nothing_is_left_to_answer(talk: Session, via: Via) -> None:
    state = settled(concluded(talk, via=via), Summary(whole=True))
    assert (state.summary, state.status, state.draft) == (SummaryState.NONE, EffortStatus.CONCLUDED, WHOLE)
    assert standing() is None
    event = last_event(talk)
    assert (event["kind"], event["text"]) == ("effort.kept_whole", WHOLE)


def test_of_an_effort_whose_turns_have_all_moved_away_one_summary_stands_and_no_two(
    talk: Session, port: Scripted
) -> None:
    state = concluded(talk)
    TurnLabel.objects.filter(effort=state.effort).delete()
    state = settled(state, not_standing(port, state))
    assert state.summary == SummaryState.DIGEST
    actions.use_summary(by_hand(talk), state.effort.slug)
    (pointer,) = ContextPointer.objects.filter(state=PointerState.ACTIVE)
    assert not pointer.digest


@pytest.mark.parametrize("make", [drafted, not_standing])
def test_what_the_model_concludes_by_itself_waits_for_the_person(
    talk: Session, port: Scripted, make: Callable[[Scripted, EffortState], Summary]
) -> None:
    state = concluded(talk, via=Via.MODEL)
    made = make(port, state)
    state = settled(state, made)
    assert (state.summary, state.draft, state.artifact) == (SummaryState.WAITING, HEADLINE, made.artifact)
    assert standing() is None
    event = last_event(talk)
    assert (event["kind"], event["text"]) == ("effort.summary_waiting", HEADLINE)
    assert event["why"] == f"{BY_THE_MODEL} {made.why}".strip()
    assert "notice" not in event


def test_the_person_s_yes_lets_what_waits_stand(talk: Session, port: Scripted) -> None:
    state = concluded(talk, via=Via.MODEL)
    settled(state, drafted(port, state))
    actions.use_summary(by_hand(talk), SLUG)
    assert fresh(state).summary == SummaryState.STANDS
    assert (standing(), covered()) == (SHORT_FORM, {1, 2, 3})


def test_where_the_model_concluded_and_nothing_was_drafted_the_log_stays_and_says_why(
    talk: Session, port: Scripted
) -> None:
    state = concluded(talk, via=Via.MODEL)
    state = settled(state, without_a_draft(port, state))
    assert (state.summary, standing()) == (SummaryState.FAILED, None)
    assert state.draft == f"{BY_THE_MODEL} The model did not answer."


def test_where_the_person_reviews_all_summaries_the_person_s_own_wait_too(talk: Session, port: Scripted) -> None:
    reviewing(talk, ReviewMode.ALWAYS)
    state = concluded(talk)
    assert settled(state, drafted(port, state)).summary == SummaryState.WAITING
    assert last_event(talk)["why"] == REVIEWED


def test_a_summary_that_nobody_has_checked_stands_only_where_the_person_takes_such(
    talk: Session, port: Scripted
) -> None:
    reviewing(talk, ReviewMode.TAKE)
    state = concluded(talk)
    assert settled(state, not_standing(port, state, takeable=True)).summary == SummaryState.STANDS
    assert last_event(talk)["note"] == NOT_JUDGED
    other = concluded(talk, "offsite")
    assert settled(other, not_standing(port, other)).summary == SummaryState.DIGEST
    third = concluded(talk, "tax")
    reviewing(talk, ReviewMode.AUTOMATIC)
    assert settled(third, not_standing(port, third, takeable=True)).summary == SummaryState.DIGEST


def test_what_is_taken_unchecked_and_refused_all_the_same_leaves_the_digest(talk: Session, port: Scripted) -> None:
    reviewing(talk, ReviewMode.TAKE)
    state = concluded(talk)
    made = not_standing(port, state, takeable=True)
    port.refuses.add(made.artifact)
    assert settled(state, made).summary == SummaryState.DIGEST
    assert standing() == EXCERPTS


def test_an_effort_too_short_to_be_compacted_stands_by_its_line(talk: Session) -> None:
    state = settled(concluded(talk), Summary(brief="Brief effort: payment-webhook"))
    assert (state.summary, standing()) == (SummaryState.STANDS, "Brief effort: payment-webhook")


# Over a digest


def digested(talk: Session, port: Scripted) -> EffortState:
    state = concluded(talk)
    return settled(state, not_standing(port, state))


def test_the_draft_beside_a_digest_is_used_in_its_place(talk: Session, port: Scripted) -> None:
    state = digested(talk, port)
    actions.use_summary(by_hand(talk), SLUG)
    assert (fresh(state).summary, fresh(state).draft, standing()) == (SummaryState.STANDS, "", SHORT_FORM)


def test_rolling_such_a_summary_back_brings_the_digest_back(talk: Session, port: Scripted) -> None:
    state = digested(talk, port)
    actions.use_summary(by_hand(talk), SLUG)
    port.roll_back(fresh(state).artifact, talk.owner, main_branch(talk))
    assert (fresh(state).summary, standing()) == (SummaryState.DIGEST, EXCERPTS)
    actions.retry_summary(by_hand(talk), SLUG)
    assert fresh(state).summary == SummaryState.DUE


def test_while_it_is_drafted_again_the_digest_stands(talk: Session, port: Scripted) -> None:
    state = digested(talk, port)
    actions.retry_summary(by_hand(talk), SLUG)
    assert (fresh(state).summary, standing()) == (SummaryState.DUE, EXCERPTS)
    assert settled(state, drafted(port, state)).summary == SummaryState.STANDS
    assert standing() == SHORT_FORM


@pytest.mark.parametrize("make", [not_standing, without_a_draft])
def test_drafted_again_in_vain_the_digest_goes_on_to_stand_and_says_why(
    talk: Session, port: Scripted, make: Callable[[Scripted, EffortState], Summary]
) -> None:
    state = digested(talk, port)
    actions.retry_summary(by_hand(talk), SLUG)
    made = make(port, state)
    state = settled(state, made)
    assert (state.summary, state.artifact, state.draft) == (SummaryState.DIGEST, made.artifact, made.why)
    assert (standing(), covered()) == (EXCERPTS, {1, 2, 3})


def test_a_fault_of_the_program_leaves_the_digest_standing_and_is_told(talk: Session, port: Scripted) -> None:
    state = digested(talk, port)
    actions.retry_summary(by_hand(talk), SLUG)
    SUMMARIES.fail(job_of(state), drafts.INTERNAL)
    assert (fresh(state).summary, fresh(state).draft) == (SummaryState.DIGEST, drafts.INTERNAL)
    assert standing() == EXCERPTS


def test_stopped_while_it_is_drafted_again_the_digest_stands(talk: Session, port: Scripted) -> None:
    state = digested(talk, port)
    actions.retry_summary(by_hand(talk), SLUG)
    actions.stop_summary(by_hand(talk), SLUG)
    assert (fresh(state).summary, standing()) == (SummaryState.DIGEST, EXCERPTS)


def digested_by_verbs(talk: Session, port: Scripted) -> EffortState:
    """With all that the log tells of it."""
    actions.open_effort(by_hand(talk), SLUG)
    say(talk, [("It times out.", "Answer at once."), ("It works.", "Good.")])
    for number in (1, 2):
        actions.move_turn(by_hand(talk), number, SLUG)
    state = actions.close_effort(by_hand(talk))
    return settled(state, not_standing(port, state))


def test_reopened_and_taken_back_the_digest_stands_again_with_its_draft(talk: Session, port: Scripted) -> None:
    state = digested_by_verbs(talk, port)
    beside = (state.artifact, state.draft)
    actions.reopen_effort(by_hand(talk), SLUG)
    assert (fresh(state).summary, standing()) == (SummaryState.NONE, None)
    reopened = Event.objects.get(session=talk, kind="effort.reopened")
    actions.undo(by_hand(talk), reopened.seq)
    state = fresh(state)
    assert (state.summary, (state.artifact, state.draft), standing()) == (SummaryState.DIGEST, beside, EXCERPTS)


def test_in_a_branch_the_digest_stands_too(talk: Session, port: Scripted) -> None:
    digested_by_verbs(talk, port)
    child = actions.fork(main_branch(talk), after=2, actor=talk.owner)
    assert EffortState.objects.get(branch=child).summary == SummaryState.DIGEST
    assert ContextPointer.objects.get(branch=child).text == EXCERPTS


# While it is drafted


def test_an_effort_reopened_while_it_is_drafted_gets_no_pointer(talk: Session, port: Scripted) -> None:
    state = concluded(talk)
    job = job_of(state)
    work = work_of(job)
    made = drafted(port, state)
    actions.reopen_effort(by_hand(talk), SLUG)
    SUMMARIES.settle(job, work, made)
    assert EffortState.objects.get(pk=state.pk).summary == SummaryState.NONE
    assert not ContextPointer.objects.exists()
    assert last_event(talk)["kind"] == "effort.reopened"


def test_a_draft_of_an_earlier_conclusion_is_not_taken_for_the_later_one(talk: Session, port: Scripted) -> None:
    state = concluded(talk)
    early = job_of(state)
    work = work_of(early)
    early.release()
    late = job_of(state)
    SUMMARIES.settle(early, work, drafted(port, state, "early"))
    assert not ContextPointer.objects.exists()
    SUMMARIES.settle(late, work, drafted(port, state, "late"))
    assert ContextPointer.objects.get().text == "late"


def take_a_turn_out(talk: Session) -> None:
    actions.move_turn(by_hand(talk), 2, None)


def add_a_turn(talk: Session) -> None:
    say(talk, [("One more thing.", "Yes?")])
    actions.move_turn(by_hand(talk), 4, SLUG)


@pytest.mark.parametrize("change", [take_a_turn_out, add_a_turn])
def test_a_turn_moved_while_it_is_drafted_makes_it_due_again(
    talk: Session, port: Scripted, change: Callable[[Session], None]
) -> None:
    state = concluded(talk)
    job = job_of(state)
    work = work_of(job)
    made = drafted(port, state)
    change(talk)
    SUMMARIES.settle(job, work, made)
    assert EffortState.objects.get(pk=state.pk).summary == SummaryState.DUE
    assert not ContextPointer.objects.exists()
    settled(state, drafted(port, state, "anew"))
    assert covered() == labelled(state)


def test_a_source_that_changed_unnoticed_makes_it_due_again(talk: Session, port: Scripted) -> None:
    state = concluded(talk)
    job = job_of(state)
    work = work_of(job)
    made = drafted(port, state)
    TurnLabel.objects.filter(turn__number=2).delete()
    SUMMARIES.settle(job, work, made)
    assert EffortState.objects.get(pk=state.pk).summary == SummaryState.DUE
    assert not ContextPointer.objects.exists()


@pytest.mark.parametrize("change", [take_a_turn_out, add_a_turn])
def test_a_turn_moved_afterwards_leaves_no_pointer_over_wrong_turns(
    talk: Session, port: Scripted, change: Callable[[Session], None]
) -> None:
    state = concluded(talk)
    settled(state, drafted(port, state))
    change(talk)
    assert ContextPointer.objects.get().state == PointerState.INVALIDATED
    assert covered() == set()
    settled(state, drafted(port, state, "anew"))
    assert covered() == labelled(state)


def test_a_summary_drafted_again_supersedes_the_one_before(talk: Session, port: Scripted) -> None:
    state = concluded(talk)
    settled(state, drafted(port, state))
    EffortState.objects.filter(pk=state.pk).update(summary=SummaryState.DUE)
    settled(state, drafted(port, state, "anew"))
    old, new = ContextPointer.objects.order_by("pk")
    assert (old.state, new.state) == (PointerState.SUPERSEDED, PointerState.ACTIVE)
    assert list(new.previous.all()) == [old]
    assert covered() == {1, 2, 3}
    assert PointerTurn.objects.count() == 6


def test_nothing_is_drafted_before_the_closing_turn_has_ended(talk: Session, port: Scripted) -> None:
    state = concluded(talk)
    closing = Run.objects.get(turn__number=3)
    Run.objects.filter(pk=closing.pk).update(state=RunState.RUNNING)
    assert claim_from([SUMMARIES], HERE, 4) == []
    Run.objects.filter(pk=closing.pk).update(state=RunState.STOPPED)
    assert job_of(state).branch_id == state.branch_id


def test_a_summary_is_claimed_once(talk: Session, port: Scripted) -> None:
    state = concluded(talk)
    stale = EffortState.objects.get(pk=state.pk)
    assert SUMMARIES.claim(state, HERE)
    assert SUMMARIES.claim(stale, "there:2:b") is None


def test_no_more_are_claimed_than_there_is_room_for(talk: Session, port: Scripted) -> None:
    for name in ("one", "two", "three"):
        concluded(talk, name)
    assert len(claim_from([SUMMARIES], HERE, 2)) == 2


def test_what_a_dead_runner_was_drafting_is_due_again(talk: Session, port: Scripted) -> None:
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


def test_another_attempt_at_the_closing_turn_makes_its_summary_due_again(talk: Session, port: Scripted) -> None:
    state = concluded(talk)
    settled(state, drafted(port, state))
    closing = Run.objects.get(turn__number=3)
    Run.objects.filter(pk=closing.pk).update(state=RunState.STOPPED)
    actions.retry_turn(closing.turn, actor=talk.owner)
    assert EffortState.objects.get(pk=state.pk).summary == SummaryState.DUE
    assert ContextPointer.objects.get().state == PointerState.INVALIDATED
    assert not PointerTurn.objects.filter(active=True).exists()
    assert claim_from([SUMMARIES], HERE, 4) == []


def test_a_pointer_that_ended_leaves_its_turns_to_another(talk: Session, port: Scripted) -> None:
    state = concluded(talk)
    settled(state, drafted(port, state))
    end_pointer(main_branch(talk), state.effort)
    assert standing() is None
    EffortState.objects.filter(pk=state.pk).update(summary=SummaryState.DUE)
    assert settled(state, drafted(port, state, "anew")).summary == SummaryState.STANDS


def test_a_conversation_deleted_meanwhile_is_no_fault(talk: Session, port: Scripted) -> None:
    state = concluded(talk)
    job = job_of(state)
    work = work_of(job)
    made = drafted(port, state)
    actions.erase_session(talk, actor=talk.owner)
    SUMMARIES.settle(job, work, made)
    assert SUMMARIES.read_work(job) is None
    assert not ContextPointer.objects.exists()
