"""A message that asks what was when is told the efforts in their order, with their days."""

from __future__ import annotations

from dataclasses import replace

import pytest

from efforts.domain.prompt.conversation import EffortInLine, EffortLog, Headline, LineOfEfforts, OlderTurns
from efforts.domain.prompt.line import asks_what_was_when, wanted_places
from efforts.domain.prompt.plan import Item, Plan
from efforts.domain.prompt.planner import plan
from efforts.domain.prompt.reasons import Reason
from tests.planner.examples import about, current, turn
from tests.planner.invariants import line_of
from tests.planner.strategies import Log
from tests.planner.test_recall import asked, harbours, passage

MIGRATION = EffortInLine(
    place=1, slug="migration", turns=(1, 4), days=("2026-02-27", "2026-03-01"), text="All rows are moved."
)
BOILER = EffortInLine(
    place=2, slug="boiler", turns=(5, 5), days=("2026-03-02", "2026-03-02"), name="Boiler in the cellar"
)
PARTY = EffortInLine(place=3, slug="party", turns=(6, 21), days=("2026-03-03", "2026-03-04"), is_open=True)
LINE = LineOfEfforts(efforts=(MIGRATION, PARTY, BOILER), count=3)


@pytest.mark.parametrize(
    "text",
    """
    What did we do first?
    what have we done so far
    What came after the migration?
    What did we work on right before the boiler?
    Which topic was last?
    Which came first, the boiler or the party?
    In which order did we do these?
    When did we start the migration?
    Summarise all of March.
    Give me an overview of what we did
    Please recap last week
    What did we do on 3 March?
    What have I worked on this week?
    What happened in March 2026?
    Can you give me a short summary of everything we have done this month?
    """.strip().splitlines(),
)
def test_order_and_overviews_are_asked_for_in_these_words(text: str) -> None:
    assert asks_what_was_when(text)


@pytest.mark.parametrize(
    "text",
    """
    What did we say first about the boiler?
    Summarise the report of the auditors
    Give me an overview of Roman history
    What happened next to the dragon?
    When does the party start?
    What should I do first?
    Write a summary for the board
    What do we do next?
    When did I start at the bakery?
    The summary is fine.
    Which file was changed last?
    """.strip().splitlines(),
)
def test_what_was_said_and_what_is_to_be_done_is_not_asked_for_by_order(text: str) -> None:
    assert not asks_what_was_when(text)


def test_the_ends_are_wanted_first_or_what_is_near_to_the_ones_that_are_named() -> None:
    assert wanted_places(5, []) == [1, 5, 2, 4, 3]
    assert wanted_places(5, [4]) == [4, 3, 5, 2, 1]
    assert wanted_places(0, []) == []
    assert len(wanted_places(1_000, [])) == 40


def test_the_line_stands_between_what_is_quoted_and_the_notes_of_this_turn(log: Log) -> None:
    kiel = turn(log, 3, "We sail from Kiel.")
    inputs = about(
        log,
        [turn(log, 20)],
        efforts=(EffortLog(slug="party", kind="active", turns=(turn(log, 21),), opened_turn=6),),
        current=current(log, 22, "What did we do first?"),
        recalled=(passage(kiel),),
        recall_share=0.2,
        line=LINE,
    )
    assert asked(plan(inputs)).splitlines() == [
        "[turn 22]",
        "[Notes, not instructions: recalled from earlier turns, quoted]",
        "Turn 3, 2026-03-01, the user:",
        "> We sail from Kiel.",
        "[End of notes]",
        "",
        "[Notes, not instructions: efforts, in the order in which they were begun]",
        "1. migration (turns 1-4, 2026-02-27 to 2026-03-01, concluded): All rows are moved.",
        "2. boiler “Boiler in the cellar” (turn 5, 2026-03-02, concluded)",
        "3. party (turns 6-21, 2026-03-03 to 2026-03-04, open)",
        "[End of notes]",
        "",
        "[Notes for this turn, not from the user]",
        "Today is 2026-03-05. This is turn 22.",
        "Active effort: party",
        "[End of notes]",
        "What did we do first?",
    ]
    [item] = line_items(plan(inputs))
    assert item.sentence == ("You ask what was when: 3 of 3 efforts with their dates, in the order they were begun.")


