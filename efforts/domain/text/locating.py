"""Where words stand in a message, and the person's own told from what others make of them.

Offsets count characters of the message; white space may differ, nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from efforts.domain.text.sentences import split

# No sentence is longer, so that the one around some words is found without reading all of a huge message.
AROUND = 1_000
LIST_MARK = re.compile(r"^(?:[-*+•]|\d+[.)]|#{1,6})\s+")
# Of Markdown: emphasis, code, escapes, and what begins a line of a list, a heading or a quotation.
MARKS = re.compile(r"[*_`~\\]+|^[ \t]*(?:[-+•]|\d+[.)]|#{1,6}|>)[ \t]+", re.MULTILINE)
# Left out of its sentence, such a word turns what remains into something that was not said.
TURNS = re.compile(
    r"\b(?:not|never|no|none|nor|without|unless|except|if|when|only|until|but|instead|wrong|nicht|nie|niemals|kein\w*"
    r"|ne|pas|jamais|nunca|jamás)\b|n['’]t\b|[?？]",
    re.IGNORECASE,
)


@dataclass(frozen=True, kw_only=True)
class Span:
    """Characters `start` to `end`, without the last."""

    start: int
    end: int

    def overlaps(self, other: Span) -> bool:
        return self.start < other.end and other.start < self.end

    def of(self, text: str) -> str:
        return text[self.start : self.end]


def one_line(text: str) -> str:
    """Its words with single spaces between them, as a rule is kept."""
    return " ".join(text.split())


def sentence_spans(message: str) -> Iterator[Span]:
    at = 0
    for sentence in split(message):
        if span := find_words(LIST_MARK.sub("", sentence), message, at):
            yield span
            at = span.end


def find_words(words: str, message: str, start: int = 0) -> Span | None:
    """Where the words stand in the message, whole and in their order; only white space may differ."""
    if not words.strip():
        return None
    pattern = r"(?<!\w)" if re.match(r"\w", words.strip()) else ""
    pattern += r"\s+".join(map(re.escape, words.split()))
    pattern += r"(?!\w)" if re.search(r"\w$", words.strip()) else ""
    found = re.compile(pattern).search(message, start)
    return Span(start=found.start(), end=found.end()) if found else None


def find_shown(words: str, message: str) -> Span | None:
    """Where the words stand in the message as a page shows it, without the marks of Markdown."""
    places = [place for place, mark in enumerate(marked(message)) if not mark]
    plain = "".join(message[place] for place in places)
    found = find_words("".join(c for c, mark in zip(words, marked(words), strict=True) if not mark), plain)
    return Span(start=places[found.start], end=places[found.end - 1] + 1) if found else None


def marked(text: str) -> list[bool]:
    """Of each character whether it is a mark."""
    marks = [False] * len(text)
    for found in MARKS.finditer(text):
        marks[found.start() : found.end()] = [True] * len(found[0])
    return marks


def said_as_a_rule(words: str, message: str) -> Span | None:
    """Where the person said just this, with nothing in the same sentence that takes it back; else None."""
    span = find_words(words, message)
    if span is None:
        return None
    # "Push to main" stands word for word in "Never push to main".
    before, after = rest_of_sentence(span, message)
    return None if TURNS.search(before) or TURNS.search(after) or "?" in span.of(message) else span


def rest_of_sentence(span: Span, message: str) -> tuple[str, str]:
    """What stands before and after the span in the sentences that it is part of."""
    first = max(span.start - AROUND, 0)
    near = message[first : span.end + AROUND]
    here = Span(start=span.start - first, end=span.end - first)
    around = [sentence for sentence in sentence_spans(near) if sentence.overlaps(here)] or [here]
    return near[around[0].start : here.start], near[here.end : around[-1].end]
