"""When the model's words are the person's own."""

from __future__ import annotations

import pytest

from efforts.domain.text.locating import Span, find_words, one_line, said_as_a_rule


def test_words_are_found_whatever_the_white_space_and_only_whole() -> None:
    assert find_words("a  b\nc", "xx a b \t c yy") == Span(start=3, end=10)
    assert find_words("push", "pushing") is None
    assert find_words("B", "a b c") is None
    assert find_words("  ", "a b c") is None
    assert find_words("(x)", "f (x) y") == Span(start=2, end=5)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("never push to main", "Please never push\n to main."),
        ("Never push to main. Use branches.", "Hi. Never push to main. Use branches. Bye."),
        ("本番には触らないでください。", "はい。本番には触らないでください。"),
        ("use tabs", "Please use tabs, thank you. Why is it red?"),
        ("Answer briefly.", "x " * 5_000 + "\n\nAnswer briefly. " + "y " * 5_000),
    ],
)
def test_a_person_s_own_words_are_theirs(words: str, message: str) -> None:
    span = said_as_a_rule(words, message)
    assert span is not None
    assert one_line(span.of(message)) == one_line(words)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("push to main", "Never push to main."),
        ("use tabs", "Should we use tabs?"),
        ("delete the backups", "Delete the backups only when I say so. I don't want you to delete the backups."),
        ("touch the database", "Touch the database unless it is Friday."),
        ("Never push to the main branch", "Never push to main."),
        ("never push to main", "Never push to main."),
    ],
)
def test_words_that_lose_what_their_sentence_says_are_not(words: str, message: str) -> None:
    assert said_as_a_rule(words, message) is None
