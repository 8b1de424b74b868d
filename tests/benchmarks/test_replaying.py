"""`manage.py replay`: conversations of other people's, played turn by turn as any conversation is."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from django.core.management import CommandError, call_command

from benchmarks.replay import Conversation, Report, Settings, plot, read_talks
from benchmarks.replay.ceiling import Ceiling, Step
from benchmarks.replay.prefix import Stability, shares, text_of, unchanged
from efforts.domain.effort.policy import ContextMode
from efforts.domain.prompt.assembly import NOTES_BEGIN
from efforts.domain.prompt.conversation import Headline
from efforts.domain.prompt.plan import PlanInputs
from efforts.domain.prompt.planner import plan
from efforts.llm.tokens import get_counter
from efforts.models import Message, ToolTrace, Turn
from tests.benchmarks.test_reading import called, said, written
from tests.house.process import ROOT
from tests.planner.examples import about, turn
from tests.planner.strategies import Log, four_letters

SMALL = Settings(budget=4_000)
LOOK = (
    said("user", "Find it."),
    said("assistant", "I look.", tool_calls=called("a")),
    said("tool", "a.py", tool_call_ids=["a"]),
    said("assistant", "Found."),
)
BUDGET_TALK = (
    said("user", "We moved the budget meeting to Friday at nine in the morning, because of the audit."),
    said("assistant", "Noted, Friday at nine in the small room, with the auditors invited as well. " * 6),
    said("user", "What else is there?", 2),
    said("assistant", "Nothing.", 2),
    said("user", "Fine. We go through every row of the budget and of the audit there. " * 6, 2),
)


@pytest.fixture
def log() -> Log:
    return Log(count=four_letters)


def played(folder: Path, *messages: Mapping[str, Any], settings: Settings = SMALL) -> Conversation:
    (talk,) = read_talks(written(folder, messages))
    return Report(name="talk", settings=settings).play(talk, lambda played: None)


def calls_of(conversation: Conversation) -> list[dict[str, Any]]:
    return [call for turn in conversation.turns for call in turn["calls"]]


def replay(*arguments: str | Path) -> bytes:
    command = [sys.executable, "manage.py", "replay", *map(str, arguments), "--json"]
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True).stdout


# Playing


@pytest.mark.django_db
def test_every_reply_of_a_turn_is_a_call_and_its_results_are_the_recorded_ones(tmp_path: Path) -> None:
    conversation = played(tmp_path, *LOOK)
    [turn] = conversation.turns
    assert (turn["state"], len(turn["calls"])) == ("completed", 2)
    log = Message.objects.order_by("id").values_list("role", "text", "tool_name")
    assert list(log) == [
        ("user", "Find it.", ""),
        ("assistant", "I look.", ""),
        ("tool", "a.py", "find_file"),
        ("assistant", "Found.", ""),
    ]
    assert ToolTrace.objects.get().name == "find_file"


@pytest.mark.django_db
def test_where_nobody_is_the_assistant_every_message_is_a_completed_turn_of_one_call(tmp_path: Path) -> None:
    talk = [said("user", "Well.", speaker="Ann"), said("user", "No.", speaker="Bob")]
    turns = played(tmp_path, *talk).turns
    assert [(turn["turn"], turn["state"], len(turn["calls"])) for turn in turns] == [
        (1, "completed", 1),
        (2, "completed", 1),
    ]
    assert list(Message.objects.values_list("role", flat=True)) == ["user", "user"]


@pytest.mark.django_db
def test_each_session_is_an_effort_and_excerpts_of_it_stand_in_the_next(tmp_path: Path) -> None:
    conversation = played(tmp_path, *BUDGET_TALK)
    assert [turn["effort"] for turn in conversation.turns] == ["session-1", "session-2", "session-2"]
    assert [call["sections"].get("summary", 0) > 0 for call in calls_of(conversation)] == [False, True, True]
    happened = conversation.figures.efforts
    assert [happened[f"effort.{kind}"] for kind in ("opened", "concluded", "digested")] == [2, 2, 2]


@pytest.mark.django_db
def test_the_summaries_of_the_data_can_stand_instead(tmp_path: Path) -> None:
    own, given = (
        played(tmp_path, *BUDGET_TALK, settings=Settings(budget=4_000, given=given)) for given in (False, True)
    )
    counts = [calls_of(one)[-1]["sections"]["summary"] for one in (own, given)]
    assert counts[1] < counts[0]


@pytest.mark.django_db
def test_without_efforts_every_turn_is_ambient(tmp_path: Path) -> None:
    conversation = played(tmp_path, *BUDGET_TALK, settings=Settings(budget=4_000, efforts="none"))
    assert [turn["effort"] for turn in conversation.turns] == [None] * 3
    assert conversation.figures.efforts == {}


@pytest.mark.django_db
def test_by_cues_what_is_said_opens_and_ends_efforts_whatever_was_replied(tmp_path: Path) -> None:
    conversation = played(
        tmp_path,
        said("user", "Let's plan the trip to Lisbon."),
        said("assistant", "When do you fly?"),
        said("user", "On the 3rd of May, and back on the 9th."),
        said("assistant", "Six nights, then."),
        said("user", "Good, the trip is all planned. That's settled."),
        said("assistant", "Have a good flight."),
        settings=Settings(budget=4_000, efforts="cues"),
    )
    efforts = {turn["effort"] for turn in conversation.turns}
    assert len(efforts) == 1
    assert None not in efforts
    assert conversation.figures.efforts["effort.concluded"] == 1
    replies = Message.objects.filter(role="assistant", tool_calls=[]).order_by("id").values_list("text", flat=True)
    assert list(replies) == ["When do you fly?", "Six nights, then.", "Have a good flight."]


@pytest.mark.django_db
def test_what_cannot_be_sent_fails_its_turn_and_the_next_goes_on(tmp_path: Path) -> None:
    talk = [
        said("user", "word " * 5_000),
        said("assistant", "Long."),
        said("user", "Short."),
        said("assistant", "Yes."),
    ]
    failed, sent = (conversation := played(tmp_path, *talk)).turns
    assert (failed["state"], failed["code"], failed["calls"]) == ("failed", "over_budget", [])
    assert sent["state"] == "completed"
    figures = conversation.figures
    assert (figures.turns, figures.refused, figures.over_budget, figures.tokens) == (
        2,
        1,
        0,
        [sent["calls"][0]["tokens"]],
    )


@pytest.mark.django_db
def test_the_days_are_those_of_the_data(tmp_path: Path) -> None:
    path = written(tmp_path, BUDGET_TALK)
    row = json.loads(path.read_text())
    row["sessions"] = [{"n": 1, "date": "2023-05-08"}, {"n": 2, "date": "2023-06-01"}]
    path.write_text(json.dumps(row))
    (talk,) = read_talks(path)
    Report(name="talk", settings=SMALL).play(talk, lambda played: None)
    days = Turn.objects.order_by("number").values_list("created_at__date", flat=True)
    assert [day.isoformat() for day in days] == ["2023-05-08", "2023-06-01", "2023-06-01"]


# Counting


@pytest.mark.django_db
def test_layers_make_up_the_prompt_and_no_prompt_is_over_its_budget(tmp_path: Path) -> None:
    long = [said(role, f"{number} {'word ' * 150}") for number in range(14) for role in ("user", "assistant")]
    conversation = played(tmp_path, *long)
    calls = calls_of(conversation)
    assert [sum(call["sections"].values()) for call in calls] == [call["tokens"] for call in calls]
    assert max(call["tokens"] for call in calls) <= 4_000 < calls[-1]["naive"]
    assert conversation.figures.over_budget == 0


@pytest.mark.django_db
def test_beside_each_prompt_stands_what_everything_said_would_take(tmp_path: Path) -> None:
    first, second = calls_of(played(tmp_path, *BUDGET_TALK[:2], *(said("user", "Next."), said("assistant", "Yes."))))
    # Nothing is left out so far but the labels, which everything said needs none of.
    count = get_counter().count
    told = sum(count(message["text"]) + 4 for message in (*BUDGET_TALK[:2], said("user", "Next.")))
    assert first["naive"] == first["sections"]["system"] + count(BUDGET_TALK[0]["text"]) + 4
    assert second["naive"] == second["sections"]["system"] + told
    assert second["effort_logs"] == second["naive"]


def test_the_unchanged_beginning_is_counted_in_characters_of_what_is_read() -> None:
    assert [unchanged("abcd", "abxd"), unchanged("ab", "abc"), unchanged("", "a"), unchanged("x", "y")] == [2, 2, 0, 0]
    assert shares([(0.5, 0.25), (1.0, 0.75)]) == {"calls": 2, "of_previous": 0.75, "of_this": 0.5}
    assert shares(Stability().inside) == {"calls": 0, "of_previous": None, "of_this": None}


def test_a_neighbour_that_is_joined_to_a_message_leaves_what_was_read_as_it_was() -> None:
    before = text_of({"messages": [{"role": "user", "content": "One"}]})
    assert text_of({"messages": [{"role": "user", "content": "One\n\nTwo"}]}).startswith(before)


@pytest.mark.django_db
def test_while_the_prompt_only_grows_all_of_it_is_the_beginning_of_the_next(tmp_path: Path) -> None:
    first, second, third = calls_of(played(tmp_path, *BUDGET_TALK))
    assert first["unchanged"] is None
    assert second["moved"]
    assert not third["moved"]
    assert third["unchanged"][0] > second["unchanged"][0]


# What could stay


def step(before: PlanInputs, now: PlanInputs) -> Step:
    return Ceiling().follow(plan(before), plan(now))


def talk_of(log: Log, last: int, **more: Any) -> PlanInputs:
    """After so many turns of no effort, all alike to their ids."""
    return about(log, [turn(log, number, "Hi " * number) for number in range(1, last + 1)], budget=4_000, **more)


def test_of_a_prompt_that_only_grows_all_but_the_notes_of_its_turn_stays() -> None:
    before = talk_of(Log(count=four_letters), 2, message="Hi Hi Hi ")
    grown = step(before, talk_of(Log(count=four_letters), 3))
    assert grown.stayed == grown.could
    assert not grown.cut
    text = text_of(plan(before).request)
    assert grown.could * len(text) == pytest.approx(text.index(NOTES_BEGIN))


def test_inside_a_turn_all_of_it_can_stay(log: Log) -> None:
    before = talk_of(log, 1)
    current = replace(before.current, episodes=tuple(log.episode("I look.", ["a.py"])))
    looked = replace(before, current=current)
    assert step(before, looked) == Step(stayed=1, could=1, cut=False)
    assert step(before, replace(looked, tools=())).cut


def test_a_turn_that_the_window_has_passed_and_a_summary_that_comes_must_change_a_prompt() -> None:
    before = talk_of(Log(count=four_letters), 4, ambient_window=4)
    text = text_of(plan(before).request)
    slid = step(before, talk_of(Log(count=four_letters), 5, ambient_window=4))
    assert slid.stayed <= slid.could < 1
    assert slid.could * len(text) == pytest.approx(
        text.index("[Conversation from turn 1]"), abs=len("[Conversation from turn ")
    )
    summary = Headline(pointer=1, slug="tax", text="Filed.", turns=(1, 1))
    concluded = step(before, replace(talk_of(Log(count=four_letters), 5), headlines=(summary,), epoch=1))
    assert concluded.could < slid.could


def test_what_the_budget_pushes_out_could_have_stayed(log: Log) -> None:
    turns = [turn(log, number, "Hi", "word " * 600) for number in range(1, 4)]
    before = about(log, turns, budget=4_000)
    now = about(log, [*turns, turn(log, 4, "Hi", "word " * 600)], budget=4_000, layout=plan(before).layout)
    pushed = step(before, now)
    assert pushed.cut
    assert pushed.stayed < pushed.could
    ceiling = Ceiling(inside=[pushed, Step(stayed=0.5, could=1, cut=False)])
    found = ceiling.as_json()["inside"]
    assert (found["calls"], found["cut"], found["reached_uncut"]) == (2, 1, 0.5)


# The picture


@pytest.mark.django_db
def test_the_picture_has_each_layer_and_a_gap_where_nothing_was_sent(tmp_path: Path) -> None:
    conversation = played(tmp_path, *BUDGET_TALK, said("user", "word " * 5_000, 3))
    root = ElementTree.fromstring(plot(conversation, 4_000))
    drawn = {name for one in root.iter() for name in one.attrib.get("class", "").split() if name.startswith("layer-")}
    assert drawn == {f"layer-{name}" for call in calls_of(conversation) for name in call["sections"]}


# The command


@pytest.mark.slow
def test_two_runs_print_the_same_bytes(tmp_path: Path) -> None:
    path = written(tmp_path, [*BUDGET_TALK, *LOOK])
    plotted = tmp_path / "out.svg"
    first, second = (replay(path, "--budget", "4000", "--plot", plotted) for _ in range(2))
    assert first == second
    found = json.loads(first)
    assert (found["holds"], found["files"][0]["all"]["turns"]) == (True, 4)
    assert ElementTree.parse(plotted).getroot().attrib["role"] == "img"


def test_a_budget_too_small_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="4,000 is the least"):
        call_command("replay", str(tmp_path / "any.jsonl"), budget=3_999)


# The data


@pytest.fixture
def data() -> Path:
    if "CCM_DATA" not in os.environ:
        pytest.skip("CCM_DATA is not set: the folder of conversations to measure on")
    return Path(os.environ["CCM_DATA"])


def first_of(data: Path, name: str, **chosen: Any) -> Conversation:
    [talk] = read_talks(data / f"{name}-dev.jsonl", 1)
    return Report(name=name, settings=Settings(budget=4_000, **chosen)).play(talk, lambda played: None)


@pytest.mark.slow
@pytest.mark.django_db
@pytest.mark.parametrize("given", [False, pytest.param(True, marks=pytest.mark.soak)])
def test_prompts_of_months_of_talk_keep_their_beginning(data: Path, given: bool) -> None:
    # What is recalled is another for every message.
    figures = first_of(data, "locomo", given=given, mode=ContextMode.OFF).figures
    assert (figures.over_budget, figures.refused) == (0, 0)
    found = figures.as_json()["unchanged_prefix"]["product"]
    assert found["inside"]["of_previous"] >= 0.88
    # System text and tools, which always stay, are a smaller part of a prompt than they were.
    assert found["transitions"]["of_previous"] >= 0.62


@pytest.mark.slow
@pytest.mark.django_db
# Without efforts a turn is a few lines, and the note at its head, which the next prompt leaves out, weighs more.
@pytest.mark.parametrize(("efforts", "share"), [("sessions", 0.92), pytest.param("none", 0.89, marks=pytest.mark.soak)])
def test_where_the_cache_is_preferred_they_keep_more_of_it(data: Path, efforts: str, share: float) -> None:
    figures = first_of(data, "locomo", efforts=efforts, prefer_cache=True, mode=ContextMode.OFF).figures
    assert figures.as_json()["unchanged_prefix"]["product"]["inside"]["of_previous"] >= share


@pytest.mark.slow
@pytest.mark.django_db
@pytest.mark.parametrize("name", [pytest.param("elitr", marks=pytest.mark.soak), "swe-agent"])
def test_no_call_of_other_people_s_conversations_is_over_budget(data: Path, name: str) -> None:
    figures = first_of(data, name).figures
    assert figures.over_budget == 0
    assert len(figures.tokens) > figures.refused
