"""Messages in pieces of about one paragraph: what is ranked, quoted and shown instead of the whole of a long one."""

from __future__ import annotations

import re
from collections.abc import Iterator

# Words of one passage, about; longer ones match by chance, shorter ones lack what makes them understood.
PASSAGE_WORDS = 120
# Characters at which a passage ends without any space: a line of base64, or a script without spaces.
LONGEST_PASSAGE = 1_600
# Where a text may be cut, the best first: between paragraphs, lines, sentences, words.
BREAKS = (re.compile(r"\n\s*\n"), re.compile(r"\n"), re.compile(r"(?<=[.!?…。！？])\s*(?=\S)"), re.compile(r"\s+"))
WORD = re.compile(r"\S+")


def spans_of(text: str) -> list[tuple[int, int]]:
    """Spans of characters that cover the text without overlap; none for an empty one."""
    return list(cut(text, 0)) if text.strip() else []


def cut(text: str, start: int) -> Iterator[tuple[int, int]]:
    while start < len(text):
        end = end_of(text, start)
        # A short rest stands with the passage before it.
        if len(text) - end < (end - start) // 4 or not text[end:].strip():
            end = len(text)
        yield start, end
        start = end


def end_of(text: str, start: int) -> int:
    """Where the passage that begins at `start` ends: at the best break in its last third."""
    limit = limit_of(text, start)
    if limit == len(text):
        return limit
    least = start + (limit - start) * 2 // 3
    for pattern in BREAKS:
        if ends := [found.end() for found in pattern.finditer(text, least, limit)]:
            return ends[-1]
    return limit


def limit_of(text: str, start: int) -> int:
    for words, word in enumerate(WORD.finditer(text, start, start + LONGEST_PASSAGE)):
        if words == PASSAGE_WORDS:
            return word.start()
    return min(start + LONGEST_PASSAGE, len(text))
