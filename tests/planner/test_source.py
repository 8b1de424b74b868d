"""The canonical rendering of a log: headers, numbered sentences, and no line of the log that could be one of ours."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from efforts.domain.effort.states import RunState
from efforts.domain.prompt.conversation import LogMessage, PastTurn, ToolCall
from efforts.domain.text.source_text import Source, source_of

OURS = re.compile(r"^(?:\[\d+\] turn \d+ · \S.*|\d+\.\d+ .*|    .*|)$")


def turn(number: int, *messages: LogMessage) -> PastTurn:
    return PastTurn(number=number, state=RunState.COMPLETED, messages=messages)


def said(id: int, role: str, text: str, **more: object) -> LogMessage:
    return LogMessage(id=id, role=role, text=text, tokens=1, **more)  # type: ignore[arg-type]


def talk(*texts: str) -> Source:
    return source_of([turn(number, said(90 + number, "user", text)) for number, text in enumerate(texts, start=1)])


def test_messages_are_numbered_in_their_order_and_sentences_in_their_message() -> None:
    source = source_of(
        [turn(7, said(40, "user", "It fails. Why?"), said(41, "assistant", "I look."))], {40: "2025-03-04"}
    )
    assert source.text == (
        "[1] turn 7 · user · 2025-03-04\n1.1 It fails.\n1.2 Why?\n\n[2] turn 7 · assistant\n2.1 I look.\n"
    )
    assert source.by_sentence["1.2"].message == 40
    assert source.part_of("2.1").role == "assistant"


def test_who_speaks_stands_in_the_header_where_people_talk_among_themselves() -> None:
    source = talk("Ana: We go by train.", "Ben: Fine. Friday then.", "Ana: Friday.")
    assert [part.who for part in source.parts] == ["Ana", "Ben", "Ana"]
    assert source.text.startswith("[1] turn 1 · user Ana\n1.1 We go by train.\n")
    assert source.by_sentence["2.1"].text == "Fine."


def test_the_same_words_give_the_same_bytes_wherever_they_were_said() -> None:
    one, other = talk("Yes. No."), source_of([turn(1, said(5, "user", "Yes. No."))])
    assert (one.text, one.sha256) == (other.text, other.sha256)


def test_calls_and_results_go_by_their_lines_and_go_on_counting() -> None:
    call = ToolCall(id="c", name="run_command", arguments='{"command": "make"}')
    source = source_of(
        [
            turn(
                1,
                said(1, "user", "Build it."),
                said(2, "assistant", "I do.", tool_calls=(call,)),
                said(3, "tool", "ok\nexit 0", tool_call_id="c"),
            )
        ]
    )
    assert list(source.by_sentence) == ["1.1", "2.1", "2.2", "3.1", "3.2"]
    assert "[3] turn 1 · tool result of run_command\n3.1 ok\n3.2 exit 0\n" in source.text


@given(texts=st.lists(st.text(alphabet="ab [1].\n·turn0End oflg`\t-"), min_size=1, max_size=4))
def test_no_line_of_a_log_stands_where_a_line_of_the_program_does(texts: list[str]) -> None:
    source = talk(*texts)
    assert all(OURS.match(line) for line in source.text.split("\n"))
    headers = [line for line in source.text.split("\n") if line.startswith("[")]
    assert headers == [part.header for part in source.parts]


def test_turns_taken_out_of_it_keep_their_numbers() -> None:
    source = talk("One.", "Two.", "Three.")
    assert source.between({2, 3}).text == "[2] turn 2 · user\n2.1 Two.\n\n[3] turn 3 · user\n3.1 Three.\n"
    assert source.between({1, 2, 3}).sha256 == source.sha256


def test_what_was_made_under_the_first_policy_is_known_by_its_hash() -> None:
    source = talk("One.")
    assert source.is_what(source.sha256)
    assert source.is_what(source.hashes[1])
    assert not source.is_what(talk("Other.").sha256)
