"""What the kinds ask of texts before they change them: plain words and figures, by rules of no gate."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import TypeVar

T = TypeVar("T")

WORD = re.compile(r"\w+")
# Shorter ones say little by themselves.
SHORTEST = 3
# A claim that repeats a sentence has so much of its words, and that of the claim's.
REPEATS = 0.6
SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+")
CLAUSE_END = re.compile(r"[,;:.]\s")
# Words that tell what a clause is about, and so many of them.
LONG, FEWEST = 5, 2
EXPLETIVE = frozenset({"there", "where", "which", "their", "about", "these", "those"})
LETTER = "A-Za-z0-9_"
# A figure that stands by itself, at most with its unit behind: no part of a version, path, date or name.
FIGURE = re.compile(rf"(?<![{LETTER}.,/:#+-])\d+(?:[.,]\d+)*(?=[A-Za-z%]{{0,2}}(?:[^{LETTER}.,/:-]|[.,](?:\s|$)|$))")
# Below it a figure may stand in the source as a word.
SPELLED = 13
VERSION = re.compile(r"\bv?\d+\.\d+(?:\.\d+)*\b")
PATH = re.compile(r"(?<![\w/.:-])(?:[\w.-]*/)*[\w-]{2,}\.[a-z]{2,4}\b(?![\w/.(])|(?<![\w:/.-])/(?:[\w.-]+/)+[\w.-]+")
FLAG = re.compile(r"(?<![\w-])--[a-z][\w-]+")
NEGATION = re.compile(
    r"\b(?:no|not|never|none|nothing|nobody|neither|nor|without|cannot|nicht|nie|kein\w*|ohne|pas|jamais|sans|sin|nunca)\b"
    r"|n['’]t\b|ない|ません",
    re.IGNORECASE,
)


def words(text: str) -> frozenset[str]:
    return frozenset(word for word in WORD.findall(text.casefold()) if len(word) >= SHORTEST)


def share(text: str, of: str) -> float:
    """Of the words of `text` so many stand in `of`."""
    asked = words(text)
    return len(asked & words(of)) / len(asked) if asked else 0.0


def sentences(text: str) -> list[str]:
    return [found.strip() for found in SENTENCE_END.split(text) if found.strip()]


def repeats(text: str, sentence: str) -> bool:
    """Most words of each stand in the other."""
    return share(text, sentence) >= REPEATS and share(sentence, text) >= REPEATS


def says_enough(text: str, before: str) -> bool:
    """Whether what is told otherwise is told in a clause with words of its own: “they do want it” has none."""
    known = CLAUSE_END.split(before)
    return any(
        len({word for word in words(clause) if len(word) >= LONG} - EXPLETIVE) >= FEWEST
        for clause in CLAUSE_END.split(text)
        if clause not in known
    )


def spread(values: Iterable[T], most: int = 2) -> list[T]:
    """At most so many, evenly over all."""
    found: Sequence[T] = list(values)
    if len(found) <= most:
        return list(found)
    return [found[place * (len(found) - 1) // max(most - 1, 1)] for place in range(most)]


def figures(text: str) -> list[str]:
    return [found[0] for found in FIGURE.finditer(text)]


def another_figure(figure: str, source: str) -> str:
    """One like it that stands nowhere in the source, as a part of another neither."""
    digits = "987654321"
    candidates = [*(digit + figure[1:] for digit in digits), *(digit + figure for digit in digits)]
    return next(
        candidate
        for candidate in [*candidates, f"98{figure}"]
        if candidate not in source and int(re.sub(r"\D", "", candidate)) >= SPELLED
    )


def replaced(text: str, figure: str, by: str) -> str:
    return FIGURE.sub(lambda found: by if found[0] == figure else found[0], text)


def has_word(text: str, word: str) -> bool:
    return re.search(rf"\b{re.escape(word)}\b", text, re.IGNORECASE) is not None


def is_negated(text: str) -> bool:
    return NEGATION.search(text) is not None


SUBORDINATE = re.compile(
    r"\b(?:when|if|unless|until|because|which|that|who|what|how|whether|where|while|once|after|before|so|as)\b|[;:(]",
    re.I,
)
AUXILIARY = {
    "en": re.compile(r"\b(?:is|are|was|were|will|must|should|can|may)\b(?! (?:to|a|an|only|just|\d))", re.IGNORECASE),
    "de": re.compile(r"\b(?:ist|sind|wird|werden|wurde|wurden|kommt|kommen|läuft|bleibt|bleiben|muss|müssen)\b"),
}
NOT = {"en": "not", "de": "nicht"}


def negated(text: str, language: str) -> str | None:
    """The main clause with a negation, where it has none and its verb is plain to see."""
    verb = AUXILIARY[language].search(text) if language in AUXILIARY else None
    if verb is None or is_negated(text):
        return None
    under = SUBORDINATE.search(text)
    if under is not None and under.start() < verb.start():
        return None
    return f"{text[: verb.end()]} {NOT[language]}{text[verb.end() :]}"


def clause_with_negation(text: str) -> str:
    return next((clause for clause in CLAUSE_END.split(text) if is_negated(clause)), "")


# A negation that can be left out, and what stands in its place.
PLAIN = (
    (re.compile(r"\b(must|should|may|can|will|is|are|does|do|did) not\b(?! (?:yet|only))"), r"\1"),
    (re.compile(r"\bcannot\b"), "can"),
    (re.compile(r"\b(do|does|did)n['’]t\b"), r"\1"),
    (re.compile(r"\bnever\b"), "always"),
    (re.compile(r"\bNever\b"), "Always"),
    (re.compile(r"\bwithout(?: any)?\b"), "with"),
    (re.compile(r"\bno (?!longer|more|later|matter|one|need|earlier|less)"), "the "),
    (re.compile(r"\b(darf|dürfen|wird|werden|ist|sind|soll|sollen) nicht\b"), r"\1"),
)


def affirmed(text: str) -> str | None:
    """Without its negation, where it has exactly one that can be left out."""
    if len(NEGATION.findall(text)) != 1:
        return None
    for pattern, plain in PLAIN:
        if pattern.search(text):
            return pattern.sub(plain, text, count=1)
    return None


def neighbours(text: str, word: str) -> set[tuple[str, str]]:
    """Every place of the word with what stands before it, and with what stands behind it."""
    found = WORD.findall(text.casefold())
    head, *tail = word.split()
    last = tail[-1] if tail else head
    return {pair for pair in pairwise(found) if pair[0] == last or pair[1] == head}


def stands_alike(text: str, quote: str, word: str) -> bool:
    """Whether both have the word, beside the same other word."""
    both = has_word(text, word) and has_word(quote, word)
    return both and bool(neighbours(text, word) & neighbours(quote, word))


# What such a word stands for is told elsewhere.
ELSEWHERE = frozenset({"it", "then", "that", "this", "these", "those", "them", "which"})


def follows_alike(text: str, quote: str, word: str) -> bool:
    """Whether in both the same follows it, and is named."""
    behind = re.compile(rf"\b{word}\s+(?:(?:the|a|an|our|their)\s+)?(\w+)", re.IGNORECASE)
    mine, theirs = ({found.casefold() for found in behind.findall(each)} for each in (text, quote))
    return bool((mine & theirs) - ELSEWHERE)
