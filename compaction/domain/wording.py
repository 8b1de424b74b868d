"""The words of a text that carry its meaning, how much of them another text has, and the sentences of a source."""

from __future__ import annotations

import re
import unicodedata
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from efforts.domain.sentences import ABBREVIATION, SENTENCE_END
from efforts.domain.source_text import Part, Source, SourcePart
from efforts.domain.terms import STOPWORDS, TOKEN, UNSPACED, folded, stem, token_terms

from .artifact import Link

# Of the languages in which sentences are held together by small words; most of the English ones have a list.
SMALL_WORDS = """
    must shall may might cannot ought
    der die das den dem des ein eine einen einem einer eines und oder aber auch als am an auf aus bei bis da dann dass
    denn doch dort du er es für hat habe haben hier ich ihr im in ins ist ja kann man mal mehr mir mit nach noch nun nur
    ob schon sein sich sie sind so soll sollen über um uns von vor war was weil wenn werden wie wir wird wo zu zum zur
    le la les un une des du de d l et ou mais que qui quoi ce cet cette ces je tu il elle on nous vous ils elles se s y
    en à au aux dans par pour sur avec est sont sera être avoir a ai as avons ont plus donc comme si son sa ses leur
    el los las una unos unas y o pero como lo al del con por para su sus es son está ser más ya se
"""
SMALL = (
    STOPWORDS | {folded(word) for word in SMALL_WORDS.split()} | {stem(folded(word)) for word in SMALL_WORDS.split()}
)
SMALLEST = {
    "en": "the of and to is are in for on with not it that this by be we they has have at from",
    "de": "der die das den dem und ist sind nicht im mit für auf wir sie ein eine wird zu von es er",
    "fr": "le la les des du et est sont pas dans pour avec nous on une un il elle que qui sur au",
    "es": "el los las del y es son no en para con que por una se al su lo hay",
}
ABOUT = re.compile(f"[{UNSPACED}]")
BREAK = re.compile(r"\n[ \t]*\n|\n(?=[ \t]*(?:[-*+•#|>]|\d+[.)]|```)[ \t]?)")


@lru_cache(maxsize=1 << 14)
def content(text: str) -> frozenset[str]:
    """The stems of its words, without small ones. Of an identifier its parts and the whole."""
    return frozenset(content_in_order(text))


@lru_cache(maxsize=1 << 12)
def content_in_order(text: str) -> tuple[str, ...]:
    tokens = TOKEN.findall(unicodedata.normalize("NFKC", text))
    return tuple(term for token in tokens if folded(token) not in SMALL for term in telling(token))


def telling(token: str) -> Iterator[str]:
    return (term for term in token_terms(token) if term not in SMALL)


@lru_cache(maxsize=1 << 12)
def content_words(text: str) -> int:
    """How many words carry meaning; an identifier is one, and so are two characters of a script without spaces."""
    tokens = TOKEN.findall(unicodedata.normalize("NFKC", text))
    return sum(words_in(token) for token in tokens if folded(token) not in SMALL)


def words_in(token: str) -> int:
    return (len(token) + 1) // 2 if ABOUT.match(token) else 1


@lru_cache(maxsize=1 << 12)
def weight(text: str) -> int:
    """Characters, where one of a script without spaces says as much as two letters."""
    return sum(2 if ABOUT.match(character) else 1 for character in text.strip())


@lru_cache(maxsize=1 << 12)
def language_of(text: str) -> str:
    """Of those that are told apart by their smallest words, or by their script."""
    if len(ABOUT.findall(text)) * 4 > len(text):
        return "unspaced"
    told = [word.casefold() for word in re.findall(r"\w+", text)]
    scores = {name: sum(word in words.split() for word in told) for name, words in SMALLEST.items()}
    return max(scores, key=lambda name: (scores[name], name == "en"))


def recall(wanted: frozenset[str], given: frozenset[str]) -> float:
    """How much of `wanted` is in `given`, from 0 to 1; of nothing nothing is."""
    return len(wanted & given) / len(wanted) if wanted else 0.0


def likeness(one: frozenset[str], other: frozenset[str]) -> float:
    together = one | other
    return len(one & other) / len(together) if together else 0.0


