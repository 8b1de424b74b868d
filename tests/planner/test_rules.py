"""Which sentences sound like a rule, and when the model's words are the person's own."""

from __future__ import annotations

import pytest

from efforts.domain.rules import Span, find_words, one_line, rules_in, said_as_a_rule


@pytest.mark.parametrize(
    "text",
    [
        "Never touch the production database.",
        "please never push to main",
        "From now on, answer in German.",
        "Don't use semicolons in JavaScript.",
        "Do not write to the customer's bucket!",
        "Always run the tests before you commit.",
        "The public API must not change.",
        "You must never share the key.",
        "- never deploy on Fridays",
        "When writing tests, always use pytest.",
        "Under no circumstances delete the backups.",
        "Ab jetzt bitte auf Deutsch antworten.",
    ],
)
def test_a_lasting_rule_is_heard(text: str) -> None:
    [span] = rules_in(f"Hello there. \n\n{text}\n\nThanks for the help!")
    assert one_line(text).endswith(span.of(f"Hello there. \n\n{text}\n\nThanks for the help!"))


@pytest.mark.parametrize(
    "text",
    [
        "Never mind the noise.",
        "I've never been to Rome.",
        "Don't worry about it at all.",
        "Should we always use tabs?",
        "Never had that problem before.",
        "I always forget that one.",
        "Don't do that yet, please.",
        "It must not have worked then.",
        "Never worked for me at home.",
        "I don't know what that is.",
        "From now on I'll be in Berlin.",
        "Always the same error here.",
        "Don't you think so, too?",
        "Never!",
        "Never saw this coming.",
        "Always here to help!",
        "Don't give up on your dreams.",
        "I'll make it a priority from now on.",
        "> never touch the production database",
        "```\nnever touch the production database\n```",
        "Never touch the production database. " * 200,
    ],
)
def test_what_tells_asks_or_quotes_is_no_rule(text: str) -> None:
    assert rules_in(text) == ()


def test_a_sentence_made_to_be_read_in_many_ways_is_read_at_once() -> None:
    assert rules_in("when and so also " * 17 + "!") == ()
    assert rules_in("so in the and for the " * 13) == ()


def test_a_rule_over_two_lines_is_one_and_its_place_is_told() -> None:
    text = "Fix the bug.\nNever touch the\n  production database. Thanks."
    [span] = rules_in(text)
    assert one_line(span.of(text)) == "Never touch the production database."


def test_of_a_list_of_rules_the_first_few_are_heard() -> None:
    text = "\n".join(f"- never touch table number {number}" for number in range(9))
    assert [span.of(text) for span in rules_in(text)] == [f"never touch table number {n}" for n in range(3)]


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
