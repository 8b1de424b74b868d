"""A turn from the message to the reply, against a provider on a real port."""

from __future__ import annotations

import asyncio
import json
import threading
from typing import Any

import pytest

from efforts import actions
from efforts.context.planning import main_branch
from efforts.context.plans import replay
from efforts.domain.prompt.plan import RequiredTooLarge
from efforts.domain.text.canonical import request_sha256
from efforts.models import ContextPlan, Endpoint, Event, Message, Run, Turn
from efforts.models.threads import read, write
from efforts.turns.orchestrator import MOST_CALLS, over_budget
from efforts.turns.recording import Lease
from efforts.turns.runner import Runner
from tests.fakes.provider import CUT, INVALID_JSON, Call, FakeProvider, NoAnswer, Reply, Status
from tests.turns.conftest import Stage

pytestmark = pytest.mark.usefixtures("runner")


async def test_a_message_is_answered(stage: Stage, provider: FakeProvider) -> None:
    provider.script = [Reply("Hello Alice.")]
    turn = await stage.ask("Hi")
    assert turn.run is not None
    assert turn.run.state == "completed"
    assert await stage.texts(turn) == [("user", "Hi"), ("assistant", "Hello Alice.")]


async def test_what_the_provider_received_has_the_hash_of_its_plan_tool_rounds_included(
    stage: Stage, provider: FakeProvider
) -> None:
    provider.script = [
        Reply("Blue, I think."),
        Reply("Let me look.", calls=(Call.of("search_messages", query="colour"), Call("read_message", '{"id": 1}'))),
        Reply("You said blue."),
    ]
    await stage.ask("My favourite colour is blue.")
    await stage.ask("Which colour did I say?")
    plans = await read(lambda: list(ContextPlan.objects.order_by("created_at").select_related("session", "branch")))
    assert [plan.request_sha256 for plan in plans] == [request_sha256(request) for request in provider.requests]
    assert [await read(replay, plan) for plan in plans] == provider.requests


async def test_a_tool_is_run_and_its_result_is_in_the_next_call(stage: Stage, provider: FakeProvider) -> None:
    provider.script = [Reply("Noted."), Reply("", calls=(Call.of("search_messages", query="harbour"),)), Reply("Kiel.")]
    await stage.ask("We sail from the harbour of Kiel.")
    turn = await stage.ask("Where do we sail from?")
    result = provider.requests[-1]["messages"][-1]
    assert result["role"] == "tool"
    assert json.loads(result["content"])["matches"][0]["text"] == "We sail from the harbour of Kiel."
    assert (await stage.texts(turn))[-1] == ("assistant", "Kiel.")


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (Call("search_messages", '{"query": '), "not JSON"),
        (Call("search_messages", "[1]"), "one JSON object"),
        (Call("search_efforts", "{}"), "query must be"),
        (Call.of("search_messages", query="x", limit=3), "no argument 'limit'"),
        (Call("search_messages", '{"query": "a\\u0000b"}'), "no database takes"),
        (Call("search_messages", '{"query": "\\ud800"}'), "no database takes"),
        (Call("read_message", '{"id": 1%s}' % ("0" * 30)), "no database takes"),
        (Call.of("launch_rocket"), "There is no tool 'launch_rocket'"),
        (Call("read_message", '{"id": 999999}'), "There is no message 999999"),
    ],
)
async def test_a_bad_tool_call_is_told_to_the_model_and_the_turn_goes_on(
    stage: Stage, provider: FakeProvider, call: Call, told: str
) -> None:
    provider.script = [Reply(calls=(call,)), Reply("Never mind.")]
    turn = await stage.ask("Hi")
    assert turn.run is not None
    assert turn.run.state == "completed"
    assert told in json.loads(provider.requests[-1]["messages"][-1]["content"])["error"]


async def test_endless_tool_calls_are_bounded_and_the_last_call_offers_no_tools(
    stage: Stage, provider: FakeProvider
) -> None:
    provider.otherwise = Reply(calls=(Call.of("search_messages", query="x"),))
    turn = await stage.ask("Hi")
    assert turn.run is not None
    assert (turn.run.state, turn.run.error_code) == ("failed", "endless_tools")
    assert len(provider.requests) == MOST_CALLS
    assert ["tools" in request for request in provider.requests] == [True] * (MOST_CALLS - 1) + [False]


