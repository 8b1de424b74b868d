"""Two names are one effort's only where they are the same words."""

from __future__ import annotations

import string

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from efforts.domain.effort.names import as_id, same_name, words_of
from tests.efforts.test_tools import OTHER_EFFORTS

WORDS = st.text(st.sampled_from(string.ascii_letters + string.digits + "äöüßéñл日."), min_size=1, max_size=8)
NAMES = st.lists(WORDS, min_size=1, max_size=4).map(" ".join).filter(words_of)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Auth bug", "auth-BUG"),
        ("payment_webhook", "Payment  webhooks"),
        ("tax boxes", "tax box"),
        ("Library entry", "library entries"),
        ("“Auth bug”", "auth bug."),
        ("caches", "cache"),
    ],
)
def test_case_hyphens_quotes_and_plural_make_no_other_name(one: str, other: str) -> None:
    assert same_name(one, other)
    assert same_name(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [*OTHER_EFFORTS, ("Paris", "Pari-s"), ("clas", "class"), ("A", "As"), ("report", "the report"), ("C", "C#")],
)
def test_a_digit_a_letter_or_a_word_more_is_another_name(one: str, other: str) -> None:
    assert not same_name(one, other)
    assert not same_name(other, one)


@given(NAMES, st.data())
def test_the_same_words_written_in_any_case_and_joined_in_any_way_are_the_same_name(
    name: str, data: st.DataObject
) -> None:
    joint = data.draw(st.sampled_from([" ", "-", "_", "  "]))
    written = joint.join(word if data.draw(st.booleans()) else word.lower() for word in name.split(" "))
    assert same_name(name, written)
    assert as_id(name) == as_id(written)


@given(NAMES, st.data())
def test_another_letter_or_digit_anywhere_is_another_name(name: str, data: st.DataObject) -> None:
    letters = [place for place, character in enumerate(name) if character.isalnum()]
    assume(letters)
    place = data.draw(st.sampled_from(letters))
    other = data.draw(st.sampled_from("abcdefgq0123456789ü"))
    assume(other != name[place].lower())
    changed = name[:place] + other + name[place + 1 :]
    assert not same_name(name, changed)


@given(NAMES, NAMES)
def test_it_is_the_same_from_both_sides_and_never_with_another_number_of_words(one: str, other: str) -> None:
    assert same_name(one, other) == same_name(other, one)
    assert not same_name(one, f"{one} {other}")
