"""Why something is in a prompt, or out of it, in words for people; and what models are told of it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from efforts.domain.effort.states import RunState
from efforts.domain.prompt.budget import Budget
from efforts.domain.prompt.conversation import CurrentTurn, PastTurn
from efforts.domain.prompt.plan import Item, LayerCut, Plan
from efforts.domain.prompt.planner import plan
from efforts.domain.prompt.reasons import REMEDIES, SENTENCES, Reason
from tests.fakes.provider import template_fault
from tests.planner.examples import about, asked_in, turn
from tests.planner.strategies import Log

VALUES = {
    "window": 10,
    "until": "for good",
    "cap": "4,000",
    "why": "It names the port.",
    "most": 8,
    "name": "port",
    "after": 20,
    "listed": 2,
    "count": 3,
}


@pytest.mark.parametrize("reason", Reason)
def test_every_reason_is_a_sentence(reason: Reason) -> None:
    item = Item(section="ambient", title="", tokens=1_234, reason=reason, included=False, values=VALUES)
    for text in filter(None, (item.sentence, item.remedy)):
        assert text[0].isupper()
        assert text.endswith(".")
        assert not set("{}") & set(text)


def test_the_vocabulary_is_closed() -> None:
    assert set(SENTENCES) == set(Reason)
    assert set(REMEDIES) < set(Reason)


def reasons(planned: Plan) -> dict[str, Reason]:
    return {item.title: item.reason for item in planned.items}


def test_turns_of_one_decision_are_one_item(log: Log) -> None:
    planned = plan(about(log, [turn(log, number) for number in range(1, 31)], ambient_window=5))
    assert reasons(planned) == {
        "System text and tools": Reason.REQUIRED,
        "Turns up to 25": Reason.OUTSIDE_AMBIENT_WINDOW,
        "Turns 26-30": Reason.AMBIENT_WINDOW,
        "Your message": Reason.CURRENT_MESSAGE,
    }


def test_one_turn_that_has_left_is_named_as_one(log: Log) -> None:
    planned = plan(about(log, [turn(log, number) for number in (1, 2)], ambient_window=1))
    assert list(reasons(planned))[1:3] == ["Turn 1", "Turn 2"]
    said = [item.sentence for item in planned.items[1:3]]
    assert said == ["Older than the last turn.", "The last turn outside any effort."]


def test_what_does_not_fit_the_budget_says_so_and_later_that_it_stays_out(log: Log) -> None:
    # Each turn is short of what may be cut; together they are more than fits.
    turns = [turn(log, number, "word " * 400, "word " * 400) for number in range(1, 6)]
    first = plan(about(log, turns, budget=4_000))
    out = [item for item in first.items if not item.included]
    assert [item.reason for item in out] == [Reason.OVER_BUDGET]
    assert out[0].remedy.startswith(f"Needs {out[0].tokens:,} more tokens")
    again = plan(about(log, turns, budget=4_000, layout=first.layout))
    assert reasons(again)[out[0].title] == Reason.BEFORE_FIRST_KEPT


def test_a_large_old_message_is_cut_before_a_turn_is_left_out(log: Log) -> None:
    turns = [turn(log, 1, "Read this.", "line\n" * 4_000), turn(log, 2)]
    planned = plan(about(log, turns, budget=4_000))
    assert reasons(planned)["Turn 1"] == Reason.CUT_TO_FIT
    assert reasons(planned)["Turn 2"] == Reason.AMBIENT_WINDOW
    reply = planned.request["messages"][2]["content"]
    assert "[… 5,000 tokens in all, the middle is not shown. read_message(2) shows it.]" in reply
    assert planned.layout.cuts == {"": LayerCut(cut_through=2)}


def test_where_a_cancelled_message_left_a_gap_the_next_turn_is_labelled_so_that_it_can_be_cited(log: Log) -> None:
    turns = [turn(log, 1, "One", "1"), turn(log, 2, "Two", "2"), turn(log, 4, "Four", "4")]
    sent = [message["content"] for message in plan(about(log, turns)).request["messages"]]
    assert sent[1:6:2] == ["[Conversation from turn 1]\nOne", "[turn 2]\nTwo", "[Conversation from turn 4]\nFour"]


def test_the_stub_names_turns_tokens_and_the_tool_that_brings_them_back(log: Log) -> None:
    turns = [turn(log, number) for number in range(1, 13)]
    tokens = turns[0].cost + turns[1].cost
    sent = plan(about(log, turns)).request["messages"][1]["content"]
    assert sent.splitlines()[:2] == [
        "[Conversation from turn 3]",
        f"[Turns of no effort up to 2 ({tokens} tokens) are not shown. search_messages finds what was said there.]",
    ]


def test_with_a_window_of_none_the_stub_stands_as_a_note_before_the_message(log: Log) -> None:
    planned = plan(about(log, [turn(log, 1)], ambient_window=0))
    assert [message["role"] for message in planned.request["messages"]] == ["system", "user"]
    lines = planned.request["messages"][1]["content"].splitlines()
    assert lines[:2] == asked_in(2).splitlines()[:2]
    assert "[Turns of no effort up to 1 (" in lines[3]
    assert lines[4:] == ["[End of notes]", "Go on."]


def test_a_stopped_turn_stands_with_its_text_and_is_marked(log: Log) -> None:
    planned = plan(about(log, [turn(log, 1, "Count", "One, two", RunState.STOPPED)]))
    assert planned.request["messages"][2] == {"role": "assistant", "content": "One, two\n[stopped here]"}


def test_a_turn_stopped_before_the_first_word_says_so(log: Log) -> None:
    planned = plan(about(log, [turn(log, 1, "Count", "", RunState.STOPPED)]))
    sent = planned.request["messages"][1]["content"]
    assert sent == f"[Conversation from turn 1]\nCount\n[no reply: this turn was stopped]\n\n{asked_in(2)}Go on."


def test_a_turn_stopped_after_a_tool_leaves_the_result_as_it_is_and_the_assistant_says_where_it_ended(log: Log) -> None:
    messages = (log.said("user", "Look it up."), *log.episode("", ['{"matches":[]}']))
    planned = plan(about(log, [PastTurn(number=1, state=RunState.STOPPED, messages=messages)]))
    sent = planned.request["messages"]
    assert [message["content"] for message in sent[3:]] == ['{"matches":[]}', "[stopped here]", f"{asked_in(2)}Go on."]
    assert template_fault(sent) == ""


@pytest.mark.parametrize("state", [RunState.FAILED, RunState.INTERRUPTED])
def test_a_failed_turn_shows_the_users_message_only(log: Log, state: RunState) -> None:
    planned = plan(about(log, [turn(log, 1, "Count", "One, two", state)]))
    sent = planned.request["messages"]
    assert len(sent) == 2
    assert (
        sent[1]["content"]
        == f"[Conversation from turn 1]\nCount\n[no reply: this turn {planned_word(state)}]\n\n{asked_in(2)}Go on."
    )


def planned_word(state: RunState) -> str:
    return {RunState.FAILED: "failed", RunState.INTERRUPTED: "was interrupted"}[state]


def test_failed_turns_in_a_row_take_nothing_from_the_share_of_this_turn(log: Log) -> None:
    turns = [turn(log, number, "Hi", "", RunState.FAILED) for number in range(1, 9)]
    planned = plan(about(log, turns, message="word " * 20))
    assert planned.sections["turn"] >= 25
    assert sum(planned.sections.values()) == planned.tokens


def test_results_of_this_turns_tools_are_whole_and_are_counted_as_its_own(log: Log) -> None:
    user, episodes = log.said("user", "Look."), log.episode("", ["found " * 1_000])
    planned = plan(about(log, current=CurrentTurn(number=1, user=user, episodes=tuple(episodes))))
    assert planned.request["messages"][-1]["content"] == "found " * 1_000
    assert reasons(planned)["Tools used in this turn"] == Reason.TOOL_EPISODE


def working(log: Log, number: int, calls: int) -> PastTurn:
    """A turn whose calls of tools gave as much as may not be cut."""
    said = [log.said("user", "Look everywhere.")]
    for _ in range(calls):
        said += log.episode("", ["", "word" * 600], name="record")
    return PastTurn(number=number, state=RunState.COMPLETED, messages=(*said, log.said("assistant", "Done.")))


def test_a_turn_too_large_by_itself_is_shown_without_its_oldest_tool_calls(log: Log) -> None:
    inputs = about(log, [working(log, 1, 6)], budget=4_000)
    planned = plan(inputs)
    assert reasons(planned)["Turn 1"] == Reason.WITHOUT_TOOL_CALLS
    [out] = [item for item in planned.items if item.reason == Reason.TOOL_CALLS_OVER_BUDGET]
    assert out.remedy == f"Needs {out.tokens:,} more tokens: raise the budget in the settings."
    sent = planned.request["messages"]
    assert sent[1]["content"].startswith("[Conversation from turn 1]\nLook everywhere.\n[… ")
    assert "tool calls of this turn" in sent[1]["content"]
    shown = [message for message in sent if message["role"] == "tool"]
    assert 2 <= len(shown) < 12
    assert sent[-2]["content"] == "Done."
    # The next call keeps what stands: the prompt grows at its end.
    again = plan(replace(inputs, layout=planned.layout))
    assert again.request == planned.request
    # With room for all of it nothing is left out.
    assert reasons(plan(replace(inputs, budget=Budget(setting=16_000))))["Turn 1"] == Reason.AMBIENT_WINDOW


def test_a_turn_that_is_too_large_even_so_is_left_out_whole(log: Log) -> None:
    planned = plan(about(log, [turn(log, 1, "word " * 590, "word " * 590)], budget=4_000, message="word " * 1_600))
    assert reasons(planned)["Turn 1"] == Reason.OVER_BUDGET
