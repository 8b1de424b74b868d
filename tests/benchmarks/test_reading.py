"""Conversations of other people's as JSON Lines, read as turns."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from benchmarks.replay import Exchange, read_talks


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
    with pytest.raises(ValueError, match=r"talk.jsonl, line 2, is no conversation"):
        list(read_talks(path))
