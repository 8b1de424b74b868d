"""Whether words that a model gives for the user's own are just what the user wrote."""

from __future__ import annotations

import unicodedata

# Fewer of neither, unless they are all that was said: a single short word stands in any message by chance.
FEWEST_WORDS, FEWEST_CHARACTERS = 2, 6


def own_words(words: str, message: str) -> str:
    """The words, in one line, where they are letter by letter a part of the message; else ""."""
    words, message = in_one_line(words), in_one_line(message)
    enough = len(words.split()) >= FEWEST_WORDS or len(words) >= FEWEST_CHARACTERS or words == message
    return words if enough and words in message else ""


def in_one_line(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).split())
