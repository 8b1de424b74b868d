"""Words of a query, and the passages in which they stand."""

from __future__ import annotations

from django.db.models import Q

from .base import ToolError

# Each word is one more comparison with every message of the conversation.
WORDS = 12


def words_of(query: str) -> list[str]:
    words = list(dict.fromkeys(word.strip(".,;:!?\"'()").casefold() for word in query.split()))[:WORDS]
    words = [word for word in words if word]
    if not words:
        raise ToolError("The query is empty. Give the most telling words.")
    return words


def holding(words: list[str]) -> Q:
    """Messages with any of the words."""
    wanted = Q()
    for word in words:
        # SQLite ignores the case of ASCII letters only.
        for spelling in {word, word.capitalize(), word.upper()}:
            wanted |= Q(text__icontains=spelling)
    return wanted


def hits(text: str, words: list[str]) -> int:
    folded = text.casefold()
    return sum(word in folded for word in words)


def passage(text: str, words: list[str], length: int) -> str:
    """The piece of a message around its first hit, of `length` characters."""
    folded = text.casefold()
    # Folding can change lengths (ß becomes ss): near enough for a passage, not for a quotation.
    first = min((at for word in words if (at := folded.find(word)) >= 0), default=0)
    start = max(0, first - length // 3)
    piece = text[start : start + length]
    return ("…" if start else "") + piece + ("…" if start + length < len(text) else "")
