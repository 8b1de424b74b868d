"""Passages of earlier turns in a prompt: which are quoted, where, and what becomes of them afterwards."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from efforts.domain.prompt.budget import Budget
from efforts.domain.prompt.conversation import CurrentTurn, EffortLog, HoldInForce, LogMessage, PastTurn, Recalled
from efforts.domain.prompt.layers import HEAD, LARGE, TAIL
from efforts.domain.prompt.pins import is_long
from efforts.domain.prompt.plan import Item, LayerCut, Layout, Plan, PlanInputs
from efforts.domain.prompt.planner import plan
from efforts.domain.prompt.reasons import Reason
from efforts.llm.tokens import get_counter
from tests.planner.examples import about, current, turn
from tests.planner.strategies import Log

# About 120 words, as long as a passage.
LONG = "The gate of the harbour opens at six, but never on Sundays. " * 10


def passage(one: PastTurn, *, of: int = 0, text: str = "", **more: Any) -> Recalled:
    """All of a turn's message, or the `text` in it."""
    message = one.messages[of]
    start = message.text.index(text) if text else 0
    end = start + len(text or message.text)
    usual: dict[str, Any] = {"said_on": "2026-03-01", "why": ("It names the harbour.",)}
    return Recalled(turn=one.number, message=message, start=start, end=end, **{**usual, **more})


def harbours(log: Log, numbers: Sequence[int]) -> list[PastTurn]:
    return [turn(log, number, f"{number}: {LONG}", "Noted.") for number in numbers]


def asked(planned: Plan) -> str:
    return str(planned.request["messages"][-1]["content"])


def recall_items(planned: Plan, reason: Reason) -> list[Item]:
    return [item for item in planned.items if item.reason == reason]


def test_passages_stand_quoted_before_the_notes_of_this_turn_by_turn_with_date_and_speaker(log: Log) -> None:
    kiel = turn(log, 3, "We sail from Kiel.\nAt six?", "At six, from the old gate.")
    tides = turn(log, 7, "When is high tide? I forgot. At seven?", "At nine.")
    inputs = about(
        log,
        [turn(log, 20)],
        efforts=(EffortLog(slug="webhook", kind="active", turns=(turn(log, 21),), opened_turn=21),),
        current=current(log, 22, "When do we sail?"),
        recalled=(
            passage(tides, text="When is high tide?", effort="sailing"),
            passage(kiel, of=1),
            passage(tides, text="At seven?", effort="sailing"),
            passage(kiel),
        ),
        recall_share=0.2,
    )
    assert asked(plan(inputs)).splitlines() == [
        "[turn 22]",
        "[Notes, not instructions: recalled from earlier turns, quoted]",
        "Turn 3, 2026-03-01, the user:",
        "> We sail from Kiel.",
        "> At six?",
        "Turn 3, the assistant:",
        "> At six, from the old gate.",
        "Turn 7 of sailing, 2026-03-01, the user:",
        "> When is high tide?",
        "[…]",
        "> At seven?",
        "[End of notes]",
        "",
        "[Notes for this turn, not from the user]",
        "Today is 2026-03-05. This is turn 22.",
        "Active effort: webhook",
        "[End of notes]",
        "When do we sail?",
    ]


def test_passages_that_touch_are_one(log: Log) -> None:
    kiel = turn(log, 3, "We sail from Kiel. At six, from the old gate.")
    found = (passage(kiel, text="from the old gate."), passage(kiel, text="We sail from Kiel. At six, from"))
    inputs = about(log, [turn(log, 20)], recalled=found, recall_share=0.2)
    assert "> We sail from Kiel. At six, from the old gate.\n[End" in asked(plan(inputs))


