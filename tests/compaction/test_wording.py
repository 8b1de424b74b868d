"""Words, clauses and sentences with their places."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from compaction.domain.wording import clauses, content, content_words, sentences_of, spans, weight
from efforts.domain.source_text import Part, Source, SourcePart


def pieces(text: str, *, by_line: bool = False) -> list[str]:
    return [text[start:end] for start, end in spans(text, by_line=by_line)]


def test_sentences_list_items_and_paragraphs_stand_apart_and_wrapped_lines_together() -> None:
    text = "We take the row. It is\nsmall, e.g. for us.\n\n- first point\n- second point"
    assert pieces(text) == ["We take the row.", "It is\nsmall, e.g. for us.", "- first point", "- second point"]


def test_of_what_a_tool_returned_each_line_stands_apart() -> None:
    assert pieces("1 failed\n41 passed", by_line=True) == ["1 failed", "41 passed"]


@given(st.text(max_size=300))
def test_sentences_hold_all_that_is_not_white_space_once_and_in_order(text: str) -> None:
    assert "".join("".join(pieces(text)).split()) == "".join(text.split())


def test_sentences_of_a_source_are_counted_through() -> None:
    parts = tuple(
        SourcePart(message=id, turn=1, role="user", part=Part.TEXT, text="One thing. Another thing.") for id in (1, 2)
    )
    found = sentences_of(Source(parts=parts))
    assert [(each.order, each.message, each.text) for each in found] == [
        (1, 1, "One thing."),
        (2, 1, "Another thing."),
        (3, 2, "One thing."),
        (4, 2, "Another thing."),
    ]


def test_small_words_carry_no_meaning_and_endings_are_none() -> None:
    assert content("The timeouts of the workers") == content("a worker's timeout")
    assert content("Wir nehmen den Wagen") == content("nehmen Wagen")


def test_a_script_without_spaces_is_counted_by_pairs() -> None:
    assert content_words("台所の予算") == 3
    assert weight("台所の予算です") == 14
    assert content_words("storage.total_limit_size") == 1


def test_clauses_end_with_marks_and_begin_with_contrasts() -> None:
    assert clauses("We take the row, not a lock, because Redis goes: 1,000 rows") == (
        "We take the row",
        "not a lock",
        "Redis goes",
        "1,000 rows",
    )
    assert clauses("per tenant and not as one file instead of many") == (
        "per tenant",
        "and not as one file",
        "instead of many",
    )
