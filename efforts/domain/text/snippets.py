"""The part of a passage that shows what was found in it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

Span = tuple[int, int]

# Characters: about three lines of a page.
LONGEST = 320
# What stands before the first word found, so that it reads as a sentence.
LEAD = 60
# What Markdown puts before a line that is quoted.
QUOTE = re.compile(r"^[ \t]*(?:>[ \t]*)+", re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class SnippetPiece:
    text: str
    marked: bool = False


def unquoted(text: str) -> str:
    """A Markdown text without the marks that stand before lines that it quotes."""
    return QUOTE.sub("", text)


def snippet(text: str, marks: Sequence[Span], longest: int = LONGEST) -> tuple[SnippetPiece, ...]:
    """About `longest` characters of `text` on one line where most of `marks` stand close together, these apart."""
    own = sorted((start, end) for start, end in marks if 0 <= start < end <= len(text))
    start, end = window(text, own, longest)
    found = list(pieces(text, own, start, end))
    before, after = SnippetPiece(text="… "), SnippetPiece(text=" …")
    return (*([before] if start else []), *found, *([after] if end < len(text) else []))


def window(text: str, marks: Sequence[Span], longest: int) -> Span:
    if len(text) <= longest:
        return 0, len(text)
    starts = [max(0, mark - LEAD) for mark, _ in marks] or [0]
    # The first of those that hold as many.
    best = max(starts, key=lambda start: (sum(start <= a and b <= start + longest for a, b in marks), -start))
    start = min(best, len(text) - longest)
    return word_start(text, start), start + longest


def word_start(text: str, start: int) -> int:
    """Not in the middle of a word, where one begins soon."""
    if not start or text[start - 1].isspace():
        return start
    space = text.find(" ", start, start + LEAD // 2)
    return space + 1 if space >= 0 else start


def pieces(text: str, marks: Sequence[Span], start: int, end: int) -> Iterator[SnippetPiece]:
    at = start
    for first, last in marks:
        # Marks may overlap, or reach out of what is shown.
        first, last = max(first, at), min(last, end)
        if first >= last:
            continue
        if at < first:
            yield SnippetPiece(text=text[at:first])
        yield SnippetPiece(text=text[first:last], marked=True)
        at = last
    if at < end:
        yield SnippetPiece(text=text[at:end])
