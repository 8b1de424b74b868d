"""Which part of a conversation is concluded to measure it, and what a person keeps of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.gates.cases import Unreadable
from benchmarks.gates.ranges import Range, annotation, kept_of, read_kept, read_ranges, write_kept
from efforts.domain.effort.states import RunState
from efforts.domain.prompt.conversation import LogMessage, PastTurn
from efforts.domain.text.source_text import source_of

TALK = ("Ada: We start.", "Ben: The case is oak.", "Ada: Good.", "Ben: I order the hinges on Monday.")


def put(folder: Path, **of: Any) -> list[Range]:
    messages = [
        {"id": str(number), "session": 1 + number // 3, "role": "user", "speaker": who, "text": text}
        for number, (who, text) in enumerate(said.split(": ") for said in TALK)
    ]
    row = {"id": "shelf", "source": "written", "messages": messages, "sessions": []}
    (folder / "qmsum-dev.jsonl").write_text(json.dumps(row) + "\n")
    path = folder / "ranges.jsonl"
    path.write_text(json.dumps({"id": "01", "data": "qmsum-dev", "conversation": "shelf", **of}) + "\n")
    return list(read_ranges(path, folder))


def said(one: Range) -> list[str]:
    return [exchange.user.text for exchange in one.exchanges]


def test_of_a_meeting_the_last_messages_are_taken_that_are_within_the_tokens(tmp_path: Path) -> None:
    (one,) = put(tmp_path, tokens=11)
    assert said(one) == ["Ada: Good.", "Ben: I order the hinges on Monday."]


def test_a_session_is_taken_whole(tmp_path: Path) -> None:
    (one,) = put(tmp_path, session=1)
    assert (one.name, said(one)) == ("Session 1", list(TALK[:3]))


def test_a_written_turn_stands_before_the_message_that_it_names(tmp_path: Path) -> None:
    written = [{"before": "2", "speaker": "Cyd", "text": "No, it is ash."}]
    (one,) = put(tmp_path, tokens=100, written=written)
    assert said(one)[1:4] == ["Ben: The case is oak.", "Cyd: No, it is ash.", "Ada: Good."]


def test_a_conversation_that_is_not_there_is_told(tmp_path: Path) -> None:
    put(tmp_path, tokens=11)
    with pytest.raises(Unreadable, match="other"):
        put(tmp_path, conversation="other", tokens=11)


LOG = source_of(
    PastTurn(
        number=number,
        state=RunState.COMPLETED,
        messages=(LogMessage(id=10 * number, role="user", text=text, tokens=0),),
    )
    for number, text in enumerate(TALK, start=1)
)


def listing(*entries: dict[str, str]) -> str:
    return json.dumps({"entries": [{"kind": "decision", "text": "", **entry} for entry in entries]})


def test_whoever_lists_what_is_to_be_kept_sees_the_log_and_no_notes() -> None:
    asked = annotation(LOG).messages[1]["content"]
    assert LOG.text in asked
    assert "Notes:" not in asked


def test_an_entry_keeps_the_words_of_its_sentence_and_the_six_most_important_are_kept(tmp_path: Path) -> None:
    oak = {"text": "They chose oak", "sentence": "2.1"}
    hinges = {"kind": "open_work", "text": "Ben orders hinges", "sentence": "4.1"}
    kept = kept_of("01", LOG, listing(oak, *[hinges] * 7))
    assert len(kept) == 6
    assert [(one.kind, one.message, one.words) for one in kept[:2]] == [
        ("decision", 2, "The case is oak."),
        ("open_work", 4, "I order the hinges on Monday."),
    ]
    write_kept(tmp_path / "ledgers.jsonl", kept)
    assert list(read_kept(tmp_path / "ledgers.jsonl")) == kept


@pytest.mark.parametrize("answer", ["none", listing({"text": "x", "sentence": "9.1"})])
def test_a_list_that_cannot_be_read_is_told(answer: str) -> None:
    with pytest.raises(Unreadable, match="01"):
        kept_of("01", LOG, answer)
