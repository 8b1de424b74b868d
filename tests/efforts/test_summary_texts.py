"""What a summary is made from."""

from __future__ import annotations

from efforts.domain.effort.states import RunState
from efforts.domain.prompt.conversation import LogMessage, PastTurn, ToolCall
from efforts.domain.text.source_text import Source, source_of
from efforts.llm.tokens import get_counter

count = get_counter().count


def turn(number: int, *said: LogMessage, state: RunState = RunState.COMPLETED) -> PastTurn:
    return PastTurn(number=number, state=state, messages=said)


def user(text: str, id: int = 1) -> LogMessage:
    return LogMessage(id=id, role="user", text=text, tokens=count(text))


def assistant(text: str, id: int = 2, *calls: ToolCall) -> LogMessage:
    return LogMessage(id=id, role="assistant", text=text, tokens=count(text), tool_calls=calls)


def result(text: str, call: ToolCall, id: int = 3) -> LogMessage:
    return LogMessage(id=id, role="tool", text=text, tokens=count(text), tool_call_id=call.id)


def log(*exchanges: tuple[str, str]) -> Source:
    return source_of(
        turn(number, user(question, id=2 * number - 1), assistant(answer, id=2 * number))
        for number, (question, answer) in enumerate(exchanges, 1)
    )


def test_what_was_only_looked_up_again_is_no_source() -> None:
    search, measure = (ToolCall(id=name, name=name, arguments="{}") for name in ("search_messages", "measure"))
    source = source_of(
        [
            turn(
                1,
                user("What did we measure?"),
                assistant("", 2, search, measure),
                result("found again", search, 3),
                result("41 seconds", measure, 4),
            )
        ]
    )
    assert "found again" not in source.text
    assert "search_messages" not in source.text
    assert '"tool":"measure"' in source.text
    assert "41 seconds" in source.text


def test_a_turn_that_failed_is_source_with_its_question_only() -> None:
    source = source_of([turn(1, user("And now?"), assistant("I thi"), state=RunState.FAILED)])
    assert [part.text for part in source.parts] == ["And now?"]


def test_another_word_is_another_source() -> None:
    assert log(("Hi", "Yes")).sha256 != log(("Hi", "No")).sha256
    assert log(("Hi", "Yes")).sha256 == log(("Hi", "Yes")).sha256
