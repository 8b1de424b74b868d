"""A reply that a limit cuts off, whoever set it; how it goes on; and models that think, or fall silent."""

from __future__ import annotations

import json
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command

from efforts import actions
from efforts.context.plans import replay
from efforts.context.replanning import plan_again
from efforts.domain.errors import Refused
from efforts.domain.prompt.assembly import GO_ON
from efforts.domain.prompt.rendering import MARKS
from efforts.domain.text.canonical import request_sha256
from efforts.models import Branch, ContextPlan, Endpoint, Event, Message, Passage, Session, Thinking, Turn
from efforts.models.threads import read, write
from tests.fakes.provider import CUT, Call, FakeProvider, Reply, words
from tests.turns.conftest import Stage

pytestmark = pytest.mark.usefixtures("runner")

POEM = "The sea is calm tonight, the tide is full, the moon lies fair upon the straits."


def limited(text: str, *, ignores: bool = False) -> Any:
    """A provider that keeps to the limit it is sent, a token being a word; or does not."""

    def answer(request: dict[str, Any]) -> Reply:
        most = request.get("max_tokens")
        pieces = words(text)
        if ignores or most is None or len(pieces) <= most:
            return Reply(text)
        return Reply("".join(pieces[:most]), finish_reason="length")

    return answer


async def set_up(stage: Stage, **changes: Any) -> None:
    await write(actions.configure_session, stage.session, actor=stage.session.owner, **changes)


async def go_on(stage: Stage, turn: Turn) -> Turn:
    await write(actions.continue_reply, turn, actor=stage.session.owner)
    await stage.settled()
    return await stage.turn(turn.number)


async def cut_turn(stage: Stage, provider: FakeProvider, text: str = "The sea is ca") -> Turn:
    provider.script = [Reply(text, finish_reason="length")]
    return await stage.ask("A poem, please.")


async def test_without_a_setting_no_limit_and_no_temperature_is_sent(stage: Stage, provider: FakeProvider) -> None:
    await stage.ask("Hi")
    assert provider.requests[0].keys() == {"model", "stream", "stream_options", "messages", "tools"}


async def test_limit_and_temperature_of_the_conversation_are_sent(stage: Stage, provider: FakeProvider) -> None:
    await set_up(stage, reply_limit=500, temperature=0.5)
    await stage.ask("Hi")
    assert (provider.requests[0]["max_tokens"], provider.requests[0]["temperature"]) == (500, 0.5)


async def test_the_limit_of_the_connection_holds_where_the_conversation_has_none(
    stage: Stage, provider: FakeProvider
) -> None:
    await write(lambda: Endpoint.objects.update(reply_limit=700))
    stage.session = await read(Session.objects.select_related("endpoint", "owner").get, pk=stage.session.pk)
    await stage.ask("Hi")
    await set_up(stage, reply_limit=300)
    await stage.ask("And now?")
    assert [request["max_tokens"] for request in provider.requests] == [700, 300]


async def test_a_provider_that_keeps_to_the_limit_leaves_a_reply_that_is_known_to_be_cut(
    stage: Stage, provider: FakeProvider
) -> None:
    await set_up(stage, reply_limit=16)
    provider.script = [limited(POEM * 2)]
    turn = await stage.ask("A poem, please.")
    assert turn.run is not None
    assert (turn.run.state, turn.run.finish_reason) == ("completed", "length")
    assert (await stage.texts(turn))[-1] == ("assistant", "".join(words(POEM * 2)[:16]))


async def test_a_provider_that_ignores_the_limit_is_taken_at_its_word(stage: Stage, provider: FakeProvider) -> None:
    await set_up(stage, reply_limit=16)
    provider.script = [limited(POEM * 2, ignores=True)]
    turn = await stage.ask("A poem, please.")
    assert turn.run is not None
    assert (turn.run.finish_reason, (await stage.texts(turn))[-1][1]) == ("stop", POEM * 2)
    with pytest.raises(Refused, match="not cut off"):
        await go_on(stage, turn)


async def test_later_prompts_say_that_a_reply_was_cut_off(stage: Stage, provider: FakeProvider) -> None:
    await cut_turn(stage, provider)
    await stage.ask("Thanks.")
    said = [message["content"] for message in provider.requests[-1]["messages"] if message["role"] == "assistant"]
    assert said == [f"The sea is ca\n{MARKS['cut_off']}"]


