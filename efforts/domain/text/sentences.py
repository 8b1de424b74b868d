"""The one splitter: texts cut into what can be quoted and cited: sentences, list items, blocks of code."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

LONGEST_PASSAGE = 480
# Lines of code that are cited as one.
BLOCK_LINES = 12

LIST_LINE = re.compile(r"^\s*(?:[-*+•]|\d+[.)]|#{1,6}|\|)\s")
# Such a line begins something of its own, and does not go on with the line before.
OWN_LINE = re.compile(r"^\s*(?:(?:[-*+•]|\d+[.)]|#{1,6}|>)\s|\||$|\[[ xX]\]\s)")
SENTENCE_END = re.compile(r"(?<=[.!?…])[\"'”’)\]*_]*\s+(?=[^a-z\s])|(?<=[。！？｡])(?![」』）])")
# Also initials and ordinals ("14. Mai"): better two sentences in one than half of one.
ABBREVIATION = re.compile(
    r"(?:(?<![\w'’])(?:e\.g|i\.e|etc|vs|cf|dr|mr|mrs|ms|prof|st|no|nr|approx|[a-z]|\d{1,2}))\.$", re.IGNORECASE
)
# An amount, or a word after the number with which no name of a month begins: there the sentence has ended.
AMOUNT = re.compile(r"\d [a-z]{1,3}\.$|[a-z] I\.$")
BEGINS = re.compile(
    r"\s+(?:I|We|You|It|He|She|They|The|This|That|There|Then|And|But|So|If|Let|Now|For|In|To|Is|Are|Do|Not|No|Yes|Please"
    r"|What|How|Can|As|At|On|A|An|My|Our|Your)\b"
)
CLAUSE = re.compile(r"[,;:–—]\s")
FENCE = re.compile(r"^\s*(?:```|~~~)")

Place = tuple[int, int]


def sentence_places(text: str, *, by_line: bool = False) -> Iterator[Place]:
    """Where each sentence begins and ends, in order; all that is not white space is in just one of them.

    A fenced block of code is cut after every twelve lines. `by_line`: of what tools return and people paste, each line.
    """
    for start, end, fenced in blocks(text, by_line=by_line):
        if fenced:
            yield from trimmed(text, start, end)
        else:
            yield from sentences_between(text, start, end)


def sentences(line: str) -> list[str]:
    """Of one line or paragraph."""
    return [line[start:end] for start, end in sentences_between(line, 0, len(line))]


def split(text: str) -> Iterator[str]:
    """Sentences on one line each, and blocks of code as they are."""
    for start, end in sentence_places(text):
        piece = text[start:end]
        yield piece if FENCE.match(piece) else " ".join(piece.split())


def blocks(text: str, *, by_line: bool) -> Iterator[tuple[int, int, bool]]:
    """Paragraphs and list items, or lines, and pieces of fenced code."""
    start = at = lines = 0
    fenced = False
    for line in text.splitlines(keepends=True):
        fence = bool(FENCE.match(line))
        opens = fence and not fenced
        if opens or (not fenced and (by_line or OWN_LINE.match(line))) or (fenced and lines >= BLOCK_LINES):
            yield start, at, fenced
            start, lines = at, 0
        at += len(line)
        lines += 1
        if fence and fenced:
            yield start, at, True
            start, lines = at, 0
        fenced = fenced != fence
    yield start, at, fenced


def sentences_between(text: str, start: int, end: int) -> Iterator[Place]:
    line = text[start:end].replace("\n", " ")
    begin = 0
    for stop in SENTENCE_END.finditer(line):
        if ends(line, max(begin, stop.start() - 8), stop.start()):
            yield from shortened(text, start + begin, start + stop.end())
            begin = stop.end()
    yield from shortened(text, start + begin, end)


def ends(line: str, start: int, stop: int) -> bool:
    """Whether the full stop before `stop` ends a sentence; "hasn't." is no initial, and "200 ms." no lady."""
    if not ABBREVIATION.search(line, start, stop) or AMOUNT.search(line, start, stop):
        return True
    return line[stop - 2].isdecimal() and bool(BEGINS.match(line, stop))


def shortened(text: str, start: int, end: int) -> Iterator[Place]:
    """The sentence, or where it runs on too long its clauses, several together."""
    for first, last in trimmed(text, start, end):
        cuts = [first]
        while last - cuts[-1] > LONGEST_PASSAGE:
            cuts.append(cuts[-1] + cut_of(text[cuts[-1] : cuts[-1] + LONGEST_PASSAGE]))
        for one, other in pairwise([*cuts, last]):
            yield from trimmed(text, one, other)


def cut_of(piece: str) -> int:
    late = [found.end() for found in CLAUSE.finditer(piece) if found.end() > LONGEST_PASSAGE // 3]
    return late[-1] if late else piece.rfind(" ", LONGEST_PASSAGE // 2) + 1 or LONGEST_PASSAGE


def trimmed(text: str, start: int, end: int) -> Iterator[Place]:
    piece = text[start:end]
    if words := piece.strip():
        first = start + piece.index(words)
        yield first, first + len(words)
