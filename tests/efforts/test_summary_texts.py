"""What a summary says when no model writes it, and what it is made from."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from efforts.domain.conversation import LogMessage, PastTurn, ToolCall
from efforts.domain.extractive import LONGEST_SUMMARY, summarise, trimmed
from efforts.domain.lifecycle import RunState
from efforts.domain.source_text import Source, source_of
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


def summary(*exchanges: tuple[str, str], name: str = "payment-webhook") -> str:
    return summarise(log(*exchanges), name=name, count=count)


def test_it_says_what_was_asked_what_came_of_it_and_what_is_open() -> None:
    text = summary(
        ("Hi there!", "Hello."),
        ("Our webhook times out after 30 seconds.", "What does it do first? Tell me a little about it, please."),
        ("It waits for the ledger.", "Then we answer at once. Still open: an alert for the dead-letter list."),
        ("We decided on a retry limit of 3, and it works now.", "Glad to hear it."),
    )
    assert text == (
        "Our webhook times out after 30 seconds. We decided on a retry limit of 3, and it works now. "
        "Open: an alert for the dead-letter list."
    )


def test_what_was_open_and_is_done_later_is_not_open() -> None:
    text = summary(
        ("Please plan the load test.", "Still open: the load test with 500 events."),
        ("The load test with 500 events ran in 41 seconds.", "Good."),
    )
    assert "The load test with 500 events ran in 41 seconds." in text
    assert "Open:" not in text


def test_a_value_that_changed_is_given_as_it_is_now() -> None:
    text = summary(
        ("The queue needs a limit before we release it.", "Which one?"),
        ("Decided: set the retry limit to 3.", "All right."),
        ("Decided: set the retry limit to 5.", "All right."),
    )
    assert "5" in text
    assert "3" not in text


def test_a_question_is_no_outcome() -> None:
    text = summary(
        ("We look at the login of the mobile app today.", "Is it fixed in version 2.1?"), ("No idea yet.", ".")
    )
    assert "2.1" not in text


def test_what_is_about_keeping_the_log_is_no_outcome() -> None:
    text = summary(
        ("My back has been hurting since I moved the desk.", "I opened an effort for it. How high is it?"),
        ("76 cm. A footrest solved it.", "Glad to hear it. I concluded the effort."),
    )
    assert text == "My back has been hurting since I moved the desk. A footrest solved it."


def test_what_the_log_comes_back_to_goes_before_what_could_be_said_of_anything() -> None:
    source = log(
        ("The search is slow, and the index is at fault.", "Then look at the index of the search first."),
        ("The search index was built in 4 minutes.", "Good."),
        ("All of that is done and works for everybody now, finished at last.", "Good."),
    )
    text = summarise(source, name="search", count=count, limit=30)
    assert text == "The search is slow, and the index is at fault. The search index was built in 4 minutes."


def test_open_work_that_does_not_fit_is_counted() -> None:
    rooms = ["kitchen", "hallway", "bathroom", "cellar", "attic", "balcony", "garage", "garden", "roof", "stairs"]
    tasks = " ".join(
        f"Still open: paint the {room} in a colour that all of us can live with for years." for room in rooms
    )
    text = summary(("Help me to plan the renovation of the house.", tasks))
    shown = text.count("paint the")
    assert 0 < shown < len(rooms)
    assert text.endswith(f"+{len(rooms) - shown} more open.")
    assert count(text) <= LONGEST_SUMMARY


def test_a_short_effort_is_named_and_not_summarised() -> None:
    assert summary(("Quick one?", "Sure."), name="Auth bug") == "Brief effort: Auth bug (too short to summarize)"


def test_code_and_marks_of_formatting_are_left_out() -> None:
    text = summary(
        (
            "The handler of the webhook is slow.",
            "## Finding\n\n- **Fixed** by a job queue.\n\n```python\nfixed = 12\n```",
        ),
    )
    assert text == "The handler of the webhook is slow. Fixed by a job queue."


@given(st.lists(st.tuples(st.text(max_size=400), st.text(max_size=400)), max_size=6), st.text(min_size=1, max_size=200))
def test_no_log_makes_it_longer_than_it_may_be_and_the_same_log_makes_the_same(
    exchanges: list[tuple[str, str]], name: str
) -> None:
    text = summary(*exchanges, name=name)
    assert count(text) <= LONGEST_SUMMARY
    assert text == summary(*exchanges, name=name)


def test_it_takes_a_third_of_a_short_log_at_most() -> None:
    exchange = ("We set the retry limit to 3 and the delay to 10 seconds.", "Decided: 3 retries, 10 seconds apart.")
    for length in range(1, 8):
        talk = [(f"Point {number}. {exchange[0]}", f"{exchange[1]} That was {number}.") for number in range(length)]
        assert count(summary(*talk)) <= max(count(log(*talk).text) / 3, 40)


def test_one_endless_word_is_cut() -> None:
    assert 0 < count(summary(("x1" * 5_000, "All right."))) <= LONGEST_SUMMARY


def test_a_text_is_trimmed_at_the_end_of_a_sentence() -> None:
    assert (
        trimmed("It is one.  It is\ntwo. It is three.", count, count("It is one. It is two."))
        == "It is one. It is two."
    )


def test_a_first_sentence_that_is_too_long_is_cut_at_a_word() -> None:
    text = trimmed("never ending " * 200, count, 10)
    assert text.endswith(("ending …", "never …"))
    assert count(text) <= 10


def test_the_source_has_a_header_for_each_message_and_one_way_to_write_its_text() -> None:
    # The é comes as two characters, and the lines end as on other systems.
    source = source_of([turn(7, user("Cafe\u0301\r\nopen?", id=41), assistant("Yes.", id=42))])
    assert source.text == "[message 41, turn 7, user]\nCafé\nopen?\n\n[message 42, turn 7, assistant]\nYes.\n"


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