@pytest.mark.parametrize("at", range(1, len(POEM) - 1, 11))
async def test_a_reply_goes_on_where_it_was_cut_and_is_one_text_in_every_later_prompt(
    stage: Stage, provider: FakeProvider, at: int
) -> None:
    turn = await cut_turn(stage, provider, POEM[:at])
    provider.script = [Reply(POEM[at:], usage=None)]
    turn = await go_on(stage, turn)
    assert turn.run is not None
    assert (turn.run.state, turn.run.finish_reason, turn.run.attempt) == ("completed", "stop", 1)
    messages = provider.requests[-1]["messages"]
    assert [(one["role"], one["content"]) for one in messages[-2:]] == [("assistant", POEM[:at]), ("user", GO_ON)]
    await stage.ask("Thanks.")
    said = [one["content"] for one in provider.requests[-1]["messages"] if one["role"] == "assistant"]
    assert said == [POEM]


async def test_what_goes_on_has_a_plan_of_its_own_that_renders_and_is_made_again(
    stage: Stage, provider: FakeProvider
) -> None:
    turn = await cut_turn(stage, provider)
    provider.script = [Reply("lm tonight.")]
    await go_on(stage, turn)
    await stage.ask("Thanks.")
    plans = await read(lambda: list(ContextPlan.objects.order_by("created_at").select_related("session", "branch")))
    assert [(plan.run_id == plans[0].run_id, plan.call) for plan in plans] == [(True, 1), (True, 2), (False, 1)]
    assert [plan.request_sha256 for plan in plans] == [request_sha256(request) for request in provider.requests]
    assert [await read(replay, plan) for plan in plans] == provider.requests
    assert all([(await read(plan_again, plan)).same for plan in plans])


async def test_a_turn_that_goes_on_counts_once(stage: Stage, provider: FakeProvider) -> None:
    turn = await cut_turn(stage, provider)
    provider.script = [Reply("lm tonight,", finish_reason="length"), Reply(" the tide is full.")]
    await go_on(stage, turn)
    await go_on(stage, turn)
    branch = await read(Branch.objects.get, session=stage.session)
    assert (branch.clock, branch.head) == (1, 1)
    rows = await read(lambda: list(Message.objects.filter(role="assistant").order_by("pk")))
    assert [(row.text, row.continues) for row in rows] == [
        ("The sea is ca", False),
        ("lm tonight,", True),
        (" the tide is full.", True),
    ]
    ended = await read(lambda: list(Event.objects.filter(kind="run.queued").values_list("data__continued", flat=True)))
    assert ended == [True, True]


async def test_what_breaks_off_while_it_goes_on_is_kept_and_can_go_on_again(
    stage: Stage, provider: FakeProvider
) -> None:
    turn = await cut_turn(stage, provider)
    provider.script = [Reply("lm tonight,", ending=CUT)]
    turn = await go_on(stage, turn)
    assert turn.run is not None
    assert (turn.run.state, turn.run.finish_reason, turn.run.error_code) == ("completed", "length", "broken_stream")
    assert (await stage.texts(turn))[-2:] == [("assistant", "The sea is ca"), ("assistant", "lm tonight,")]
    provider.script = [Reply(" the tide is full.")]
    turn = await go_on(stage, turn)
    assert turn.run is not None
    assert (turn.run.finish_reason, turn.run.error_text) == ("stop", "")


async def test_a_model_with_nothing_to_add_had_said_all(stage: Stage, provider: FakeProvider) -> None:
    turn = await cut_turn(stage, provider)
    provider.script = [Reply("")]
    turn = await go_on(stage, turn)
    assert turn.run is not None
    assert (turn.run.state, turn.run.finish_reason, turn.run.error_text) == ("completed", "stop", "")


async def test_a_reply_goes_on_by_the_model_that_answers_now(stage: Stage, provider: FakeProvider) -> None:
    turn = await cut_turn(stage, provider)
    other = Endpoint(owner=stage.session.owner, name="other", base_url=provider.url, model="other-1")
    await write(other.save)
    await set_up(stage, endpoint=other)
    provider.script = [Reply("lm tonight.")]
    turn = await go_on(stage, turn)
    assert provider.requests[-1]["model"] == "other-1"
    assert turn.run is not None
    assert turn.run.settings["label"] == "other-1 · other"


async def test_only_the_last_reply_goes_on(stage: Stage, provider: FakeProvider) -> None:
    turn = await cut_turn(stage, provider)
    await stage.ask("Thanks.")
    with pytest.raises(Refused, match="Only the last reply"):
        await go_on(stage, turn)