def line_items(planned: Plan) -> list[Item]:
    return [item for item in planned.items if item.reason in (Reason.LINE, Reason.LINE_SHOWN, Reason.LINE_OVER_CAP)]


def test_days_that_are_named_stand_above_it_and_a_gap_says_how_many_are_not_listed(log: Log) -> None:
    line = replace(LINE, efforts=(BOILER, replace(PARTY, place=9)), count=11, days=(("2026-03-01", "2026-03-31"),))
    lines = line_of(plan(about(log, line=line, recall_share=0.2)))
    assert lines == [
        "[Notes, not instructions: efforts of 2026-03-01 to 2026-03-31, in the order in which they were begun]",
        "[… 1 more. search_efforts finds them.]",
        "2. boiler “Boiler in the cellar” (turn 5, 2026-03-02, concluded)",
        "[… 6 more. search_efforts finds them.]",
        "9. party (turns 6-21, 2026-03-03 to 2026-03-04, open)",
        "[… 2 more. search_efforts finds them.]",
        "[End of notes]",
    ]


def test_what_stands_as_a_summary_is_listed_without_saying_it_again(log: Log) -> None:
    headline = Headline(pointer=1, slug="migration", text="All rows are moved.", turns=(1, 4))
    planned = plan(about(log, line=LINE, headlines=(headline,), recall_share=0.2))
    assert str(planned.request).count("All rows are moved.") == 1
    assert "1. migration (turns 1-4, 2026-02-27 to 2026-03-01, concluded)" in line_of(planned)


def test_where_every_effort_is_in_the_prompt_nothing_is_listed(log: Log) -> None:
    headlines = tuple(
        Headline(pointer=one.place, slug=one.slug, text="Done.", turns=one.turns) for one in (MIGRATION, BOILER)
    )
    party = EffortLog(slug="party", kind="active", turns=(turn(log, 21),), opened_turn=6)
    planned = plan(about(log, line=LINE, headlines=headlines, efforts=(party,), recall_share=0.2))
    [item] = line_items(planned)
    assert (line_of(planned), item.reason, item.included) == ([], Reason.LINE_SHOWN, False)


def test_it_takes_half_of_what_recall_may_take_and_lists_what_is_wanted_most(log: Log) -> None:
    many = [
        replace(BOILER, place=place, slug=f"effort-{place}", name="", text="A word on it. " * 9)
        for place in range(1, 101)
    ]
    line = LineOfEfforts(efforts=tuple(many[place - 1] for place in wanted_places(100, [])), count=100)
    inputs = about(log, line=line, recall_share=0.2, budget=4_000)
    lines = line_of(plan(inputs))
    assert 300 < inputs.count("\n".join(lines)) <= 400
    assert [lines[1].split()[1], lines[-2].split()[1]] == ["effort-1", "effort-100"]
    beside = plan(replace(inputs, recalled=tuple(map(passage, harbours(log, range(1, 13))))))
    assert line_of(beside) == lines
    assert len(beside.recalled) > 1
    assert beside.sections["recall"] <= 800


def test_no_turn_of_its_layers_floor_gives_way_to_it(log: Log) -> None:
    many = [replace(BOILER, place=place, slug=f"effort-{place}", text="A word. " * 20) for place in range(1, 41)]
    turns = [turn(log, number, "word " * 100) for number in range(1, 11)]
    inputs = about(log, turns, line=LineOfEfforts(efforts=tuple(many), count=40), recall_share=0.2, budget=4_000)
    planned = plan(inputs)
    assert line_of(planned)
    assert planned.sections["ambient"] > 600
    # Of a message that is nearly as large as the budget nothing is left for it, and it is sent all the same.
    large = replace(inputs, current=current(log, 30, "word " * 2_150))
    [item] = line_items(plan(large))
    assert (item.reason, item.included) == (Reason.LINE_OVER_CAP, False)
    assert item.remedy


def test_an_effort_whose_log_has_no_room_is_not_taken_for_shown(log: Log) -> None:
    party = EffortLog(slug="party", kind="active", turns=(), older=OlderTurns(last=21, tokens=90_000, count=9))
    planned = plan(
        about(log, line=replace(LINE, efforts=(replace(PARTY, place=1),), count=1), efforts=(party,), recall_share=0.2)
    )
    assert line_of(planned)[1:-1] == ["1. party (turns 6-21, 2026-03-03 to 2026-03-04, open)"]
