"""A headline names what its log can be expanded for."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from efforts.domain.details import MOST_TOKENS, MOST_WORDS, headline, with_details
from efforts.domain.extractive import LONGEST_SUMMARY
from efforts.llm.tokens import get_counter
from tests.efforts.test_summary_texts import log

count = get_counter().count

AUTH = log(
    ("Users are signed out after some minutes.", "Look at src/auth/session.py: the token refresh fails with 401."),
    ("The token refresh answers 401 after 900 seconds.", "Then the refresh window is too small; the clock drifts."),
    ("I raised the refresh window to 1200 and the clock is in order.", "Good. Is the token refresh tested now?"),
    ("There is a test of the token refresh now, it works.", "All right, that is settled."),
)


def details(source=AUTH, text: str = "Users are signed out after some minutes. It works now.", **more) -> list[str]:
    """Those that the code added to a summary."""
    whole = with_details(text, source, name="auth-bug", count=count, **more)
    assert whole.startswith(text)
    added = re.fullmatch(r" \(details: (.*)\)|", whole.removeprefix(text))
    assert added
    return (added[1] or "").split(", ") if added[1] else []


def test_words_that_the_log_comes_back_to_and_names_of_programs_and_numbers_are_named() -> None:
    named = details()
    assert "token refresh" in named
    assert {"401", "src/auth/session.py"} <= set(named)


def test_what_the_summary_says_is_not_named_again() -> None:
    text = "The token refresh failed with 401 in src/auth/session.py."
    for words in details(text=text):
        assert words not in text
    assert "token refresh" not in details(text="It was a refresh of tokens.")


def test_words_of_all_the_talk_tell_less_than_those_of_this_log() -> None:
    assert "clock" in details()[:6]
    rest = ["The clock on the wall.", "What does the clock say?", "Another clock."] * 20
    assert "clock" not in details(rest=rest)[:4]


def test_a_sentence_that_is_said_again_and_again_tells_no_more_than_once() -> None:
    source = log(*[(f"The pump of line {number} is loud, very.", "Noted as a memorandum.") for number in range(9)])
    assert "memorandum" not in details(source=source, text="Pumps.")


def test_a_log_of_which_all_is_said_has_no_details() -> None:
    source = log(("The webhook is slow.", "It is slow, the webhook."))
    assert details(source=source, text="The webhook is slow.") == []


@pytest.mark.parametrize(
    ("said", "word"),
    [
        (("サーバーの再起動が必要です。", "サーバーは夜に再起動します。"), "サーバー"),
        (("Нужен перезапуск сервера ночью.", "Перезапуск будет завтра, сервера хватит."), "перезапуск"),
    ],
)
def test_other_scripts_have_details(said: tuple[str, str], word: str) -> None:
    source = log(said, ("That is the end of it all.", "Goodbye until tomorrow then."))
    assert word in " ".join(details(source=source, text="In short.")).lower()


def test_secrets_are_no_details() -> None:
    key = "sk-proj4f9a8b7c6d5e4f3a2b1c"
    source = log((f"The key is {key}, api_key={key}x.", f"Use {key} there."), (f"Again {key}.", "It works, that key."))
    assert "proj4f9a" not in " ".join(details(source=source, text="In short."))


TALK = st.lists(st.tuples(st.text(max_size=400), st.text(max_size=400)), max_size=6)


@given(TALK, st.text(max_size=300), st.lists(st.text(max_size=80), max_size=3))
def test_a_headline_is_never_too_long_and_the_same_every_time(talk, text: str, rest: list[str]) -> None:
    source = log(*talk)
    made = headline(source, name="x", count=count, rest=rest)
    assert count(made) <= LONGEST_SUMMARY
    assert made == headline(source, name="x", count=count, rest=rest)
    added = with_details(text, source, name="x", count=count, rest=rest).removeprefix(text.rstrip())
    assert count(added) <= MOST_TOKENS + 1
    assert len(added.split()) <= MOST_WORDS + 1


def test_a_headline_with_details_is_at_most_half_its_log() -> None:
    for length in range(3, 9):
        source = log(
            *[(f"Point {n}: set the retry limit of queue-{n} to {n}00.", f"Set, queue-{n}.") for n in range(length)]
        )
        assert count(headline(source, name="queues", count=count)) <= max(count(source.text) // 2, 40)


def test_what_was_asked_what_came_of_it_and_what_is_open_still_stand_before_the_details() -> None:
    said, _, named = headline(AUTH, name="auth-bug", count=count).partition(" (details: ")
    assert said.startswith("Users are signed out after some minutes.")
    assert named.endswith(")")
