"""What is indexed and what is looked for are the same terms, whatever script or spelling."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from efforts.domain.text.passages import spans_of
from efforts.domain.text.terms import LONGEST_TERM, MOST_QUERY_TERMS, query_terms, terms_of

ALLOWED = re.compile(r"[a-z0-9\u0080-\U0010ffff]+")


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("auth_bug", "We named it auth-bug."),
        ("auth bug", "see AuthBug in the tracker"),
        ("AuthBug", "the auth_bug again"),
        ("token refresh", "refreshToken() is never called"),
        ("token.py", "look into src/auth/token.py:42"),
        ("errors 401s", "a 401 error"),
        ("3.11", "We are on Python 3.11 now."),
        ("adopting", "the adoption agency"),
        ("cafe", "at the Café"),
        ("日本旅行", "日本旅行の計画を立てたい"),
        ("авторизация", "ошибка авторизации"),
        ("كتاب", "قرأت كِتاب"),
        ("🎉", "It works 🎉"),
        ("C++", "written in c++, not C"),
    ],
)
def test_a_query_finds_what_is_meant(query: str, text: str) -> None:
    assert set(query_terms(query)) & set(terms_of(text))


@pytest.mark.parametrize(
    ("query", "text"), [("ui", "building"), ("auth", "the author"), ("api", "capital"), ("C", "C++")]
)
def test_words_within_words_are_others(query: str, text: str) -> None:
    assert not set(query_terms(query)) & set(terms_of(text))


def test_words_that_only_hold_a_sentence_together_are_looked_for_only_where_there_are_no_others() -> None:
    assert query_terms("what did we say about the auth thing?") == ("auth",)
    assert query_terms("what was that") == ("what", "was", "that")


@given(st.text())
def test_a_term_can_be_no_syntax(text: str) -> None:
    for term in (*terms_of(text), *query_terms(text)):
        assert ALLOWED.fullmatch(term)
        assert len(term) <= LONGEST_TERM
    assert len(query_terms(text)) <= MOST_QUERY_TERMS


@given(st.text(alphabet=st.sampled_from("ab .\n。日"), max_size=4_000))
def test_passages_cover_a_text_in_order(text: str) -> None:
    assert "".join(text[start:end] for start, end in spans_of(text)) == (text if text.strip() else "")


def test_passages_have_about_a_paragraph_and_end_at_sentences() -> None:
    text = "One two three four five six seven eight nine ten. " * 60
    spans = spans_of(text)
    assert [len(text[start:end].split()) for start, end in spans] == [110, 110, 110, 110, 110, 50]
    assert all(text[start:end].strip().endswith("ten.") for start, end in spans)


def test_a_text_without_spaces_is_cut_too() -> None:
    assert len(spans_of("日" * 10_000)) > 5
