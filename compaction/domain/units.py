"""A source cut into what can be quoted: whole sentences, list items, clauses of a spoken run-on."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from efforts.domain.rules import QUOTED_LINE
from efforts.domain.sentences import ABBREVIATION, FENCE, SENTENCE_END
from efforts.domain.source_text import Part, Source, SourcePart
from efforts.domain.terms import STOPWORDS, TOKEN, folded, token_terms

# Characters. What is longer is cut at a clause, and at a word where it has none.
LONGEST = 400
# They only keep talk going.
TALK = """
    yep yeah yup yes ok okay kay right alright well oh ah uh um mm hmm really actually gonna wanna maybe guess think
    mean like know sure fine good great lovely exactly please bit lot let get got go going i'd he'd we'd they'd they'll
    we'll you'll it'll he'll she'll that'll
    ja gut also mal schon oui bon alors donc sí vale bueno
"""
IDLE = STOPWORDS | frozenset(TALK.split())
# Lines that begin something of their own.
OWN_LINE = re.compile(r"^[ \t]*(?:[-*+•]|\d+[.)]|#{1,6}|\||\[[ xX]\]|>)\s|^[ \t]*$|^[\w .-]{1,30}:[ \t]*\S{0,20}$")
MARK = re.compile(r"\s*(?:(?:[-*+•]|\d+[.)]|#{1,6}|>|\|)\s+)*(?:\[[ ]\]\s+)?")
TITLE = re.compile(
    r"^[ \t]*#{1,6}\s+(.*?)\s*$|^[ \t]*\**([\w -]{3,30})\**:\**[ \t]*$|^[ \t]*\*\*([^*]{3,30})\*\*[ \t]*$"
    r"|^-{2,} (\w.*)$"
)
SPEAKER = re.compile(r"^(?:\[?[A-Z][\w.'-]*\]?(?: \(?[A-Z0-9][\w.'-]*\)?){0,3}|\([A-Z]+\d+\)): ")
CLAUSE = re.compile(r"\s*[,;:–—](?=\s)\s*|\{[a-z]+\}\s*")
# What transcripts put in: noises, gaps, tags.
NOISE = re.compile(r"\{\w+\}|<[\w/]+/?>|@ @")
FILLER = re.compile(r"\b(?:u[hm]+|uhm|er+m?|mm+|you know|i mean|sort of|kind of|basically)\b,? ?")
SPACED_END = re.compile(r" ([,.;:?!])")
SPACED_APOSTROPHE = re.compile(r" '(s|m|ll|re|d|ve|t)\b")
ASKED = re.compile(r"[?？؟][\"'”’)\]*_\s]*$|か。?$")

AMOUNT = re.compile(r"\d [a-z]{1,3}\.$|[a-z] I\.$")
# After a number such a word begins a sentence, and no name of a month.
BEGINS = re.compile(
    r"\s+(?:I|We|You|It|He|She|They|The|This|That|There|Then|And|But|So|If|Let|Now|For|In|To|Is|Are|Do|Not|No|Yes|Please"
    r"|What|How|Can|As|At|On|A|An|My|Our|Your)\b"
)
RULER = re.compile(r"^-{3,}[ \t]*$", re.MULTILINE)
PROMPT = re.compile(r"(?:^|\n)[^\n]{0,80}[$#>] ?\s*$")
POLITE = re.compile(
    r"[^,?]{8,}, (?:\w+, )?(?:would|could|will|can) you\?$|^(?:could|would|can|will) you (?:please )?\w+ "
)


@dataclass(frozen=True, kw_only=True)
class Unit:
    """Characters `start` to `end` of a part of a message. `speaker` is who says it where the text tells, else the role.

    `block` is the paragraph or list item of its part, `title` the heading that it stands under.
    `machine` is True of what a tool returned, also where it was pasted in or passed on as a message.
    """

    order: int
    message: int
    turn: int
    role: str
    speaker: str
    part: Part
    start: int
    end: int
    text: str
    first: bool
    block: int = 0
    title: str = ""
    machine: bool = False

    @cached_property
    def plain(self) -> str:
        """As it is listened to: small letters, without noises and fillers."""
        words = " ".join(NOISE.sub(" ", self.text).split()).replace("’", "'").casefold()
        words = SPACED_APOSTROPHE.sub(r"'\1", SPACED_END.sub(r"\1", words))
        return " ".join(FILLER.sub("", words).split()).strip(" ,-")

    @cached_property
    def said(self) -> str:
        return " ".join(self.text.split()).replace("’", "'")

    @cached_property
    def stems(self) -> frozenset[str]:
        return stems_of(self.plain)

    @property
    def asks(self) -> bool:
        """Whether it wants to know something; "book it, would you?" does not."""
        return bool(ASKED.search(self.plain)) and not POLITE.search(self.plain)


def stems_of(text: str) -> frozenset[str]:
    """The terms of a text that tell something."""
    tokens = (token for token in TOKEN.findall(text) if folded(token) not in IDLE)
    return frozenset(term for token in tokens for term in token_terms(token) if term not in IDLE)


def units_of(source: Source) -> tuple[Unit, ...]:
    """What was said and what tools returned, in its order; no code and no calls."""
    spoken = is_talk(source)
    found: list[Unit] = []
    for part in source.parts:
        if part.part != Part.CALLS:
            machine = part.role == "tool" or (bool(found) and is_output(part.text))
            found.extend(units_in(part, len(found), spoken, machine))
    return tuple(found)


def is_output(text: str) -> bool:
    """Whether it ends with a shell that waits for a command."""
    return bool(PROMPT.search(text))


def is_talk(source: Source) -> bool:
    """Whether people talk among themselves: nearly every message begins with who speaks."""
    texts = [part.text for part in source.parts if part.part == Part.TEXT]
    return bool(texts) and sum(bool(SPEAKER.match(text)) for text in texts) >= 0.8 * len(texts)


def units_in(part: SourcePart, order: int, spoken: bool, machine: bool) -> Iterator[Unit]:
    named = SPEAKER.match(part.text) if spoken else None
    speaker = named[0].rstrip(": ") if named else str(part.role)
    begin = named.end() if named else 0
    first = True
    pasted = pasted_in(part.text)
    for start, end, block, title in spans_of(part.text, begin, by_line=machine):
        yield Unit(
            order=order,
            message=part.message,
            turn=part.turn,
            role=str(part.role),
            speaker=speaker,
            part=part.part,
            start=start,
            end=end,
            text=part.text[start:end],
            first=first,
            block=block,
            title=title,
            machine=machine or any(a <= start < b for a, b in pasted),
        )
        order, first = order + 1, False


def pasted_in(text: str) -> list[tuple[int, int]]:
    """What stands between two rules of dashes, or behind marks of quotation, was written by others."""
    rules = [found.start() for found in RULER.finditer(text)]
    pairs = list(zip(rules[::2], rules[1::2], strict=False))
    return [*pairs, *(found.span() for found in QUOTED_LINE.finditer(text))]


def spans_of(text: str, begin: int, *, by_line: bool = False) -> Iterator[tuple[int, int, int, str]]:
    title = ""
    for block, (start, end) in enumerate(blocks_of(text, begin, by_line=by_line)):
        heading = TITLE.match(text[start:end])
        if heading:
            title = next(filter(None, heading.groups())).strip().casefold()
        else:
            yield from ((*span, block, title) for span in sentences_in(text, start, end))


def blocks_of(text: str, begin: int, *, by_line: bool) -> Iterator[tuple[int, int]]:
    """Paragraphs and list items, or each line; what stands between fences is left out."""
    fenced, heading, start, at = False, False, begin, begin
    for line in text[begin:].splitlines(keepends=True):
        fence = bool(FENCE.match(line))
        if fence or fenced or heading or by_line or OWN_LINE.match(line):
            yield start, at
            start = at
        at += len(line)
        heading = bool(TITLE.match(line))
        if fence or fenced:
            fenced, start = fenced != fence, at
    yield start, at


def sentences_in(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    line = text[start:end].replace("\n", " ")
    at = (MARK.match(line) or [""])[0]
    begin = len(at)
    for stop in SENTENCE_END.finditer(line, begin):
        if ends(line, max(begin, stop.start() - 8), stop.start()):
            yield from shortened(text, *trimmed(line, begin, stop.start()), start)
            begin = stop.end()
    yield from shortened(text, *trimmed(line, begin, len(line)), start)


def ends(line: str, start: int, stop: int) -> bool:
    """Whether the full stop before `stop` ends a sentence; "hasn't." is no initial, and "200 ms." no lady."""
    short = ABBREVIATION.search(line, start, stop)
    if not short or line[max(short.start() - 1, 0)] in "'’" or AMOUNT.search(line, start, stop):
        return True
    return line[stop - 2].isdecimal() and bool(BEGINS.match(line, stop))


def trimmed(line: str, start: int, end: int) -> tuple[int, int]:
    piece = line[start:end]
    return start + len(piece) - len(piece.lstrip()), start + len(piece.rstrip())


def shortened(text: str, start: int, end: int, offset: int) -> Iterator[tuple[int, int]]:
    """The sentence, or where it runs on too long its clauses, several together."""
    while end - start > LONGEST:
        piece = text[offset + start : offset + start + LONGEST]
        breaks = [found.end() for found in CLAUSE.finditer(piece) if found.end() > LONGEST // 3]
        cut = breaks[-1] if breaks else (piece.rfind(" ") + 1 or LONGEST)
        yield offset + start, offset + start + len(piece[:cut].rstrip())
        start += cut
        start += len(text[offset + start : offset + end]) - len(text[offset + start : offset + end].lstrip())
    if any(character.isalnum() for character in text[offset + start : offset + end]):
        yield offset + start, offset + end