async def test_tool_call_ids_are_unique_although_the_provider_repeats_them(
    stage: Stage, provider: FakeProvider
) -> None:
    again = Reply(calls=(Call.of("search_messages", id="call_1", query="x"),) * 2)
    provider.script = [again, again, Reply("Done.")]
    await stage.ask("Hi")
    ids = await read(lambda: list(Message.objects.filter(role="tool").values_list("tool_call_id", flat=True)))
    assert len(ids) == len(set(ids)) == 4


FAULTS: list[tuple[Any, str, str]] = [
    (Status(401, "Incorrect API key"), "unauthorised", ""),
    (Status(400, "No such model"), "refused", ""),
    (Reply("Half a sent", ending=CUT), "broken_stream", "Half a sent"),
    (Reply("Half a sent", ending=INVALID_JSON), "broken_stream", "Half a sent"),
    (Reply(""), "empty_reply", ""),
]


@pytest.mark.parametrize(("fault", "code", "kept"), FAULTS)
async def test_a_fault_ends_in_a_stored_state_with_all_text_kept_and_can_be_retried(
    stage: Stage, provider: FakeProvider, fault: Any, code: str, kept: str
) -> None:
    provider.script = [fault, Reply("Now it works.")]
    turn = await stage.ask("Hi")
    assert turn.run is not None
    assert (turn.run.state, turn.run.error_code) == ("failed", code)
    assert turn.run.error_text
    assert await stage.texts(turn) == [("user", "Hi")] + ([("assistant", kept)] if kept else [])
    await stage.retry(turn)
    await stage.settled()
    assert await stage.texts(turn) == [("user", "Hi"), ("assistant", "Now it works.")]


async def test_a_provider_that_never_answers_times_out(stage: Stage, provider: FakeProvider) -> None:
    await read(lambda: Endpoint.objects.update(timeout_seconds=1))
    provider.otherwise = NoAnswer()
    turn = await stage.ask("Hi")
    assert turn.run is not None
    assert (turn.run.state, turn.run.error_code) == ("failed", "timeout")


async def test_a_slow_first_token_is_waited_for(stage: Stage, provider: FakeProvider) -> None:
    gate = threading.Event()
    provider.script = [Reply("At last.", gate=gate)]
    turn = await stage.say("Hi")
    await asyncio.to_thread(provider.wait_for_requests, 1)
    assert (await stage.turn(1)).run.state == "running"  # type: ignore[union-attr]
    gate.set()
    await stage.settled()
    assert await stage.texts(turn) == [("user", "Hi"), ("assistant", "At last.")]


async def test_a_broken_provider_is_given_up_in_the_end(stage: Stage, provider: FakeProvider) -> None:
    provider.otherwise = Status(500, "on fire")
    turn = await stage.ask("Hi")
    assert turn.run is not None
    assert (turn.run.state, turn.run.error_code) == ("failed", "server_error")
    assert "on fire" in turn.run.error_text


async def test_a_busy_provider_is_asked_again(stage: Stage, provider: FakeProvider) -> None:
    provider.script = [Status(429, "slow down", {"Retry-After": "0"}), Status(500, "on fire"), Reply("Here I am.")]
    turn = await stage.ask("Hi")
    assert await stage.texts(turn) == [("user", "Hi"), ("assistant", "Here I am.")]


async def test_a_strict_chat_template_accepts_every_request(stage: Stage, provider: FakeProvider) -> None:
    provider.strict_template = True
    provider.script = [
        Status(401, "no"),
        Reply("One.", ending=CUT),
        Reply("", calls=(Call.of("search_messages", query="x"),)),
    ]
    for text in ("first", "second", "third", "fourth"):
        turn = await stage.ask(text)
    assert turn.run is not None
    assert turn.run.state == "completed"
    assert all(request["messages"][0]["role"] == "system" for request in provider.requests)


