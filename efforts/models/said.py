"""Texts that are made in English, and stored so, in the reader's language: asked for where a page shows them.

A catalogue has them with the names of what stands in them (`{turns} turns left`), and here a finished text is matched
with those. In a translation `{name:said}` is a part that is such a text itself.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import TypeVar

from django.utils import translation
from django.utils.formats import get_format
from django.utils.functional import Promise
from django.utils.safestring import SafeData, mark_safe
from django.utils.translation import trans_real

PLACE = re.compile(r"\{(\w+)(:said)?\}")
# A page of many rows asks for the same few over and over.
REMEMBERED = 4096
FEW = 2
# So many of something.
COUNTED = re.compile(r"\{\w+\} [a-z-]+")
THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+")
# Numbers of turns, such as "2-6, 9".
SPANS = ("spans", r"\d[\d, -]*")
# The context of what scripts say, as gettext puts one before a text.
SCRIPT = "script\x04"
T = TypeVar("T")


class OwnWords(str):
    """A name that a person gave, where it stands among those that the program has: it stays as it is, though it be a
    text of a catalogue."""

    __slots__ = ()


def said(text: T) -> T | str:
    """What is no text, what a person wrote, and what no catalogue has, as it is."""
    language = translation.get_language() or "en"
    if language.startswith("en") or isinstance(text, (Promise, OwnWords)) or not isinstance(text, str):
        return text
    if not text.strip():
        return text
    found = _said(language, str(text))
    return mark_safe(found) if isinstance(text, SafeData) else found


def words_of_scripts() -> dict[str, str]:
    language = translation.get_language() or "en"
    return {} if language.startswith("en") else _words_of_scripts(language)


@lru_cache
def _words_of_scripts(language: str) -> dict[str, str]:
    known = _catalogue(language).items()
    return {english.removeprefix(SCRIPT): words for english, words in known if english.startswith(SCRIPT)}


@lru_cache(maxsize=REMEMBERED)
def _said(language: str, text: str) -> str:
    whole = _catalogue(language)
    if text in whole:
        return whole[text]
    for pattern, words in _patterns(language):
        if match := pattern.fullmatch(text):
            return _filled(language, words, match.groupdict())
    return _in_signs(language, text)


def _filled(language: str, words: str, parts: Mapping[str, str]) -> str:
    def fill(place: re.Match[str]) -> str:
        part = parts[place[1]]
        return _said(language, part) if place[2] else _in_signs(language, part)

    return PLACE.sub(fill, words)


def _in_signs(language: str, text: str) -> str:
    """A whole figure, as the language writes thousands."""
    return text.replace(",", get_format("THOUSAND_SEPARATOR", language)) if THOUSANDS.fullmatch(text) else text


@lru_cache
def _catalogue(language: str) -> dict[str, str]:
    catalogue = trans_real.translation(language)._catalog  # type: ignore[attr-defined]
    known: dict[str, str] = {}
    for english, words in catalogue.items():
        if isinstance(english, str) and english:
            # What this project says comes before what Django says.
            known.setdefault(english, words)
    return known


@lru_cache
def _patterns(language: str) -> list[tuple[re.Pattern[str], str]]:
    """Those that say most themselves first: others would take their words for what stands in a place."""
    made = [
        (english, words)
        for english, words in _catalogue(language).items()
        if PLACE.search(english) and not english.startswith(SCRIPT)
    ]
    made.sort(key=lambda one: -len(PLACE.sub("", one[0])))
    return [(re.compile(_expression(english), re.DOTALL), words) for english, words in made]


def _expression(english: str) -> str:
    """Of a text with places: each takes something, and a place named twice the same twice. Where there is next to
    nothing but places (`{found} of {planted}`), figures: a person's words are no such text."""
    if COUNTED.fullmatch(english):
        return PLACE.sub(lambda place: rf"(?P<{place[1]}>[\d.,]+)", english)
    own = PLACE.sub("", english)
    bare = english.startswith("{") and own.isascii() and sum(map(str.isalpha, own)) <= FEW
    takes = r"\S+?" if bare else ".+?"
    seen: set[str] = set()
    parts = []
    last = 0
    for place in PLACE.finditer(english):
        parts.append(re.escape(english[last : place.start()]))
        within = SPANS[1] if place[1] == SPANS[0] else takes
        parts.append(f"(?P={place[1]})" if place[1] in seen else f"(?P<{place[1]}>{within})")
        seen.add(place[1])
        last = place.end()
    return "".join([*parts, re.escape(english[last:])])
