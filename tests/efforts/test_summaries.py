"""From a concluded effort to the summary that stands in for it, whatever happens on the way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User

from efforts import actions, summaries
from efforts.actions.pointers import end_pointers
from efforts.connections import ModelChoice
from efforts.domain.canonical import canonical_json
from efforts.domain.lifecycle import EffortStatus, PointerState, RunState, SummaryState, Via
from efforts.domain.source_text import Part, Source, SourcePart
from efforts.llm.tokens import get_counter
from efforts.models import ContextPointer, EffortState, Event, PointerTurn, Run, Session, TurnLabel
from efforts.prompts import summary_text
from efforts.runner import Runner
from efforts.snapshots import main_branch
from efforts.summaries import Draft, Job, Material
from efforts.threads import read, write
from tests.efforts.conftest import Stage
from tests.efforts.logs import WEBHOOK, concluded, conversation, say
from tests.fakes.provider import Call, FakeProvider, NoAnswer, Reply, Status, Step

HERE = "here:1:a"
SAID = "The webhook answers at once; the retry limit is 3."


def job_of(state: EffortState) -> Job:
    (job,) = summaries.claim_due(HERE, 4)
    assert job.state_id == state.pk
    return job


def material_of(job: Job) -> Material:
    material = summaries.read_material(job)
    assert material is not None
    return material


def settled(state: EffortState, text: str = SAID) -> EffortState:
    job = job_of(state)
    summaries.settle(job, material_of(job), Draft(text=text, drafter="builtin"))
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
    material = material_of(job)
    actions.reopen_effort(by_hand(talk), "payment-webhook")
    summaries.settle(job, material, Draft(text=SAID, drafter="builtin"))
    assert EffortState.objects.get(pk=state.pk).summary == SummaryState.NONE
    assert not ContextPointer.objects.exists()
    assert last_event(talk)["kind"] == "effort.reopened"


def test_a_draft_of_an_earlier_conclusion_is_not_taken_for_the_later_one(talk: Session) -> None:
    state = concluded(talk)
    early = job_of(state)
    material = material_of(early)
    summaries.release(early)
    late = job_of(state)
    summaries.settle(early, material, Draft(text="early", drafter="builtin"))
    assert not ContextPointer.objects.exists()
    summaries.settle(late, material, Draft(text="late", drafter="builtin"))
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
    material = material_of(job)
    change(talk)
    summaries.settle(job, material, Draft(text=SAID, drafter="builtin"))
    assert EffortState.objects.get(pk=state.pk).summary == SummaryState.DUE
    assert not ContextPointer.objects.exists()
    settled(state, "anew")
    assert covered() == labelled(state)


def test_a_source_that_changed_unnoticed_makes_it_due_again(talk: Session) -> None:
    state = concluded(talk)
    job = job_of(state)
    material = material_of(job)
    TurnLabel.objects.filter(turn__number=2).delete()
    summaries.settle(job, material, Draft(text=SAID, drafter="builtin"))
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
    assert summaries.claim_due(HERE, 4) == []
    Run.objects.filter(pk=closing.pk).update(state=RunState.STOPPED)
    assert job_of(state).branch_id == state.branch_id


def test_a_summary_is_claimed_once(talk: Session) -> None:
    state = concluded(talk)
    stale = EffortState.objects.get(pk=state.pk)
    assert summaries.claim(state, HERE)
    assert summaries.claim(stale, "there:2:b") is None


def test_no_more_are_claimed_than_there_is_room_for(talk: Session) -> None:
    for name in ("one", "two", "three"):
        concluded(talk, name)
    assert len(summaries.claim_due(HERE, 2)) == 2


def test_what_a_dead_runner_was_drafting_is_due_again(talk: Session) -> None:
    state = concluded(talk)
    job_of(state)
    assert summaries.recover(lambda owner: False) == 0
    assert summaries.recover(lambda owner: owner == HERE) == 1
    assert EffortState.objects.get(pk=state.pk).summary == SummaryState.DUE


def test_what_is_drafted_beyond_its_lease_is_due_again_unless_it_is_renewed(talk: Session, settings: Any) -> None:
    settings.CCM_LEASE_SECONDS = -1
    state = concluded(talk)
    job = job_of(state)
    settings.CCM_LEASE_SECONDS = 15
    summaries.renew([job])
    assert summaries.recover(lambda owner: False) == 0
    settings.CCM_LEASE_SECONDS = -1
    summaries.renew([job])
    assert summaries.recover(lambda owner: False) == 1


def test_another_attempt_at_the_closing_turn_makes_its_summary_due_again(talk: Session) -> None:
    state = settled(concluded(talk))
    closing = Run.objects.get(turn__number=3)
    Run.objects.filter(pk=closing.pk).update(state=RunState.STOPPED)
    actions.retry_turn(closing.turn, actor=talk.owner)
    assert EffortState.objects.get(pk=state.pk).summary == SummaryState.DUE
    assert ContextPointer.objects.get().state == PointerState.INVALIDATED
    assert not PointerTurn.objects.filter(active=True).exists()
    assert summaries.claim_due(HERE, 4) == []


def test_a_pointer_that_ended_leaves_its_turns_to_another(talk: Session) -> None:
    state = settled(concluded(talk))
    assert end_pointers(main_branch(talk), state.effort, PointerState.ROLLED_BACK) == 1
    EffortState.objects.filter(pk=state.pk).update(summary=SummaryState.DUE)
    assert settled(state, "anew").summary == SummaryState.STANDS


def test_a_conversation_deleted_meanwhile_is_no_fault(talk: Session) -> None:
    job = job_of(concluded(talk))
    material = material_of(job)
    actions.delete_session(talk, typed_name=str(talk), actor=talk.owner)
    summaries.settle(job, material, Draft(text=SAID, drafter="builtin"))
    assert summaries.read_material(job) is None
    assert not ContextPointer.objects.exists()


def test_where_nothing_can_be_quoted_the_effort_stays_concluded_and_says_why(talk: Session) -> None:
    state = settled(concluded(talk), "")
    assert (state.summary, state.status) == (SummaryState.FAILED, EffortStatus.CONCLUDED)
    assert state.draft == "There is nothing in it that could be quoted."
    event = last_event(talk)
    assert (event["kind"], event["text"]) == ("effort.summary_failed", state.draft)


# By the runner


def is_summary(request: dict[str, Any]) -> bool:
    return bool(request["messages"][0]["content"] == summary_text())


def to_summaries(answer: Step) -> Step:
    """Conversation gets its usual reply, the request for a summary `answer`."""
    return lambda request: answer if is_summary(request) else Reply("All right.")  # type: ignore[return-value]


async def effort_of(stage: Stage, **more: Any) -> EffortState:
    return await write(concluded, stage.session, **more)


async def summarised(stage: Stage, kind: str = "effort.summarised") -> dict[str, Any]:
    await stage.logged(kind)
    return await read(lambda: Event.objects.filter(session=stage.session, kind=kind).latest("seq").data)


async def test_the_session_s_model_writes_it_from_the_log_and_is_offered_no_tools(
    stage: Stage, provider: FakeProvider, runner: Runner
) -> None:
    provider.otherwise = to_summaries(Reply("<think>Hm.</think>\n## Summary\n- **The webhook** answers at once."))
    await effort_of(stage)
    event = await summarised(stage)
    said, _, details = event["text"].partition(" (details: ")
    assert (said, event["drafter"], event["note"]) == ("The webhook answers at once.", "fake-1", "")
    assert "ledger" in details
    (request,) = provider.requests
    assert "tools" not in request
    sent = request["messages"][1]["content"]
    assert all(words in sent for exchange in WEBHOOK for words in exchange)
    assert sent.index("[Log]") < sent.index(WEBHOOK[0][0]) < sent.index("[End of log]")


async def test_a_model_that_writes_too_much_is_trimmed_at_the_end_of_a_sentence(
    stage: Stage, provider: FakeProvider, runner: Runner
) -> None:
    provider.otherwise = to_summaries(Reply("The webhook answers at once, with one more word. " * 40))
    await effort_of(stage)
    event = await summarised(stage)
    assert event["text"].endswith("one more word.")
    assert 50 < event["tokens"] <= 100


@pytest.mark.parametrize(
    ("answer", "note"),
    [
        (Status(400, "no such model"), "The provider refused the request (400: no such model)."),
        (Reply("  "), "The model answered with nothing."),
    ],
)
async def test_where_the_model_fails_the_log_s_own_sentences_are_taken(
    stage: Stage, provider: FakeProvider, runner: Runner, answer: Reply | Status, note: str
) -> None:
    provider.otherwise = to_summaries(answer)
    await effort_of(stage)
    event = await summarised(stage)
    assert event["drafter"] == "builtin"
    assert event["note"].startswith(note)
    assert "We decided on a retry limit of 3." in event["text"]


async def test_a_model_that_takes_too_long_is_not_waited_for(stage: Stage, provider: FakeProvider) -> None:
    provider.otherwise = NoAnswer()
    job = await write(job_of, await effort_of(stage))
    made = await summaries.draft(await read(material_of, job), seconds=0.05)
    assert (made.drafter, made.note) == ("builtin", "The model took longer than 0.05 seconds.")
    assert "retry limit of 3" in made.text


async def test_a_summary_that_hangs_holds_up_no_reply(stage: Stage, provider: FakeProvider, runner: Runner) -> None:
    provider.otherwise = to_summaries(NoAnswer())
    state = await effort_of(stage)
    turn = await stage.ask("And what comes next?")
    assert turn.run is not None
    assert turn.run.state == "completed"
    await read(provider.wait_for_requests, 2)
    assert (await read(EffortState.objects.get, pk=state.pk)).summary == SummaryState.DRAFTING


async def test_several_are_drafted_at_a_time(stage: Stage, provider: FakeProvider, runner: Runner) -> None:
    provider.otherwise = to_summaries(NoAnswer())
    for name in ("one", "two", "three"):
        await effort_of(stage, name=name)
    await stage.ask("And what comes next?")
    await read(provider.wait_for_requests, 4)
    assert sum(map(is_summary, provider.requests)) == 3


async def test_what_was_said_in_the_closing_turn_is_summarised_too(
    stage: Stage, provider: FakeProvider, runner: Runner
) -> None:
    provider.otherwise = to_summaries(Reply("The offsite is in Graz."))
    provider.script = [
        Reply("One moment.", calls=(Call("open_effort", '{"name": "Offsite"}'),)),
        Reply("Where shall it be?"),
        Reply(calls=(Call.of("close_effort"),)),
        Reply("Graz it is, from 3 to 5 June."),
    ]
    await stage.ask("Help me plan the offsite in June.")
    await stage.ask("Booked: the hotel in Graz. That is done.")
    event = await summarised(stage)
    assert (event["effort"], event["via"], event["turn"]) == ("offsite", "model", 2)
    sent = provider.requests[-1]["messages"][1]["content"]
    assert "Booked: the hotel in Graz." in sent
    assert "Graz it is, from 3 to 5 June." in sent
    assert "close_effort" not in sent


async def test_a_short_effort_asks_no_model(stage: Stage, provider: FakeProvider, runner: Runner) -> None:
    await effort_of(stage, name="tidy-up", exchanges=[("Tidy up", "Done.")])
    event = await summarised(stage)
    assert event["text"] == "Brief effort: tidy-up (too short to summarize)"
    assert provider.requests == []


async def test_where_everything_fails_it_says_so_and_can_be_tried_again(
    stage: Stage, provider: FakeProvider, monkeypatch: pytest.MonkeyPatch, runner: Runner
) -> None:
    def breaks(material: Material) -> str:
        raise ValueError("broken")

    provider.otherwise = to_summaries(Status(400))
    with monkeypatch.context() as broken:
        broken.setattr(summaries, "extract", breaks)
        state = await effort_of(stage)
        event = await summarised(stage, "effort.summary_failed")
    failed = await read(EffortState.objects.get, pk=state.pk)
    assert (failed.summary, failed.status, failed.draft) == ("failed", "concluded", event["text"])
    await write(lambda: actions.retry_summary(by_hand(stage.session), "payment-webhook"))
    assert (await summarised(stage))["drafter"] == "builtin"


async def test_a_runner_that_goes_down_leaves_its_draft_to_the_next(
    stage: Stage, provider: FakeProvider, layer: Any
) -> None:
    provider.otherwise = to_summaries(NoAnswer())
    state = await effort_of(stage)
    runner = Runner()
    await runner.summariser.sweep()
    await read(provider.wait_for_requests, 1)
    await runner.go_down()
    assert (await read(EffortState.objects.get, pk=state.pk)).summary == SummaryState.DUE
    assert not runner.summariser.jobs


# What a model is sent of a long log


def long_source(messages: int) -> Source:
    return Source(
        parts=tuple(
            SourcePart(
                message=id,
                turn=id,
                role="user",
                part=Part.TEXT,
                text=f"Step {id}: we decided on the value {id * 37}. " + "More was said about it. " * 40,
            )
            for id in range(1, messages + 1)
        )
    )


def choice(window: int) -> ModelChoice:
    return ModelChoice(kind="endpoint", label="small", model="small", context_window=window)


def test_of_a_log_beyond_the_window_the_newest_part_is_sent_whole_and_the_rest_in_extracts() -> None:
    source = long_source(60)
    request = summaries.request_of(Material(name="x", source=source, choice=None), choice(8_000))
    assert request is not None
    sent = request["messages"][1]["content"]
    assert source.parts[-1].rendered in sent
    assert source.parts[0].rendered not in sent
    left_out = sum(part.rendered not in sent for part in source.parts)
    assert f"[The {left_out} oldest messages do not fit. Extracts of them: Step 1: we decided on the value 37." in sent
    assert get_counter().count(canonical_json(request)) + request["max_tokens"] <= 8_000


def test_where_not_even_the_last_message_fits_no_model_is_asked() -> None:
    source = Source(parts=(SourcePart(message=1, turn=1, role="user", part=Part.TEXT, text="word " * 9_000),))
    assert summaries.request_of(Material(name="x", source=source, choice=None), choice(8_000)) is None


def test_a_summary_costs_at_most_its_cap_however_large_the_window() -> None:
    request = summaries.request_of(Material(name="x", source=long_source(400), choice=None), choice(1_000_000))
    assert request is not None
    assert get_counter().count(canonical_json(request)) + request["max_tokens"] <= summaries.DRAFT_CAP