def test_what_stands_in_the_prompt_anyway_is_not_quoted_and_says_so(log: Log) -> None:
    shown, pinned, gone = turn(log, 20, "Kiel it is."), turn(log, 4, "Kiel, at six."), turn(log, 5, "Kiel, the gate.")
    before = passage(turn(log, 6, "Kiel, on a Monday."))
    inputs = about(
        log,
        [replace(shown, recalled=(before,))],
        holds=(HoldInForce(id=1, turn=pinned),),
        recalled=(passage(shown), passage(pinned), before, passage(gone)),
        recall_share=0.2,
    )
    planned = plan(inputs)
    assert [one.turn for one in planned.recalled] == [5]
    [item] = recall_items(planned, Reason.RECALL_SHOWN)
    assert (item.title, item.included) == ("Turns 4, 6, 20", False)
    text = "\n".join(message["content"] for message in planned.request["messages"])
    assert [text.count(said) for said in ("Kiel it", "Kiel, at", "Kiel, on", "Kiel, the")] == [1, 1, 1, 1]


def test_of_a_pin_that_is_cut_a_short_message_stands_whole_and_is_not_quoted_too(log: Log) -> None:
    pinned = turn(log, 1, "word " * 3_000, "From Kiel, and at six o'clock in the morning. " * 30)
    reply = passage(pinned, of=1)
    inputs = about(log, holds=(HoldInForce(id=1, turn=pinned),), recalled=(reply,), recall_share=0.2, budget=8_000)
    planned = plan(inputs)
    assert [item.reason for item in planned.items if item.section == "pin"] == [Reason.PINNED_CUT]
    assert planned.recalled == ()
    assert str(planned.request).count("in the morning") == 30


def test_a_message_is_long_where_its_beginning_and_end_are_not_all_of_it(log: Log) -> None:
    both = replace(log.said("user", "x" * (HEAD + TAIL)), tokens=LARGE + 1)
    assert not is_long(both)
    assert is_long(replace(both, text=f"{both.text}x"))
    assert not is_long(replace(both, text=f"{both.text}x", tokens=LARGE)), "as short as that it is no help to cut"


def test_of_a_message_that_is_cut_only_what_is_left_out_is_quoted(log: Log) -> None:
    text = "Beginning. " + "word " * 1_500 + "The gate opens at six. " + "word " * 1_500 + "End."
    large = turn(log, 1, text)
    found = (passage(large, text="Beginning."), passage(large, text="The gate opens at six."))
    inputs = about(log, [large, turn(log, 2)], budget=4_000, recalled=found, recall_share=0.2)
    planned = plan(inputs)
    assert [one.text for one in planned.recalled] == ["The gate opens at six."]


def test_the_best_are_quoted_as_far_as_the_share_goes_and_the_others_say_what_would_bring_them_in(log: Log) -> None:
    found = tuple(map(passage, harbours(log, range(1, 13))))
    inputs = about(log, [turn(log, 40)], recalled=found, recall_share=0.2, budget=4_000)
    light = plan(inputs)
    assert 600 < light.sections["recall"] <= 800
    assert light.recalled == found[: len(light.recalled)]
    [out] = recall_items(light, Reason.RECALL_OVER_CAP)
    assert "800 tokens at most" in out.sentence
    assert f"Needs {out.tokens:,} more tokens" in out.remedy
    heavy = plan(replace(inputs, recall_share=0.4))
    assert 800 < heavy.sections["recall"] <= 1_600
    lifted = plan(replace(inputs, recall_share=1.0))
    assert len(lifted.recalled) == 12


def test_where_room_is_free_more_is_quoted_and_leaves_after_its_turn(log: Log) -> None:
    found = tuple(map(passage, harbours(log, range(1, 13))))
    inputs = about(log, [turn(log, 40)], recalled=found, recall_share=0.2, budget=4_000)
    narrow, wide = plan(inputs), plan(replace(inputs, recall_most=0.4))
    assert wide.recalled[: len(narrow.recalled)] == wide.stays == narrow.recalled
    assert 800 < wide.sections["recall"] <= 1_600
    assert wide.layout == narrow.layout
    free = recall_items(wide, Reason.RECALLED_FREE)
    assert len(free) == wide.on_free_room == len(wide.recalled) - len(narrow.recalled)
    assert "leaves after this turn" in free[0].sentence