async def test_a_failed_turn_stands_in_later_prompts_with_its_message_only(
    stage: Stage, provider: FakeProvider
) -> None:
    provider.script = [Reply("Half", ending=CUT), Reply("Fine.")]
    await stage.ask("first")
    await stage.ask("second")
    [asked] = provider.requests[-1]["messages"][1:]
    today = (await stage.turn(2)).created_at.date()
    notes = f"[Notes for this turn, not from the user]\nToday is {today}. This is turn 2.\n[End of notes]"
    assert asked == {
        "role": "user",
        "content": f"[Conversation from turn 1]\nfirst\n[no reply: this turn failed]\n\n[turn 2]\n{notes}\nsecond",
    }


async def test_stop_takes_effect_while_the_provider_is_silent(stage: Stage, provider: FakeProvider) -> None:
    provider.script = [NoAnswer()]
    turn = await stage.say("Hi")
    # Who stops before the request is sent leaves nobody to hang up on.
    await asyncio.to_thread(provider.wait_for_requests, 1)
    await stage.stop(turn)
    await stage.settled()
    stopped = await stage.turn(1)
    assert stopped.run is not None
    assert stopped.run.state == "stopped"
    provider.gone.wait(30)
    assert provider.gone.is_set()


async def test_stop_keeps_the_text_that_came_and_later_prompts_show_it_as_stopped(
    stage: Stage, provider: FakeProvider
) -> None:
    gate = threading.Event()
    provider.script = [Reply("One two three four", gate=gate, gate_after=2), Reply("Fine.")]
    turn = await stage.say("Count")
    await stage.logged("delta")
    await stage.stop(turn)
    await stage.settled()
    assert await stage.texts(turn) == [("user", "Count"), ("assistant", "One two")]
    await stage.ask("Go on")
    assert provider.requests[-1]["messages"][2] == {"role": "assistant", "content": "One two\n[stopped here]"}


async def test_a_message_sent_meanwhile_waits_and_is_answered_next(stage: Stage, provider: FakeProvider) -> None:
    gate = threading.Event()
    provider.script = [Reply("First answer.", gate=gate), Reply("Second answer.")]
    await stage.say("one")
    await stage.logged("plan.made")
    second = await stage.say("two")
    assert (await read(lambda: Run.objects.filter(state="running").count())) == 1
    gate.set()
    await stage.settled()
    assert await stage.texts(second) == [("user", "two"), ("assistant", "Second answer.")]
    assert provider.requests[-1]["messages"][2]["content"] == "First answer."


async def test_a_message_sent_twice_is_one_turn(stage: Stage) -> None:
    first = await stage.say("Hi", client_id="same")
    second = await stage.say("Hi", client_id="same")
    await stage.settled()
    assert first.pk == second.pk
    assert await read(Turn.objects.count) == 1


async def test_the_clock_counts_completed_turns_only(stage: Stage, provider: FakeProvider) -> None:
    provider.script = [Reply("One."), Status(400, "no"), Reply("Three.")]
    for text in ("a", "b", "c"):
        await stage.ask(text)
    assert await read(lambda: stage.session.branches.get().clock) == 2


async def test_delta_rows_go_when_the_message_stands(stage: Stage, provider: FakeProvider) -> None:
    provider.script = [Reply("word " * 2_000)]
    turn = await stage.ask("Talk")
    assert await read(Event.objects.filter(kind="delta").count) == 0
    assert (await stage.texts(turn))[1][1].split() == ["word"] * 2_000


async def test_usage_is_kept_beside_the_estimate(stage: Stage, provider: FakeProvider) -> None:
    await stage.ask("Hi")
    plan = await read(ContextPlan.objects.get)
    assert (plan.prompt_tokens, plan.cached_tokens, plan.completion_tokens) == (100, 40, 10)
    assert plan.tokens != plan.prompt_tokens


