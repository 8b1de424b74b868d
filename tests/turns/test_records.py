"""What came of a call is on record, joined to the plan that the call was made from."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

import pytest
from django.contrib.auth.models import User

from efforts import actions
from efforts.context.planning import run_inputs
from efforts.domain.prompt.conversation import ToolCall
from efforts.domain.prompt.planner import plan
from efforts.domain.text.canonical import sha256
from efforts.domain.text.ranking import VERSION
from efforts.models import ContextPlan, Message, RetrievalSet, Run, ToolTrace
from efforts.models.threads import read
from efforts.tools import ToolContext, run_tool
from efforts.turns import recording
from efforts.turns.recording import STOPPED, CallReply, Lease, LeaseLost
from efforts.turns.runner import Runner
from tests.efforts.talk import Talk
from tests.fakes.provider import Call, FakeProvider
from tests.fakes.provider import Reply as Answer
from tests.turns.conftest import Stage


@pytest.fixture
def talk(alice: User) -> Talk:
    return Talk(actions.create_session(alice))


def asking(talk: Talk, text: str, *calls: ToolCall) -> Lease:
    """A running turn whose first call has asked for tools."""
    lease = talk.begin(text)
    recording.record_plan(lease, 1, plan(run_inputs(run_of(lease))))
    recording.record_reply(lease, CallReply(call=1, text="", tool_calls=calls))
    return lease


def run_of(lease: Lease) -> Run:
    return Run.objects.select_related("turn__session", "branch__parent").get(pk=lease.run_id)


def answer(lease: Lease, call: ToolCall) -> str:
    return recording.run_and_record(lease, 1, call, partial(run_tool, call, ToolContext(run=run_of(lease))))


def call(number: int, name: str, /, **arguments: Any) -> ToolCall:
    return ToolCall(id=f"c{number}", name=name, arguments=json.dumps(arguments))


def search(talk: Talk, query: str, tool: str = "search_messages") -> RetrievalSet:
    before = set(RetrievalSet.objects.values_list("pk", flat=True))
    talk.ask("Look.", (tool, {"query": query}))
    return RetrievalSet.objects.exclude(pk__in=before).get()


def test_a_tool_that_ran_is_traced_with_its_result_and_its_plan(talk: Talk) -> None:
    asked = call(1, "open_effort", name="Tax return")
    lease = asking(talk, "Open it.", asked)
    result = answer(lease, asked)
    trace = ToolTrace.objects.get()
    assert (trace.name, trace.tool_call_id, trace.error) == ("open_effort", "c1", "")
    assert (trace.arguments_sha256, trace.result_sha256) == (sha256(asked.arguments), sha256(result))
    assert trace.plan == ContextPlan.objects.get(run=lease.run_id, call=1)
    assert (trace.run_id, trace.message.text) == (lease.run_id, result)
    assert trace.elapsed_ms is not None


def test_a_tool_that_was_refused_is_traced_with_what_the_model_was_told(talk: Talk) -> None:
    asked = call(1, "reopen_effort", id="nothing")
    answer(asking(talk, "Reopen it.", asked), asked)
    assert "There is no effort" in ToolTrace.objects.get().error


def test_a_tool_that_never_ran_is_traced_too(talk: Talk) -> None:
    ran, waits = call(1, "effort_status"), call(2, "open_effort", name="Bug")
    lease = asking(talk, "Do both.", ran, waits)
    answer(lease, ran)
    recording.end_run(lease, STOPPED)
    first, second = ToolTrace.objects.all()
    assert (first.elapsed_ms is None, second.elapsed_ms) == (False, None)
    assert second.error == "Not run: the turn ended before."
    assert second.plan == first.plan == ContextPlan.objects.get()


def test_a_lost_lease_leaves_no_trace(talk: Talk) -> None:
    asked = call(1, "search_messages", query="harbour")
    lease = asking(talk, "Search.", asked)
    Run.objects.filter(pk=lease.run_id).update(lease_owner="another")
    with pytest.raises(LeaseLost):
        answer(lease, asked)
    assert not ToolTrace.objects.exists()
    assert not RetrievalSet.objects.exists()


def test_a_search_is_kept_as_it_ranked(talk: Talk) -> None:
    talk.ask("We sail from the harbour of Kiel.")
    talk.ask("Kiel is in the north.")
    asked = call(1, "search_messages", query="harbour Kiel")
    lease = asking(talk, "Where from?", asked)
    answer(lease, asked)
    found = RetrievalSet.objects.get()
    assert (found.trigger, found.query, found.query_hash) == ("tool", "harbour Kiel", sha256("harbour Kiel"))
    assert found.plan == ContextPlan.objects.get(run=lease.run_id)
    assert (found.strategy, found.found) == (f"exchanges/passages/{VERSION}", 2)
    assert found.snapshot == Message.objects.filter(turn__number=2).latest("id").pk
    said = found.items.filter(message__role="user")
    assert list(said.values_list("rank", "turn__number", "why")) == [
        (1, 1, ["Has 2 of 2 words: harbour, Kiel."]),
        (2, 2, ["Has 1 of 2 words: Kiel.", "Stands beside harbour."]),
    ]
    scores = list(found.items.values_list("score", flat=True))
    assert scores == sorted(scores, reverse=True)


def test_a_search_of_efforts_is_kept_with_where_the_words_stood(talk: Talk) -> None:
    talk.concluded("Payment webhook", "The signature has expired.")
    found = search(talk, "payment signature", "search_efforts")
    assert list(found.items.values_list("effort__slug", "turn__number", "why")) == [
        ("payment-webhook", 1, ["Its name has payment.", "Has 1 of 2 words: signature."])
    ]


@pytest.mark.parametrize("tool", ["search_messages", "search_efforts"])
def test_the_same_query_at_the_same_snapshot_has_the_same_result(talk: Talk, tool: str) -> None:
    talk.concluded("Payment webhook", "The signature has expired.")
    lease = talk.begin("Look twice.")
    for _ in range(2):
        talk.call(lease, tool, query="payment signature")
    first, second = RetrievalSet.objects.all()
    assert same_question(first) == same_question(second)
    assert first.result_hash == second.result_hash


def test_another_log_is_another_snapshot_with_another_result(talk: Talk) -> None:
    talk.ask("The signature has expired.")
    first = search(talk, "signature")
    talk.ask("What is a signature?")
    second = search(talk, "signature")
    assert first.snapshot < second.snapshot
    assert first.result_hash != second.result_hash


def test_a_renamed_effort_is_told_apart_at_the_same_snapshot(talk: Talk) -> None:
    talk.concluded("Payment webhook", "The signature has expired.")
    lease = talk.begin("Look twice.")
    talk.call(lease, "search_efforts", query="payment")
    actions.rename_effort(talk.place, "payment-webhook", "Payment hook")
    talk.call(lease, "search_efforts", query="payment")
    first, second = RetrievalSet.objects.all()
    assert first.snapshot == second.snapshot
    assert first.params != second.params


def same_question(row: RetrievalSet) -> tuple[Any, ...]:
    return row.query_hash, row.snapshot, row.strategy, row.params, row.branch_id


def test_a_search_that_finds_nothing_is_kept_too(talk: Talk) -> None:
    found = search(talk, "zebra")
    assert (found.found, found.items.count(), found.snapshot) == (0, 0, 0)


@pytest.mark.django_db(transaction=True)
async def test_each_tool_belongs_to_the_plan_that_asked_for_it(
    stage: Stage, provider: FakeProvider, runner: Runner
) -> None:
    provider.script = [
        Answer("", calls=(Call.of("search_messages", query="harbour"), Call("nonsense", "{}"))),
        Answer("", calls=(Call.of("effort_status"),)),
        Answer("Nothing found."),
    ]
    turn = await stage.ask("Where do we sail from?")

    def asked() -> list[tuple[str, int]]:
        traces = ToolTrace.objects.filter(run=turn.run).select_related("plan")
        return [(trace.name, trace.plan.call) for trace in traces if trace.plan]

    assert await read(asked) == [("search_messages", 1), ("nonsense", 1), ("effort_status", 2)]
    assert await read(RetrievalSet.objects.values_list("plan__call", flat=True).get) == 1