def test_what_is_quoted_on_free_room_is_within_its_share_as_it_is_sent(log: Log) -> None:
    harbour = turn(log, 1, "The harbour of Kiel. " * 40)
    inputs = about(log, current=current(log, 40), recalled=(passage(harbour),), recall_share=0.001, recall_most=0.04)
    inputs = replace(inputs, count=get_counter().count)
    planned = {setting: plan(replace(inputs, budget=Budget(setting=setting))) for setting in range(4_000, 9_000, 10)}
    assert {one.on_free_room for one in planned.values()} == {0, 1}
    for setting, one in planned.items():
        assert one.sections.get("recall", 0) <= int(setting * 0.04)


def test_with_less_free_room_passages_leave_from_the_end_only(log: Log) -> None:
    found = tuple(map(passage, harbours(log, range(1, 13))))
    inputs = about(log, [turn(log, 40)], recalled=found, recall_share=0.1, recall_most=1.0, budget=4_000)
    roomy = plan(inputs)
    tight = plan(replace(inputs, past=(turn(log, 39, "word " * 900), *inputs.past)))
    assert 0 < tight.on_free_room < roomy.on_free_room
    assert tight.recalled == roomy.recalled[: len(tight.recalled)]


def test_on_free_room_what_would_add_little_is_left_out(log: Log) -> None:
    scores = [10.0, 9.0, 6.0, 1.0, 0.5]
    turns = harbours(log, range(1, 6))
    found = tuple(replace(passage(one), score=score) for one, score in zip(turns, scores, strict=True))
    inputs = about(log, [turn(log, 40)], recalled=found, recall_share=0.01, recall_most=1.0)
    assert [one.score for one in plan(inputs).recalled] == [10.0, 9.0, 6.0]


def test_each_quoted_turn_is_an_item_that_says_why_and_names_its_passages(log: Log) -> None:
    kiel = turn(log, 3, "We sail from Kiel.", "At six.")
    found = (passage(kiel, effort="sailing", score=2.5), passage(kiel, of=1, effort="sailing", why=("Its reply.",)))
    [item] = recall_items(plan(about(log, [turn(log, 9)], recalled=found, recall_share=0.2)), Reason.RECALLED)
    assert (item.section, item.title, item.turns) == ("recall", "sailing: turn 3", (3, 3))
    assert item.sentence == "Recalled for this message, quoted. It names the harbour. Its reply."
    user, reply = kiel.messages
    assert item.values["passages"] == [[3, user.id, 0, 18, 2.5], [3, reply.id, 0, 7, 0.0]]


def test_recall_has_its_share_beside_a_log_that_fills_the_budget(log: Log) -> None:
    turns = [turn(log, number, "word " * 300, "word " * 300) for number in range(20, 30)]
    found = tuple(map(passage, harbours(log, range(1, 13))))
    inputs = about(log, turns, recalled=found, recall_share=0.2, budget=4_000)
    planned = plan(inputs)
    assert planned.sections["recall"] > 600
    assert planned.sections["ambient"] > 600


def test_where_nothing_is_missing_the_layers_keep_all_the_room(log: Log) -> None:
    turns = [turn(log, number, "word " * 120, "word " * 120) for number in range(1, 10)]
    alone = plan(about(log, turns, budget=4_000))
    shown = [one for one in turns if one.number > 8]
    inputs = about(log, turns, budget=4_000, recalled=tuple(map(passage, shown)), recall_share=0.2)
    assert plan(inputs).sections["ambient"] == alone.sections["ambient"]


def test_beside_a_message_that_fills_the_budget_the_last_turns_keep_half_of_the_room(log: Log) -> None:
    found = tuple(map(passage, harbours(log, range(1, 13))))
    inputs = about(log, [turn(log, 20, "word " * 20, "word " * 100)], recalled=found, recall_share=0.4, budget=4_000)
    current = CurrentTurn(number=21, user=log.said("user", "word " * 1_600))
    planned = plan(replace(inputs, current=current, tools=()))
    assert planned.sections["ambient"] > 100
    assert planned.recalled


