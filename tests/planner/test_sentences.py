"""The one splitter: every character in one sentence, none lost, none twice."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from efforts.domain.text.sentences import LONGEST_PASSAGE, sentence_places, sentences

TEXTS = st.text(alphabet=st.sampled_from("abc ABC.!?\n\t,;:-*#`>“”1234日本。"), max_size=300)


@given(text=TEXTS, by_line=st.booleans())
def test_all_but_white_space_is_in_just_one_sentence_in_its_order(text: str, by_line: bool) -> None:
    places = list(sentence_places(text, by_line=by_line))
    assert all(one[1] <= other[0] for one, other in itertools.pairwise(places))
    assert "".join("".join(text[start:end].split()) for start, end in places) == "".join(text.split())


@given(words=st.lists(st.text(alphabet="abcdef", min_size=1, max_size=12), min_size=200, max_size=400))
def test_what_runs_on_is_cut_between_words(words: list[str]) -> None:
    text = " ".join(words)
    pieces = [text[start:end] for start, end in sentence_places(text)]
    assert max(map(len, pieces)) <= LONGEST_PASSAGE
    assert " ".join(pieces) == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It works. Does it? Yes!", ["It works.", "Does it?", "Yes!"]),
        ("We meet on 14. Mai in Bonn.", ["We meet on 14. Mai in Bonn."]),
        ("It took 200 ms. That is fine.", ["It took 200 ms.", "That is fine."]),
        ("Ask Dr. Lund, e.g. tomorrow.", ["Ask Dr. Lund, e.g. tomorrow."]),
        ("It hasn't. Try again.", ["It hasn't.", "Try again."]),
        ("予約しました。次は何ですか。", ["予約しました。", "次は何ですか。"]),
    ],
)
def test_a_full_stop_ends_a_sentence_where_a_reader_would_stop(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected


def test_items_of_a_list_stand_for_themselves_and_wrapped_lines_together() -> None:
    text = "To do:\n- ask Ana\n- book the\n  hotel\n\nThen we\ngo."
    assert [" ".join(text[a:b].split()) for a, b in sentence_places(text)] == [
        "To do:",
        "- ask Ana",
        "- book the hotel",
        "Then we go.",
    ]


def test_code_stays_together_in_pieces_of_twelve_lines() -> None:
    code = "\n".join(f"line {number}" for number in range(30))
    text = f"Run this:\n```\n{code}\n```\nThen stop."
    pieces = [text[a:b] for a, b in sentence_places(text)]
    assert pieces[0] == "Run this:"
    assert pieces[-1] == "Then stop."
    assert [piece.count("\n") + 1 for piece in pieces[1:-1]] == [12, 12, 8]
