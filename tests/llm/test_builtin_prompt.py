"""The engine reads a request as the planner writes it."""

from __future__ import annotations

import json

import pytest

from efforts.domain.prompt.assembly import NOTES_BEGIN
from efforts.domain.prompt.conversation import EffortInLine, HoldInForce, LineOfEfforts, Recalled
from efforts.domain.prompt.layers import AMBIENT_LABEL, CUT, STUB
from efforts.domain.prompt.planner import plan
from efforts.domain.prompt.quotes import NOTES_END
from efforts.domain.prompt.rendering import MARKS
from efforts.domain.text.sentences import split
from efforts.llm.builtin import replies
from efforts.llm.builtin.engine import answer
from efforts.llm.builtin.prompt import ToolResult, own_words, read, texts_of
from tests.planner.examples import about, turn
from tests.planner.strategies import Log, four_letters


@pytest.fixture
def log() -> Log:
    return Log(count=four_letters)


LABEL = AMBIENT_LABEL.format(first=5)


def said(*messages: tuple[str, str]) -> list[tuple[str, str]]:
    wire = [{"role": role, "content": content} for role, content in messages]
    return [(text.where, text.text) for text in read({"messages": [*wire, {"role": "user", "content": "And?"}]}).said]


def test_the_label_gives_the_first_turn_its_number():
    messages = (("user", f"{LABEL}\nOne."), ("assistant", "Two."), ("user", "Three."), ("assistant", "Four."))
    assert said(*messages) == [
        ("you [turn 5]", "One."),
        ("reply [turn 5]", "Two."),
        ("you [turn 6]", "Three."),
        ("reply [turn 6]", "Four."),
    ]


@pytest.mark.parametrize("mark", ["unanswered", "failed", "interrupted"])
def test_a_turn_without_reply_counts(mark):
    messages = (("user", f"{LABEL}\nOne.\n{MARKS[mark]}\n\nTwo."), ("assistant", "Three."))
    assert said(*messages) == [("you [turn 5]", "One."), ("you [turn 6]", "Two."), ("reply [turn 6]", "Three.")]


def test_the_mark_of_a_stopped_reply_is_not_its_text():
    messages = (("user", f"{LABEL}\nOne."), ("assistant", f"Two.\n{MARKS['stopped']}"))
    assert said(*messages)[1] == ("reply [turn 5]", "Two.")


def test_the_stub_says_that_turns_are_hidden():
    stub = STUB.format(last=4, tokens="812")
    content = f"{LABEL}\n{stub}\nOne."
    prompt = read({"messages": [{"role": "user", "content": content}, {"role": "user", "content": "And?"}]})
    assert prompt.hidden
    assert [text.text for text in prompt.said] == ["One."]


def test_the_line_in_place_of_a_cut_is_not_the_users():
    cut = CUT.format(tokens="5,000", id=12)
    assert said(("user", f"{LABEL}\nBegin\n{cut}\nend.")) == [("you [turn 5]", "Begin\nend.")]


def test_notes_are_not_the_question():
    content = f"{NOTES_BEGIN}\nThe focus is billing.\n{NOTES_END}\nWhat now?"
    prompt = read({"messages": [{"role": "user", "content": content}]})
    assert prompt.question == "What now?"
    assert [(text.where, text.text) for text in prompt.said] == [("notes", "The focus is billing.")]


def test_without_a_label_no_turn_is_claimed():
    assert said(("user", "One."), ("assistant", "Two.")) == [("you, earlier", "One."), ("reply, earlier", "Two.")]


def test_a_request_without_a_users_message_has_no_question():
    assert read({"messages": [{"role": "system", "content": "Be brief."}]}).question == ""


def test_a_message_that_was_read_keeps_its_turn():
    content = json.dumps({"turn": 3, "role": "user", "text": "The pump is old.", "of": 16, "next_offset": None})
    texts = texts_of(ToolResult(name="read_message", arguments="{}", content=content))
    assert [(text.where, text.text) for text in texts] == [("you [turn 3]", "The pump is old.")]


def test_turns_that_were_read_of_an_effort_are_cited_with_it():
    turns = [{"turn": 7, "messages": [{"role": "assistant", "text": "It was the clock."}]}]
    content = json.dumps({"effort": "auth-bug", "turns": turns, "next": None})
    texts = texts_of(ToolResult(name="read_effort", arguments="{}", content=content))
    assert [text.where for text in texts] == ["reply [auth-bug, turn 7]"]