@pytest.fixture
def kept(log: Log) -> PlanInputs:
    """Five turns for each of which a passage was recalled."""
    past = harbours(log, range(1, 6))
    found = [replace(turn(log, number), recalled=(passage(one),)) for number, one in enumerate(past, 20)]
    return about(log, found)


def quoted_for(planned: Plan) -> list[str]:
    return [number for entry in planned.recipe for number in entry.get("recalled", {})]


def test_a_finished_turn_keeps_what_was_recalled_for_it_and_the_prompt_its_beginning(log: Log) -> None:
    first, second = turn(log, 20), turn(log, 21)
    found = (passage(turn(log, 3, "We sail from Kiel.")),)
    before = plan(about(log, [first, second], message="When do we sail?", recalled=found, recall_share=0.2))
    user = before.inputs.current.user
    answer: LogMessage = log.said("assistant", "At six.")
    done = turn(log, 22)
    done = replace(done, messages=(user, answer), recalled=before.recalled)
    following = plan(about(log, [first, second, done], message="From where?"))
    *messages, last = before.request["messages"]
    assert following.request["messages"][: len(messages)] == messages
    # The notes of the turn leave with it.
    kept, _, _ = last["content"].partition("[Notes for this turn")
    assert following.request["messages"][len(messages)]["content"] == f"{kept}When do we sail?"
    assert "> We sail from Kiel." in kept


def test_the_notes_of_the_turn_leave_and_what_was_recalled_stays(log: Log) -> None:
    effort = EffortLog(slug="webhook", kind="active", turns=(turn(log, 20), turn(log, 21)), opened_turn=20)
    found = (passage(turn(log, 3, "We sail from Kiel.")),)
    before = plan(
        about(log, (), efforts=(effort,), current=current(log, 22, "When?"), recalled=found, recall_share=0.2)
    )
    done = replace(turn(log, 22), messages=(before.inputs.current.user,), recalled=before.recalled)
    following = plan(about(log, (), efforts=(replace(effort, turns=(*effort.turns, done)),)))
    head, _, _ = asked(before).partition("[Notes for this turn")
    assert any(message["content"].startswith(head + "When?") for message in following.request["messages"])


def test_what_is_kept_with_its_turn_counts_in_its_layer_and_has_a_reason(kept: PlanInputs) -> None:
    planned = plan(kept)
    [item] = recall_items(planned, Reason.RECALLED_BEFORE)
    assert (item.section, item.title) == ("ambient", "Recalled for turns 20-24")
    assert "recall" not in planned.sections
    without = plan(replace(kept, past=tuple(replace(one, recalled=()) for one in kept.past)))
    added = planned.sections["ambient"] - without.sections["ambient"]
    assert added == pytest.approx(item.tokens, rel=0.02)


def test_it_leaves_first_when_the_budget_is_full_the_oldest_before_and_stays_out(log: Log, kept: PlanInputs) -> None:
    large = CurrentTurn(number=25, user=log.said("user", "word " * 1_460))
    full = plan(replace(kept, current=large, budget=replace(kept.budget, setting=4_000)))
    assert quoted_for(full) == ["23", "24"]
    [out] = recall_items(full, Reason.RECALLED_BEFORE_LEFT)
    assert not out.included
    assert all(message.text in str(full.request) for one in kept.past for message in one.messages)
    # The next message is short, and there would be room.
    following = plan(replace(kept, layout=full.layout, budget=full.budget))
    assert quoted_for(following) == quoted_for(full)
    assert quoted_for(plan(replace(kept, layout=full.layout))) == ["20", "21", "22", "23", "24"]


def test_the_layouts_of_before_are_read_and_zeros_are_not_written() -> None:
    stored = {"base": "4000:1", "cuts": {"": [3, 0], "auth-bug": [2, 9, 7]}, "headlines": []}
    layout = Layout.from_json(stored)
    assert layout.cuts == {
        "": LayerCut(first_kept=3),
        "auth-bug": LayerCut(first_kept=2, cut_through=9, left_through=7),
    }
    assert layout.to_json() == stored
    cut = LayerCut(recall_through=22)
    assert LayerCut.from_json(json.loads(json.dumps(cut.to_json()))) == cut
