"""What `manage.py recall` counts, by hand."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.recall.baselines import Fts5, Keywords
from benchmarks.recall.evidence import flat, held, pieces_in, sent_text, told_in
from benchmarks.recall.ranks import Table, distinct, figures, recall, reciprocal_rank
from benchmarks.replay import Piece
from benchmarks.replay.conversations import talk_of

AB = [frozenset({"a"}), frozenset({"b"})]


def pieces(*spans: tuple[str, int, int]) -> list[Piece]:
    return [Piece(id=id, start=start, end=end) for id, start, end in spans]


# Ranks


def test_recall_is_the_share_of_the_targets_met_by_then() -> None:
    ranked = ["x", "a", "y", "z", "b"]
    assert [recall(AB, ranked, cut) for cut in (1, 2, 4, 5, 10)] == [0, 0.5, 0.5, 1, 1]


def test_of_a_span_any_message_will_do() -> None:
    span = [frozenset({"4", "5", "6"})]
    assert [recall(span, ["9", "5"], 2), recall(span, ["9", "7"], 2)] == [1, 0]


def test_the_reciprocal_rank_is_that_of_the_first_message_of_any_target() -> None:
    assert [reciprocal_rank(AB, ranked) for ranked in (["x", "b", "a"], ["x"], [])] == [0.5, 0, 0]


def test_a_message_that_is_met_twice_counts_once() -> None:
    assert distinct(["a", "x", "a", "b"]) == ["a", "x", "b"]


@given(st.lists(st.sampled_from("abcdefgh"), unique=True))
def test_deeper_cuts_never_find_less_and_hits_are_recall_above_nothing(ranked: list[str]) -> None:
    found = figures(AB, ranked)
    assert found["recall@1"] <= found["recall@5"] <= found["recall@10"] <= found["recall@20"]
    assert all(found[f"hit@{cut}"] == (found[f"recall@{cut}"] > 0) for cut in (1, 5, 10, 20))
    assert (found["mrr"] > 0) == (found["recall@20"] > 0)


def test_a_table_has_the_means_of_each_category_and_of_all() -> None:
    table = Table()
    table.add("when", {"share": 1.0})
    table.add("when", {"share": 0.0})
    table.add("who", {"share": 1.0})
    assert table.as_json() == {
        "all": {"questions": 3, "share": 0.6667},
        "when": {"questions": 2, "share": 0.5},
        "who": {"questions": 1, "share": 1.0},
    }
    assert Table().as_json() == {}


# Evidence

ROW: dict[str, Any] = {
    "id": "talk",
    "source": "test",
    "messages": [
        {"id": "a", "session": 1, "role": "user", "speaker": "Ann", "text": "One."},
        {"id": "b", "session": 1, "role": "user", "speaker": "Ann", "text": "Two."},
        {"id": "c", "session": 1, "role": "user", "speaker": "Bob", "text": "  "},
        {"id": "d", "session": 2, "role": "assistant", "speaker": "Bob", "text": "Three."},
    ],
    "sessions": [],
    "questions": [
        {"id": "q1", "question": "?", "answer": "!", "category": "x", "evidence": ["b", "gone", "b"]},
        {"id": "q2", "question": "?", "answer": "!", "category": "x", "evidence_spans": [["b", "d"], ["c", "c"]]},
        {"id": "q3", "question": "?", "answer": "!", "category": "x", "evidence_sessions": [2, 9]},
    ],
}


def test_evidence_is_messages_or_spans_or_sessions_as_far_as_they_are_there() -> None:
    talk = talk_of(ROW)
    told = told_in(talk)
    assert [told.targets(question) for question in talk.questions] == [
        [frozenset({"b"})],
        [frozenset({"b", "d"})],
        [frozenset({"d"})],
    ]
    assert [told.session_targets(told.targets(question)) for question in talk.questions] == [
        [frozenset({1})],
        [frozenset({1}), frozenset({2})],
        [frozenset({2})],
    ]


def test_joined_messages_are_told_apart_and_each_has_its_speaker() -> None:
    told = told_in(talk_of(ROW))
    assert told.texts == {"a": "One.", "b": "Two.", "d": "Three."}
    assert told.named == {"a": "Ann: One.", "b": "Ann: Two.", "d": "Bob: Three."}


def test_no_answer_is_ever_read() -> None:
    class Sealed(dict[str, Any]):
        def __getitem__(self, key: str) -> Any:
            assert key != "answer"
            return super().__getitem__(key)

        def get(self, key: str, default: Any = None) -> Any:
            assert key != "answer"
            return super().get(key, default)

    sealed = {**ROW, "questions": [Sealed(question) for question in ROW["questions"]]}
    assert len(talk_of(sealed).questions) == 3


def test_a_passage_counts_every_message_that_it_holds_something_of() -> None:
    found = pieces(("a", 5, 9), ("b", 10, 14), ("c", 15, 30))
    assert [pieces_in(found, *span) for span in ((0, 12), (9, 10), (14, 40))] == [["a", "b"], [], ["c"]]


def held_in(text: str, span: tuple[int, int], *found: tuple[str, int, int], sent: str | None = None) -> list[str]:
    return list(held(text, pieces(*found), *span, sent=flat(text if sent is None else sent)))


def test_a_short_message_stands_whole_or_not_at_all() -> None:
    text = "Ann: We met.\nOn Friday."
    both = (("a", 5, 12), ("b", 13, 23))
    assert held_in(text, (0, 23), *both) == ["a", "b"]
    assert held_in(text, (0, 22), *both) == ["a"]


def test_of_a_long_message_a_passage_of_it_will_do() -> None:
    text = "word " * 400
    assert held_in(text, (500, 900), ("a", 0, 2000)) == []
    assert held_in(text, (500, 905), ("a", 0, 2000)) == ["a"]


def test_what_the_request_does_not_bear_out_does_not_stand() -> None:
    text = "We met."
    assert held_in(text, (0, 7), ("a", 0, 7), sent="We did not.") == []


def test_quoted_over_several_lines_a_message_is_the_same() -> None:
    request = {"messages": [{"role": "user", "content": "[Turn 3]\n> One.\n>\n> Two > one.\n\nWhat?"}]}
    assert sent_text(request) == "[Turn 3] One. Two > one. What?"
    assert held_in("One.\n\nTwo > one.", (0, 16), ("a", 0, 16), sent=sent_text(request)) == ["a"]


# Baselines

SAID = {
    "1": "Ann: The tokens were refreshed too late.",
    "2": "Bob: Lunch at noon?",
    "3": "Ann: A token refreshes itself, say the tokens' makers.",
}


@pytest.mark.parametrize("question", ["", "?", "the and", 'NEAR("x" AND', "* OR (token", "\x00"])
def test_a_baseline_takes_any_question(question: str) -> None:
    for method in (Fts5(SAID), Fts5(SAID, every_word=True), Keywords(SAID)):
        assert set(method.rank(question)) <= set(SAID)


def test_fts5_stems_and_ranks_and_the_seeds_rule_needs_two_words_as_they_are() -> None:
    assert Fts5(SAID).rank("refresh token") == ["3", "1"]
    assert Keywords(SAID).rank("Were the tokens late?") == ["1"]
    assert Keywords(SAID).rank("lunch") == []
