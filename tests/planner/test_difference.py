"""What became of the plan before: what came in, what left and why, what stands otherwise."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from efforts.domain.prompt.conversation import CurrentTurn, EffortKind, EffortLog, Headline, HoldInForce, PastTurn
from efforts.domain.prompt.difference import (
    EXCERPTS_INSTEAD,
    GONE,
    GROWN,
    OTHER_EXCERPTS,
    OTHER_SUMMARY,
    OTHER_TOOLS,
    QUOTED_NOW,
    SHOWN_BY_TURNS,
    SHOWN_IN_PLACE,
    SUMMARISED,
    SUMMARY_INSTEAD,
    UNPINNED,
    Difference,
    MadePlan,
    PlanChange,
    difference,
)
from efforts.domain.prompt.plan import PlanInputs
from efforts.domain.prompt.planner import plan
from efforts.domain.prompt.reasons import REMEDIES, SENTENCES, Reason
from tests.planner.examples import about, turn
from tests.planner.strategies import Log

LONG = "A long story. " * 400


def made(inputs: PlanInputs) -> MadePlan:
    return MadePlan.from_body(inputs.current.number, plan(inputs).body())


def between(before: PlanInputs, now: PlanInputs) -> Difference:
    return difference(made(before), made(now))


def effort(kind: EffortKind, slug: str, *turns: PastTurn) -> EffortLog:
    return EffortLog(slug=slug, kind=kind, turns=turns, opened_turn=1, active_turn=turns[-1].number)


def headline(slug: str, text: str = "Settled.", **more: Any) -> Headline:
    return Headline(pointer=5, slug=slug, text=text, turns=(1, 2), **more)


def told(changes: tuple[PlanChange, ...]) -> list[tuple[str, str]]:
    return [(change.title, change.why) for change in changes]


def test_a_plan_made_again_has_no_difference(log: Log) -> None:
    inputs = about(log, [turn(log, 1), turn(log, 2)])
    assert between(inputs, inputs) == Difference(entered=(), left=(), changed=(), sections=())


def test_the_turn_that_was_answered_comes_in(log: Log) -> None:
    first, second = turn(log, 1), turn(log, 2)
    found = between(about(log, [first]), about(log, [first, second]))
    [came] = found.entered
    assert (came.title, came.turns, came.section) == ("Turn 2", (2,), "ambient")
    assert came.why == "Among the last 10 turns outside any effort."
    assert (found.left, found.changed) == ((), ())


def test_what_the_window_moves_past_leaves_with_the_reason_and_the_remedy(log: Log) -> None:
    turns = [turn(log, number) for number in range(1, 5)]
    found = between(about(log, turns[:3], ambient_window=3), about(log, turns, ambient_window=3))
    [left] = found.left
    assert (left.title, left.turns) == ("Turn 1", (1,))
    assert left.why == "Older than the last 3 turns."
    assert left.remedy == REMEDIES[Reason.OUTSIDE_AMBIENT_WINDOW]


def test_what_the_budget_pushes_out_leaves_as_one_change(log: Log) -> None:
    turns = [turn(log, number, LONG, LONG) for number in range(1, 7)]
    found = between(about(log, turns), about(log, turns, budget=4_000))
    [left] = found.left
    assert left.turns[0] == 1
    assert left.title == f"Turns 1-{left.turns[-1]}"
    assert left.why == SENTENCES[Reason.OVER_BUDGET]


def test_a_concluded_effort_gives_way_to_its_summary_and_back(log: Log) -> None:
    turns = turn(log, 1), turn(log, 2)
    shown = about(log, efforts=(effort("active", "webhook", *turns),))
    concluded = about(log, headlines=(headline("webhook"),))
    found = between(shown, concluded)
    assert told(found.left) == [("webhook: turns 1-2", SUMMARISED)]
    assert told(found.entered) == [("webhook: summary", SENTENCES[Reason.HEADLINE])]
    back = between(concluded, shown)
    assert told(back.left) == [("webhook: summary", SHOWN_BY_TURNS)]
    assert told(back.entered) == [("webhook: turns 1-2", SENTENCES[Reason.ACTIVE_EFFORT])]


def test_a_pinned_effort_leaves_the_notes_for_its_turns_or_because_it_is_pinned_no_more(log: Log) -> None:
    pinned = about(log, headlines=(headline("webhook"),), holds=(HoldInForce(id=1, effort="webhook"),))
    again = about(log, efforts=(effort("active", "webhook", turn(log, 1), turn(log, 2)),))
    assert told(between(pinned, again).left) == [("Pin: webhook", SHOWN_IN_PLACE)]
    assert told(between(pinned, about(log)).left) == [("Pin: webhook", UNPINNED)]


def test_a_pinned_turn_goes_back_to_its_place_or_leaves_because_it_is_pinned_no_more(log: Log) -> None:
    said = turn(log, 1)
    pinned = about(log, holds=(HoldInForce(id=1, turn=said),))
    back = between(pinned, about(log, [said]))
    assert (back.left, [change.title for change in back.changed]) == ((), ["Turn 1"])
    assert told(between(pinned, about(log, [turn(log, 2)])).left) == [("Pin: Turn 1", UNPINNED)]


def test_an_effort_that_is_no_longer_the_active_one_stands_otherwise(log: Log) -> None:
    turns = turn(log, 1), turn(log, 2)
    active, opened = [about(log, efforts=(effort(kind, "webhook", *turns),)) for kind in ("active", "open")]
    found = between(active, opened)
    assert told(found.changed) == [("webhook: turns 1-2", SENTENCES[Reason.OPEN_EFFORT])]
    assert (found.entered, found.left) == ((), ())


def test_a_turn_that_moved_to_an_effort_has_neither_come_nor_left(log: Log) -> None:
    first, second = turn(log, 1), turn(log, 2)
    found = between(about(log, [first, second]), about(log, [first], efforts=(effort("active", "webhook", second),)))
    assert told(found.changed) == [("webhook: turn 2", SENTENCES[Reason.ACTIVE_EFFORT])]
    assert (found.entered, found.left) == ((), ())


WORDS = {
    "another summary": (False, False, "webhook: summary", OTHER_SUMMARY),
    "other excerpts": (True, True, "webhook: excerpts", OTHER_EXCERPTS),
    "a summary instead of excerpts": (True, False, "webhook: summary", SUMMARY_INSTEAD),
    "excerpts instead of a summary": (False, True, "webhook: excerpts", EXCERPTS_INSTEAD),
}


@pytest.mark.parametrize("case", WORDS)
def test_other_words_in_place_of_turns_are_called_what_they_are_with_what_they_add(log: Log, case: str) -> None:
    was, now, title, why = WORDS[case]
    short = headline("webhook", quotes=was)
    long = headline("webhook", "Settled after a long talk with the provider.", quotes=now)
    [change] = between(about(log, headlines=(short,)), about(log, headlines=(long,))).changed
    assert (change.title, change.why) == (title, why)
    assert change.tokens > 0


def test_excerpts_in_place_of_turns_are_not_called_a_summary(log: Log) -> None:
    turns = turn(log, 1), turn(log, 2)
    shown = about(log, efforts=(effort("active", "webhook", *turns),))
    quoted = about(log, headlines=(headline("webhook", quotes=True),))
    found = between(shown, quoted)
    assert told(found.left) == [("webhook: turns 1-2", QUOTED_NOW)]
    assert told(found.entered) == [("webhook: excerpts", SENTENCES[Reason.EXCERPTS])]
    assert told(between(quoted, shown).left) == [("webhook: excerpts", SHOWN_BY_TURNS)]


def test_a_second_call_of_a_turn_has_the_tools_used_and_a_third_more_of_them(log: Log) -> None:
    user = log.said("user", "Look it up.")
    episodes = [log.said("assistant", "One moment."), log.said("assistant", "And another.")]
    first, second, third = [
        about(log, current=CurrentTurn(number=1, user=user, episodes=tuple(episodes[:count]))) for count in range(3)
    ]
    assert told(between(first, second).entered) == [("Tools used in this turn", SENTENCES[Reason.TOOL_EPISODE])]
    [grown] = between(second, third).changed
    assert (grown.why, grown.tokens) == (GROWN, episodes[1].cost)


def test_a_call_without_tools_says_so(log: Log) -> None:
    inputs = about(log)
    [change] = between(inputs, replace(inputs, tools=())).changed
    assert change.why == OTHER_TOOLS
    assert change.tokens < 0


def test_what_is_nowhere_any_more_is_not_explained_away(log: Log) -> None:
    found = between(about(log, efforts=(effort("open", "webhook", turn(log, 1)),)), about(log))
    assert told(found.left) == [("webhook: turn 1", GONE)]


def test_sections_are_told_before_and_now_where_they_differ(log: Log) -> None:
    before, now = about(log, [turn(log, 1)]), about(log, [turn(log, 1), turn(log, 2)])
    was, stands = plan(before).sections, plan(now).sections
    assert between(before, now).sections == (("ambient", was["ambient"], stands["ambient"]),)
