"""When two names mean one effort: only where they are the same words."""

from __future__ import annotations

import re
import unicodedata

# Models join words in ids, and people write them in either way.
BETWEEN = re.compile(r"[\s_\-‐‑–—]+")
AROUND = ".,;:!?\"'“”‘’„«»()[]{}<>`*"
# After these English adds a syllable: boxes, crashes, heroes.
HISSES = ("s", "x", "z", "ch", "sh", "o")
# A shorter word with an s behind it is likelier another word: a / as, I / is.
LEAST_SINGULAR = 3


def words_of(name: str) -> tuple[str, ...]:
    """The words of a name as they are compared: lower case, parted at spaces, hyphens and underscores."""
    pieces = BETWEEN.split(unicodedata.normalize("NFC", name).lower())
    return tuple(word for piece in pieces if (word := piece.strip(AROUND)))


def same_name(one: str, other: str) -> bool:
    """Whether the names differ in nothing but case, hyphens and the plural of words.

    A digit, a letter or a word that differs makes another effort: client A and client B, invoice 2024-05 and 2024-06.
    """
    first, second = words_of(one), words_of(other)
    return len(first) == len(second) and all(
        word == others or is_plural(word, others) or is_plural(others, word)
        for word, others in zip(first, second, strict=True)
    )


def is_plural(word: str, singular: str) -> bool:
    """Whether `word` is the English plural of `singular`."""
    if len(singular) < LEAST_SINGULAR or not singular.isalpha():
        return False
    endings = ["s", *(["es"] if singular.endswith(HISSES) else [])]
    plurals = [f"{singular}{ending}" for ending in endings if not singular.endswith("s") or ending == "es"]
    return word in [*plurals, *([f"{singular[:-1]}ies"] if singular.endswith("y") else [])]


def as_id(text: str) -> str:
    """A name as ids are written, with hyphens: what models give where an id is asked for."""
    return "-".join(words_of(text))