async def test_a_message_over_the_budget_is_kept_unsent_and_can_go_with_its_middle_left_out(
    stage: Stage, provider: FakeProvider
) -> None:
    turn = await stage.ask("word " * 20_000)
    assert turn.run is not None
    assert turn.run.error_code == "over_budget"
    assert turn.run.error_text.startswith("Nothing was sent. Too long: ")
    assert "your message 20,0" in turn.run.error_text
    assert provider.requests == []
    await stage.retry(turn, cut_current=True)
    await stage.settled()
    assert "the middle is not shown" in provider.requests[0]["messages"][-1]["content"]


async def test_what_was_sent_without_its_middle_is_sent_so_again(stage: Stage, provider: FakeProvider) -> None:
    turn = await stage.ask("word " * 20_000)
    provider.script = [Reply("Broken", ending=CUT), Reply("Whole."), Reply("Again.")]
    await stage.retry(turn, cut_current=True)
    await stage.settled()
    await stage.retry(turn)
    await stage.settled()
    main = await read(main_branch, stage.session)
    await write(actions.regenerate, main, 1, actor=stage.session.owner)
    await stage.settled()
    last = [request["messages"][-1]["content"] for request in provider.requests]
    assert ["the middle is not shown" in text for text in last] == [True] * 3


async def test_a_key_that_cannot_be_read_any_more_is_told_and_the_message_is_kept(stage: Stage) -> None:
    ours = Endpoint.objects.filter(owner=stage.session.owner)
    await read(ours.update, key_encrypted="of another secret")
    failed = (await stage.ask("Hello")).run
    assert failed is not None
    assert (failed.state, failed.error_code) == ("failed", "key_unreadable")
    assert "Enter the key again in Settings" in failed.error_text
    await read(ours.update, key_encrypted="")
    answered = (await stage.ask("Hello again")).run
    assert answered is not None
    assert answered.state == "completed"


async def test_a_later_call_that_has_no_room_is_not_told_as_if_nothing_had_been_sent(stage: Stage) -> None:
    turn = await stage.ask("Hi")
    assert turn.run is not None
    lease = await read(Lease.of, turn.run, "x")
    ending = await read(over_budget, lease, RequiredTooLarge((("Tools used in this turn", 4_100),), 4_000))
    assert ending.text == (
        "The next call was not sent; what was said and done before it is kept. "
        "Too long: 4,100 of 4,000 tokens (tools used in this turn 4,100)."
    )


async def test_a_runner_that_goes_down_marks_its_run_interrupted_with_its_text(
    stage: Stage, provider: FakeProvider, runner: Runner
) -> None:
    provider.script = [Reply("One two three", gate=threading.Event(), gate_after=2)]
    turn = await stage.say("Count")
    await stage.logged("delta")
    await runner.go_down()
    interrupted = await stage.turn(1)
    assert interrupted.run is not None
    assert interrupted.run.state == "interrupted"
    assert await stage.texts(turn) == [("user", "Count"), ("assistant", "One two")]


async def test_each_run_keeps_the_correction_that_earlier_calls_of_its_model_taught(
    stage: Stage, provider: FakeProvider, runner: Runner
) -> None:
    for text in ("One", "Two", "Three"):
        await stage.ask(text)
    plans = await read(lambda: list(ContextPlan.objects.select_related("run").order_by("created_at")))
    kept = [plan.run.settings.get("correction") for plan in plans]
    one, two, _ = (round(100 / plan.tokens, 4) for plan in plans)
    assert kept == [None, one, pytest.approx((one + two) / 2, abs=1e-4)]
    # What is counted and what is reported stay apart: a correction changes no plan.
    assert all(plan.prompt_tokens == 100 < plan.tokens for plan in plans)


async def test_a_reply_that_grows_beyond_its_limit_is_stopped_kept_and_told(
    stage: Stage, provider: FakeProvider, settings: Any
) -> None:
    settings.CCM_MODEL_STREAM_BYTES = 50_000
    provider.script = [Reply("word " * 10_000)]
    turn = await stage.ask("Hi")
    assert turn.run is not None
    assert (turn.run.state, turn.run.error_code) == ("failed", "too_large")
    assert "more than 0.0477 MB and was stopped. What came is kept" in turn.run.error_text
    [_, (role, text)] = await stage.texts(turn)
    assert role == "assistant"
    assert set(text.split()) == {"word"}
