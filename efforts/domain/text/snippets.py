"""The part of a passage that shows what was found in it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

Span = tuple[int, int]

# Characters: about three lines of a page.
LONGEST = 320
# What stands before the first word found, so that it reads as a sentence.
LEAD = 60
# What Markdown puts before a line that is quoted.
QUOTE = re.compile(r"^[ \t]*(?:>[ \t]*)+", re.MULTILINE)


FENCE = re.compile(r"[ \t>]*(`{3,}|~{3,})[^`\n]*\n?")
CODE = re.compile(r"(?<!`)(`++)[^\n]+?(?<!`)\1(?!`)")


@dataclass(frozen=True, kw_only=True)
class SnippetPiece:
    text: str
    marked: bool = False


def unquoted(text: str) -> str:
    """A Markdown text without the marks that stand before lines that it quotes."""
    return QUOTE.sub("", text)


def plainly(text: str, start: int = 0, end: int | None = None, marks: Iterable[Span] | None = None) -> str:
    """What stands between two places of a Markdown text, without the `marks` of quotes, code blocks and code."""
    end = len(text) if end is None else end
    shown: list[str] = []
    for first, last in code_marks(text) if marks is None else marks:
        if first >= end:
            break
        if start < last:
            shown.append(text[start:first])
            start = min(last, end)
    return "".join([*shown, text[start:end]])


def code_marks(text: str) -> Iterator[Span]:
    """Where these marks stand. In a code block there are none: its lines are as they are."""
    at, fence = 0, ""
    for line in text.splitlines(keepends=True):
        found = FENCE.fullmatch(line)
        if found and (not fence or found[1].startswith(fence)):
            fence = "" if fence else found[1]
            yield at, at + len(line)
        elif not fence:
            quote = QUOTE.match(line)
            inside = quote.end() if quote else 0
            if inside:
                yield at, at + inside
            for code in CODE.finditer(line, inside):
                yield at + code.start(), at + code.end(1)
                yield at + code.end() - len(code[1]), at + code.end()
        at += len(line)


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