async def test_a_call_that_may_have_been_cut_short_is_not_run(stage: Stage, provider: FakeProvider) -> None:
    provider.script = [
        Reply(
            calls=(Call("open_effort", '{"name": "Boat"}', id="a"), Call("close_effort", "", id="b")),
            finish_reason="length",
        ),
        Reply("The boat it is."),
    ]
    turn = await stage.ask("We plan the boat.")
    results = [message["content"] for message in provider.requests[-1]["messages"] if message["role"] == "tool"]
    assert "error" not in json.loads(results[0])
    assert "cut off at its limit" in json.loads(results[1])["error"]
    assert turn.run is not None
    assert turn.run.state == "completed"


async def test_a_model_that_falls_silent_after_a_tool_is_asked_once_more_without_tools(
    stage: Stage, provider: FakeProvider
) -> None:
    provider.script = [Reply(calls=(Call.of("effort_status"),)), Reply(" "), Reply("Nothing is open.")]
    turn = await stage.ask("What is open?")
    assert [("tools" in request) for request in provider.requests] == [True, True, False]
    assert (await stage.texts(turn))[-1] == ("assistant", "Nothing is open.")


async def test_a_model_that_stays_silent_fails_the_turn(stage: Stage, provider: FakeProvider) -> None:
    provider.script = [Reply(calls=(Call.of("effort_status"),)), Reply(""), Reply("")]
    turn = await stage.ask("What is open?")
    assert turn.run is not None
    assert (turn.run.state, turn.run.error_code, len(provider.requests)) == ("failed", "empty_reply", 3)


@pytest.mark.parametrize("name", ["reasoning_content", "reasoning", "think"])
async def test_thinking_is_stored_beside_the_reply_and_enters_no_prompt_and_no_index(
    stage: Stage, provider: FakeProvider, name: str
) -> None:
    provider.script = [Reply("Hello.", thinking="They greet me in xylophone.", thinking_as=name)]
    turn = await stage.ask("Hi")
    assert (await stage.texts(turn))[-1] == ("assistant", "Hello.")
    thought = await read(Thinking.objects.get)
    assert (thought.text, thought.run_id, thought.call) == ("They greet me in xylophone.", turn.run_id, 1)
    await stage.ask("And now?")
    assert b"xylophone" not in b"".join(provider.bodies)
    assert not await read(lambda: Passage.objects.filter(terms__contains="xylophon").exists())
    assert not await read(lambda: Event.objects.filter(kind__in=["delta", "thinking"]).exists())


async def test_a_limit_that_thinking_used_up_says_so_and_offers_a_larger_one(
    stage: Stage, provider: FakeProvider
) -> None:
    await set_up(stage, reply_limit=100)
    provider.script = [Reply("", thinking="Let me see, and see, and", finish_reason="length"), Reply("Hello.")]
    turn = await stage.ask("Hi")
    assert turn.run is not None
    assert (turn.run.state, turn.run.error_code) == ("failed", "cut_before_reply")
    await stage.retry(turn, reply_limit=400)
    await stage.settled()
    assert [request["max_tokens"] for request in provider.requests] == [100, 400]
    assert (await stage.texts(turn))[-1] == ("assistant", "Hello.")


async def test_thinking_of_a_stopped_turn_is_kept_and_adds_no_empty_message(
    stage: Stage, provider: FakeProvider
) -> None:
    provider.script = [Reply("", thinking="Let me see, and", ending=CUT)]
    turn = await stage.ask("Hi")
    assert await stage.texts(turn) == [("user", "Hi")]
    assert (await read(Thinking.objects.get)).text == "Let me see, and"


async def test_what_went_on_is_whole_and_its_plans_are_made_again(stage: Stage, provider: FakeProvider) -> None:
    turn = await cut_turn(stage, provider)
    provider.script = [Reply("lm tonight.")]
    await go_on(stage, turn)
    await stage.ask("And then?")
    for command in (("verify_plans", "--plan-again"), ("check_integrity",)):
        # It ends with 1 where anything is wrong.
        await read(call_command, *command, stdout=StringIO())


async def test_words_put_into_what_went_on_are_found(stage: Stage, provider: FakeProvider) -> None:
    turn = await cut_turn(stage, provider)
    provider.script = [Reply("lm tonight.")]
    await go_on(stage, turn)
    await read(Message.objects.filter(text="lm tonight.").update, text="ttle at night.")
    out = StringIO()
    with pytest.raises(SystemExit):
        await read(call_command, "verify_plans", stdout=out)
    assert "turn 1: what was said in it is not what it ended with" in out.getvalue()