@dataclass(frozen=True, kw_only=True)
class SourceSentence:
    """Characters `start` to `end` of a part of a message; `order` counts through the source."""

    message: int
    part: Part
    role: str
    start: int
    end: int
    text: str
    order: int


@dataclass(frozen=True, kw_only=True, eq=False)
class Sentences:
    """All of a source in their order, and those of each part of a message."""

    source: Source
    all: tuple[SourceSentence, ...]
    by_place: Mapping[tuple[int, Part], tuple[SourceSentence, ...]]


# By identity: to compare two long sources costs more than to cut one.
KNOWN: OrderedDict[int, Sentences] = OrderedDict()
MOST_KNOWN = 32


def cut(source: Source) -> Sentences:
    known = KNOWN.get(id(source))
    if known is None or known.source is not source:
        known = cut_anew(source)
        KNOWN[id(source)] = known
        while len(KNOWN) > MOST_KNOWN:
            KNOWN.popitem(last=False)
    return known


def cut_anew(source: Source) -> Sentences:
    every = tuple(numbered(source.parts))
    by_place: dict[tuple[int, Part], list[SourceSentence]] = {}
    for sentence in every:
        by_place.setdefault((sentence.message, sentence.part), []).append(sentence)
    return Sentences(source=source, all=every, by_place={place: tuple(each) for place, each in by_place.items()})


def sentences_of(source: Source) -> tuple[SourceSentence, ...]:
    return cut(source).all


def numbered(parts: tuple[SourcePart, ...]) -> Iterator[SourceSentence]:
    order = 0
    for part in parts:
        for start, end in spans(part.text, by_line=part.part == Part.RESULT):
            order += 1
            yield SourceSentence(
                message=part.message,
                part=part.part,
                role=part.role,
                start=start,
                end=end,
                text=part.text[start:end],
                order=order,
            )


def spans(text: str, *, by_line: bool = False) -> Iterator[tuple[int, int]]:
    """Where its sentences stand. Lines of what a tool returned are not joined."""
    start = 0
    for found in (re.compile(r"\n") if by_line else BREAK).finditer(text):
        yield from in_block(text, start, found.start())
        start = found.end()
    yield from in_block(text, start, len(text))


def in_block(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    # A wrapped line goes on: the same number of characters, so that offsets stand.
    line = text[:end].replace("\n", " ")
    for found in SENTENCE_END.finditer(line, start):
        if not ABBREVIATION.search(line, max(start, found.start() - 8), found.start()):
            yield from trimmed(line, start, found.end())
            start = found.end()
    yield from trimmed(line, start, end)


def trimmed(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    inner = text[start:end]
    start, end = start + len(inner) - len(inner.lstrip()), start + len(inner.rstrip())
    if start < end:
        yield start, end


def linked_sentences(link: Link, source: Source) -> tuple[SourceSentence, ...]:
    """Those of which the link holds a part."""
    of_part = cut(source).by_place.get((link.message, link.part), ())
    return tuple(sentence for sentence in of_part if sentence.start < link.end and link.start < sentence.end)


# Each begins a clause of its own.
INSTEAD = """instead of|rather than|in place of|in favou?r of|without|unless|except|anstelle|anstatt|statt|ohne|außer
|plutôt que|au lieu de|sans|sauf|en lugar de|en vez de|sin|salvo""".replace("\n", "")
CONTRAST = r"(?:and|or|und|oder|et|ou|y) (?:not|no|nicht|kein\w*|pas|non)"
JOINED = """but|because|although|though|since|while|whereas|which|where|so that|aber|weil|sondern|obwohl|mais
|parce que|pero|porque""".replace("\n", "")
CLAUSE = re.compile(
    r"[;()—–]|:(?=\s|$)|(?<!\d),|,(?!\d)|[.!?…](?=\s|$)|[。！？、，；]"
    rf"|\b(?=(?:{INSTEAD}|{CONTRAST})\b)|\b(?:{JOINED})\b",
    re.IGNORECASE,
)


def clauses(text: str) -> tuple[str, ...]:
    return tuple(piece for piece in (part.strip() for part in CLAUSE.split(text)) if piece)