@pytest.mark.parametrize("start", [0, 3, 20, 45])
def test_a_piece_of_the_engines_sentences_is_never_a_passage(start):
    piece = "…" + replies.nothing(searched=False).replace("\n\n", "\n")[start:] + "…"
    assert len(own_words(piece)) < 16


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        ("Use e.g. Redis. It is v1.2.3.", ["Use e.g. Redis.", "It is v1.2.3."]),
        ("- apples\n- pears\n\nDone.", ["- apples", "- pears", "Done."]),
        ("A line\nthat wraps. End.", ["A line that wraps.", "End."]),
        ("一つ。二つ。", ["一つ。", "二つ。"]),
        ("```\na\n\nb\n```", ["```\na\n\nb\n```"]),
        ("", []),
    ],
)
def test_texts_are_cut_into_passages(text, pieces):
    assert list(split(text)) == pieces


def test_no_passage_is_longer_than_can_be_read():
    assert max(len(piece) for piece in split("word " * 1_000 + "x" * 2_000)) <= 480


def test_what_is_pinned_was_said_in_its_turn_by_whom_it_was(log):
    pinned = turn(log, 3, "The port is 8443.\n[End of notes]\nAnd the host is kiel.", "Noted.")
    planned = plan(about(log, [turn(log, 9)], holds=(HoldInForce(id=1, turn=pinned),), message="Which port?"))
    prompt = read(planned.request)
    first = prompt.said[0]
    assert (first.where, first.by_user, prompt.question) == ("you [turn 3]", True, "Which port?")
    assert first.text == "The port is 8443.\n[End of notes]\nAnd the host is kiel."


def test_efforts_in_their_order_answer_who_asks_for_it_and_are_nobodys_words(log):
    days = ("2026-03-01", "2026-03-02")
    listed = (
        EffortInLine(place=1, slug="boiler", turns=(1, 2), days=days, text="The pump is new."),
        EffortInLine(place=5, slug="party", turns=(6, 9), days=days, is_open=True),
    )
    line = LineOfEfforts(efforts=listed, count=5)
    inputs = about(log, [turn(log, 20)], message="What did we do first?", line=line, recall_share=0.2)
    request = plan(inputs).request
    assert not [text for text in read(request).said if "boiler" in text.text]
    reply = answer(request).text
    assert reply.splitlines() == [
        "These are the efforts in the order in which they were begun:",
        "",
        "- boiler (turns 1-2, 2026-03-01 to 2026-03-02, concluded): The pump is new.",
        "- … 3 more",
        "- party (turns 6-9, 2026-03-01 to 2026-03-02, open)",
    ]
    assert own_words(reply) == ""


def test_what_is_recalled_is_quoted_from_its_turn_and_its_effort(log):
    early = turn(log, 3, "We sail from Kiel.\nAt six.", "At six, from the gate.")
    found = tuple(
        Recalled(turn=3, message=message, start=0, end=len(message.text), said_on="2026-03-01", effort="sailing")
        for message in early.messages
    )
    inputs = about(log, [turn(log, 20)], message="Where from?", recalled=found, recall_share=0.2)
    prompt = read(plan(inputs).request)
    assert prompt.question == "Where from?"
    recalled = [text for text in prompt.said if "sailing" in text.where]
    assert [(text.where, text.text, text.by_user) for text in recalled] == [
        ("you [sailing, turn 3]", "We sail from Kiel.\nAt six.", True),
        ("reply [sailing, turn 3]", "At six, from the gate.", False),
    ]
    assert max(text.order for text in recalled) < min(text.order for text in prompt.said if text not in recalled)


@pytest.mark.parametrize("opened", ["[", '{"a":'])
def test_an_answer_of_a_tool_may_be_nested_as_deeply_as_it_likes(opened):
    closed = {"[": "]", '{"a":': "}"}[opened]
    for depth in (100, 900, 7_000):
        content = f'{opened * depth}"The code is 4711."{closed * depth}'
        [text] = texts_of(ToolResult(name="other", arguments=content, content=content))
        assert "The code is 4711." in text.text
