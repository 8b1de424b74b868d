"""`manage.py replay`: conversations of other people's, read as turns and planned call by call."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from efforts.domain.rendering import chat_message
from efforts.llm.tokens import get_counter
from efforts.replaying import Call, Exchange, Settings, play, read_talks
from efforts.replaying.prefix import Stability, shares, text_of, unchanged
from efforts.replaying.seed import seed_request

SMALL = Settings(count=get_counter().count, budget=4_000)


def said(role: str, text: str, session: int = 1, **more: Any) -> dict[str, Any]:
    return {"id": f"{role} {text[:8]}", "role": role, "session": session, "text": text, **more}


def called(id: str) -> list[dict[str, Any]]:
    return [{"id": id, "type": "function", "function": {"name": "find_file", "arguments": '{"file":"a.py"}'}}]


def written(folder: Path, *conversations: Sequence[Mapping[str, Any]]) -> Path:
    path = folder / "talk.jsonl"
    rows = [
        {"id": f"talk-{number}", "source": "test", "messages": messages, "sessions": [{"n": 1, "summary": "Given."}]}
        for number, messages in enumerate(conversations, 1)
    ]
    path.write_text("\n".join(map(json.dumps, rows)))
    return path


def exchanges(folder: Path, *messages: Mapping[str, Any]) -> list[tuple[Exchange, ...]]:
    (talk,) = read_talks(written(folder, messages))
    return list(talk.sessions)


def calls_of(folder: Path, *messages: Mapping[str, Any], settings: Settings = SMALL) -> list[Call]:
    (talk,) = read_talks(written(folder, messages))
    return list(play(talk, settings))


def replay(*files: Path, **options: Any) -> dict[str, Any]:
    out = StringIO()
    call_command("replay", *map(str, files), json=True, stdout=out, stderr=StringIO(), **options)
    document: dict[str, Any] = json.loads(out.getvalue())
    return document


# Reading


def test_consecutive_messages_of_one_speaker_are_one(tmp_path: Path) -> None:
    [session] = exchanges(tmp_path, said("user", "One."), said("user", "Two."), said("assistant", "Three."))
    assert [(one.user.text, [reply.text for reply in one.replies]) for one in session] == [("One.\nTwo.", ["Three."])]


def test_where_nobody_is_the_assistant_every_speaker_s_message_is_a_turn_under_its_name(tmp_path: Path) -> None:
    talk = [
        said("user", "Well.", speaker="Ann"),
        said("user", "So.", speaker="Ann"),
        said("user", "No.", speaker="Bob"),
    ]
    [session] = exchanges(tmp_path, *talk)
    assert [one.user.text for one in session] == ["Ann: Well.\nSo.", "Bob: No."]
    assert [call.turn for call in calls_of(tmp_path, *talk)] == [1, 2]


def test_a_session_that_the_assistant_begins_begins_with_a_turn_all_the_same(tmp_path: Path) -> None:
    one, two = exchanges(tmp_path, said("user", "Hi."), said("assistant", "Back?", 2), said("user", "Yes.", 2))
    assert [len(one), [exchange.user.text for exchange in two]] == [1, ["Back?", "Yes."]]


def test_calls_nobody_answered_were_not_made_and_their_system_text_is_not_ours(tmp_path: Path) -> None:
    [[exchange]] = exchanges(
        tmp_path,
        said("system", "You are another."),
        said("user", "Find it."),
        said("assistant", "I look.", tool_calls=called("a")),
        said("tool", "a.py", tool_call_ids=["a"]),
        said("assistant", "Done.", tool_calls=called("b")),
    )
    assert [(reply.role, bool(reply.calls)) for reply in exchange.replies] == [
        ("assistant", True),
        ("tool", False),
        ("assistant", False),
    ]


def test_what_is_no_conversation_is_named_by_its_line(tmp_path: Path) -> None:
    path = written(tmp_path, [said("user", "Hi.")])
    path.write_text(path.read_text() + '\n{"id": 2}')
    with pytest.raises(CommandError, match=r"talk.jsonl, line 2, is no conversation"):
        replay(path)


# Playing


def test_every_reply_of_a_turn_is_a_call_that_is_sent_what_came_before_it(tmp_path: Path) -> None:
    first, second = calls_of(
        tmp_path,
        said("user", "Find it."),
        said("assistant", "I look.", tool_calls=called("a")),
        said("tool", "a.py", tool_call_ids=["a"]),
        said("assistant", "Found."),
    )
    assert first.planned
    assert second.planned
    assert [message["role"] for message in first.planned.request["messages"]] == ["system", "user"]
    assert second.planned.request["messages"][-1]["content"] == "a.py"


def test_each_session_is_an_effort_and_its_summary_stands_in_the_next(tmp_path: Path) -> None:
    talk = [
        said("user", "We moved the budget meeting to Friday at nine."),
        said("assistant", "Noted, Friday at nine in the small room."),
        said("user", "What else is there?", 2),
        said("assistant", "Nothing.", 2),
        said("user", "Fine.", 2),
    ]
    calls = calls_of(tmp_path, *talk)
    assert [call.moved for call in calls] == [True, True, False]
    assert [dict(call.planned.sections).get("summary", 0) > 0 for call in calls if call.planned] == [False, True, True]
    given = Settings(count=SMALL.count, budget=4_000, given=True)
    [*_, last] = calls_of(tmp_path, *talk, settings=given)
    assert last.planned
    assert "- session-1 (turns 1-1): Given." in text_of(last.planned.request)


def test_what_cannot_be_sent_fails_its_turn_and_the_next_is_planned_without_it(tmp_path: Path) -> None:
    talk = [
        said("user", "word " * 5_000),
        said("assistant", "Long."),
        said("user", "Short."),
        said("assistant", "Yes."),
    ]
    refused, sent = calls_of(tmp_path, *talk)
    assert refused.planned is None
    assert sent.planned
    assert sent.planned.tokens <= 4_000
    found = replay(written(tmp_path, talk), budget=4_000)["files"][0]
    assert (found["calls"], found["refused"], found["over_budget"]) == (2, 1, 0)


# Measuring


def test_the_unchanged_beginning_is_counted_in_characters_of_what_is_read() -> None:
    assert [unchanged("abcd", "abxd"), unchanged("ab", "abc"), unchanged("", "a"), unchanged("x", "y")] == [2, 2, 0, 0]
    found = Stability()
    found.follow([("aaaa", True), ("aabbbbbb", False), ("aab", True)])
    assert shares(found.inside) == {"calls": 1, "of_previous": 0.5, "of_this": 0.25}
    assert shares(found.moved) == {"calls": 1, "of_previous": 0.375, "of_this": 1.0}
    assert shares([]) == {"calls": 0, "of_previous": None, "of_this": None}


def test_a_neighbour_that_is_joined_to_a_message_leaves_what_was_read_as_it_was() -> None:
    before = text_of({"messages": [{"role": "user", "content": "One"}]})
    assert text_of({"messages": [{"role": "user", "content": "One\n\nTwo"}]}).startswith(before)


def test_the_seeds_layout_sends_the_same_words_under_the_same_budget(tmp_path: Path) -> None:
    talk = [said(role, f"{number} word " * 150) for number in range(12) for role in ("user", "assistant")]
    for call in calls_of(tmp_path, *talk):
        assert call.planned
        inputs = call.planned.inputs
        seed = seed_request(inputs)
        assert seed["messages"][-1] == chat_message(inputs.current.user)
        assert sum(SMALL.count(message["content"]) for message in seed["messages"]) < 4_000
        assert len(seed["messages"]) <= 2 + 2 * len(inputs.efforts[0].turns)


def test_people_read_the_figures_and_scripts_the_json(tmp_path: Path) -> None:
    path = written(tmp_path, [said("user", "Hi."), said("assistant", "Hello."), said("user", "Bye.")])
    out = StringIO()
    call_command("replay", str(path), stdout=out, stderr=StringIO())
    assert "talk: 1 conversations, 2 calls at 16,000 tokens; 0 over budget, 0 not sent" in out.getvalue()
    found = replay(path)
    assert (found["holds"], found["budget"]) == (True, 16_000)
    assert found["files"][0]["unchanged_prefix"]["product"]["inside"]["calls"] == 1


def test_a_budget_too_small_and_a_file_that_is_not_there_are_refused(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="4,000 is the least"):
        replay(tmp_path / "any.jsonl", budget=3_999)
    with pytest.raises(CommandError, match="cannot be played"):
        replay(tmp_path / "none.jsonl")


# The data


@pytest.fixture
def data() -> Path:
    if "CCM_DATA" not in os.environ:
        pytest.skip("CCM_DATA is not set: the folder of conversations to measure on")
    return Path(os.environ["CCM_DATA"])


@pytest.mark.slow
@pytest.mark.parametrize("given_summaries", [False, True])
def test_prompts_of_months_of_talk_keep_their_beginning(data: Path, given_summaries: bool) -> None:
    found = replay(data / "locomo-dev.jsonl", budget=4_000, given_summaries=given_summaries, conversations=2)
    [figures] = found["files"]
    assert (figures["over_budget"], figures["refused"]) == (0, 0)
    share = figures["unchanged_prefix"]["product"]
    assert share["inside"]["of_previous"] >= 0.88
    assert share["transitions"]["of_previous"] >= 0.70


@pytest.mark.slow
@pytest.mark.parametrize("ambient", [False, True])
def test_where_the_cache_is_preferred_they_keep_more_of_it(data: Path, ambient: bool) -> None:
    chosen = {"prefer_cache": True, "ambient": ambient, "conversations": 1}
    [figures] = replay(data / "locomo-dev.jsonl", budget=4_000, **chosen)["files"]
    assert figures["unchanged_prefix"]["product"]["inside"]["of_previous"] >= 0.92


@pytest.mark.slow
@pytest.mark.parametrize("name", ["qmsum", "elitr", "longmemeval", "swe-agent"])
def test_no_call_of_other_people_s_conversations_is_over_budget(data: Path, name: str) -> None:
    found = replay(data / f"{name}-dev.jsonl", budget=4_000, conversations=1)
    assert found["holds"]
    assert found["files"][0]["calls"] > found["files"][0]["refused"]
