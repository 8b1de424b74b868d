"""Texts cut into the pieces that can be quoted: sentences, list items, code blocks."""

from __future__ import annotations

import re
from collections.abc import Iterator

LONGEST_PASSAGE = 480

BLOCK = re.compile(r"\n\s*\n")
LIST_LINE = re.compile(r"^\s*(?:[-*+•]|\d+[.)]|#{1,6}|\|)\s")
SENTENCE_END = re.compile(r"(?<=[.!?…])[\"'”’)\]*_]*\s+(?=[^a-z\s])|(?<=[。！？｡])(?![」』）])")
# Also initials and ordinals ("14. Mai"): better two sentences in one passage than half of one.
ABBREVIATION = re.compile(
    r"\b(?:e\.g|i\.e|etc|vs|cf|dr|mr|mrs|ms|prof|st|no|nr|approx|[a-z]|\d{1,2})\.$", re.IGNORECASE
)
FENCE = re.compile(r"^\s*(?:```|~~~)")


def split(text: str) -> Iterator[str]:
    """Sentences, list items and code blocks, none longer than `LONGEST_PASSAGE` characters."""
    for block in _blocks(text):
        if FENCE.match(block):
            yield block if len(block) <= LONGEST_PASSAGE else block[:LONGEST_PASSAGE] + "\n…\n```"
        else:
            for line in _lines(block):
                for sentence in sentences(line):
                    yield from _shorten(sentence)


def sentences(line: str) -> list[str]:
    found: list[str] = []
    start = 0
    for end in SENTENCE_END.finditer(line):
        if ABBREVIATION.search(line, max(start, end.start() - 8), end.start()):
            continue
        found.append(line[start : end.end()].strip())
        start = end.end()
    found.append(line[start:].strip())
    return [sentence for sentence in found if sentence]


def _blocks(text: str) -> Iterator[str]:
    """Paragraphs; a fenced code block is one, blank lines and all."""
    plain: list[str] = []
    fenced: list[str] = []
    for line in text.splitlines():
        if FENCE.match(line) or fenced:
            fenced.append(line)
            if FENCE.match(line) and len(fenced) > 1:
                yield from BLOCK.split("\n".join(plain))
                yield "\n".join(fenced)
                plain, fenced = [], []
        else:
            plain.append(line)
    yield from BLOCK.split("\n".join([*plain, *fenced]))


def _lines(block: str) -> Iterator[str]:
    """List items on their own; the lines of a wrapped paragraph together."""
    held: list[str] = []
    for line in block.splitlines():
        if LIST_LINE.match(line) and held:
            yield " ".join(held)
            held = []
        held.append(line.strip())
    yield " ".join(held)


def _shorten(sentence: str) -> Iterator[str]:
    while len(sentence) > LONGEST_PASSAGE:
        end = sentence.rfind(" ", LONGEST_PASSAGE // 2, LONGEST_PASSAGE)
        end = end if end > 0 else LONGEST_PASSAGE
        yield sentence[:end].strip()
        sentence = sentence[end:].strip()
    if sentence:
        yield sentence
