"""Texts that are made in English, and stored so, in the reader's language: asked for where a page shows them.

A catalogue has them with the names of what stands in them (`{turns} turns left`), and here a finished text is matched
with those. In a translation `{name:said}` is a part that is such a text itself, and `{name:each}` a list of such texts;
what stands between quotation marks stays as it is. Several texts in a row are known where each of them is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeVar

from django.utils import translation
from django.utils.formats import get_format
from django.utils.functional import Promise
from django.utils.safestring import SafeData, mark_safe
from django.utils.translation import trans_real

PLACE = re.compile(r"\{(\w+)(?::(said|each))?\}")
# A page of many rows asks for the same few over and over.
REMEMBERED = 4096
FEW = 2
# So many of something.
COUNTED = re.compile(r"\{\w+\} [a-z-]+")
THOUSANDS = re.compile(r"[+−-]?\d{1,3}(?:,\d{3})+")
FIGURE = re.compile(r"\d+")
# A sentence of a log may be called 2.5, which is no figure: only one with its unit may have decimals.
MEASURED = re.compile(r"[+−-]?\d{1,3}(?:,\d{3})*(?:\.\d+)?[ \N{NO-BREAK SPACE}]?(?:%|s)")
# Where one text may end and another begin.
NEXT = re.compile(r"(?<=[.!?…;]) (?=\S)|(?<=[.!?…]”) (?=\S)")
# Of a text that has more of these, or is longer, a person has written most.
MOST_IN_A_ROW, LONGEST_ROW = 12, 3_000
JOINTS = ("; ", ", ", " and ", " or ")
OPENING, CLOSING = "“", "”"
# What stands in a place of such a name: numbers of turns, such as "2-6, 9", figures, the id of a claim, the kind of an
# entry, a place in a document.
OF_PLACES = {
    "spans": r"\d[\d, -]*",
    "number": r"\d[\d,]*",
    "tokens": r"-?\d[\d,]*",
    "claim": r"[^\s,;:]+",
    "matter": r"[a-z][a-z -]*",
    "loc": r"the document|[\w.-]+",
}
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


@dataclass(frozen=True, kw_only=True)
class Known:
    """`sure`: what is said in it is known too, though a name need not be."""

    words: str
    sure: bool = True


@dataclass(frozen=True, kw_only=True)
class Pattern:
    """`pieces` is what stands between its places. As a rule quotation marks in it are those that the text has itself
    (`strict`), unless the words of a person have some, too (`loose`)."""

    pieces: tuple[str, ...]
    strict: re.Pattern[str]
    loose: re.Pattern[str]
    words: str
    first: str

    def takes_another(self, match: re.Match[str]) -> bool:
        """Whether a sentence before its own is taken for the name that it begins with."""
        return not self.pieces[0] and bool(NEXT.search(match[1])) and f"{{{self.first}:said}}" not in self.words

    def may_be(self, text: str) -> bool:
        """Quickly, as most are not."""
        ends = text.startswith(self.pieces[0]) and text.endswith(self.pieces[-1])
        return ends and all(piece in text for piece in self.pieces)


def _said(language: str, text: str) -> str:
    found = _known(language, text)
    return found.words if found else _in_signs(language, text)


@lru_cache(maxsize=REMEMBERED)
def _known(language: str, text: str) -> Known | None:
    whole = _catalogue(language)
    if text in whole:
        return Known(words=whole[text])
    likely = [pattern for pattern in _patterns(language) if pattern.may_be(text)]
    for pattern in likely:
        if (match := pattern.strict.fullmatch(text)) and not pattern.takes_another(match):
            # It may have taken the next text for a part of its own.
            row = _in_a_row(language, text) if any(map(NEXT.search, match.groups())) else None
            return row or _filled(language, pattern.words, match.groupdict())
    if row := _in_a_row(language, text):
        return row
    for pattern in likely:
        if match := pattern.loose.fullmatch(text):
            return _filled(language, pattern.words, match.groupdict())
    return _as_a_part(language, text)


def _in_a_row(language: str, text: str) -> Known | None:
    """Several texts, one behind the other."""
    ends = list(NEXT.finditer(text))
    if len(text) > LONGEST_ROW or len(ends) > MOST_IN_A_ROW:
        return None
    for end in ends:
        first = _known(language, text[: end.start()].removesuffix(";"))
        if first and first.sure and (rest := _known(language, text[end.end() :])) and rest.sure:
            between = "; " if text[: end.start()].endswith(";") else " "
            return Known(words=f"{first.words}{between}{rest.words}")
    return None


def _as_a_part(language: str, text: str) -> Known | None:
    """A sentence that is known without its full stop, or as what does not begin one."""
    if text.endswith(".") and not text.endswith(".."):
        if found := _known(language, text[:-1]):
            return Known(words=f"{found.words}.", sure=found.sure)
    elif text[:1].isupper() and " " in text and (found := _known(language, f"{text[0].lower()}{text[1:]}")):
        return Known(words=f"{found.words[0].upper()}{found.words[1:]}", sure=found.sure)
    return None


def _filled(language: str, words: str, parts: Mapping[str, str]) -> Known:
    sure = True

    def fill(place: re.Match[str]) -> str:
        nonlocal sure
        part = parts[place[1]]
        if place[2] == "each":
            return _each(language, part)
        if place[2] == "said":
            found = _known(language, part)
            sure = sure and (found.sure if found else " " not in part)
            return found.words if found else _in_signs(language, part)
        return part if words[: place.start()].endswith("„") else _in_signs(language, part)

    return Known(words=PLACE.sub(fill, words), sure=sure)


def _each(language: str, part: str) -> str:
    """A list, whatever joins it."""
    for joint in (one for one in JOINTS if one in part):
        listed = part.split(joint)
        if all(_known(language, one) or FIGURE.fullmatch(one) for one in listed):
            between = f" {_said(language, joint.strip())} " if joint.strip().isalpha() else joint
            return between.join(_each(language, one) for one in listed)
    return _said(language, part)


def _in_signs(language: str, text: str) -> str:
    """A whole figure, or one with its unit, as the language writes it."""
    if not THOUSANDS.fullmatch(text) and not MEASURED.fullmatch(text):
        return text
    signs = {",": get_format("THOUSAND_SEPARATOR", language), ".": get_format("DECIMAL_SEPARATOR", language)}
    figure = "".join(signs.get(sign, sign) for sign in text)
    return _catalogue(language).get("%s%%", "%s%%") % figure[:-1].rstrip() if figure.endswith("%") else figure


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
def _patterns(language: str) -> list[Pattern]:
    """Those that say most themselves first: others would take their words for what stands in a place."""
    made = [
        (english, words)
        for english, words in _catalogue(language).items()
        if PLACE.search(english) and not english.startswith(SCRIPT)
    ]
    made.sort(key=lambda one: -len(PLACE.sub("", one[0])))
    return [
        Pattern(
            pieces=tuple(_pieces(english)),
            strict=re.compile(_expression(english, words, strict=True), re.DOTALL),
            loose=re.compile(_expression(english, words, strict=False), re.DOTALL),
            words=words,
            first=PLACE.findall(english)[0][0],
        )
        for english, words in made
    ]


def _pieces(english: str) -> Iterator[str]:
    last = 0
    for place in PLACE.finditer(english):
        yield english[last : place.start()]
        last = place.end()
    yield english[last:]


def _expression(english: str, words: str, *, strict: bool) -> str:
    """Of a text with places: each takes something, and a place named twice the same twice. Where there is next to
    nothing but places (`{found} of {planted}`), figures: a person's words are no such text. What is said of itself and
    stands close to other words (`is lost{kept}.`) may lack."""
    if COUNTED.fullmatch(english):
        return PLACE.sub(lambda place: rf"(?P<{place[1]}>[\d.,]+)", english)
    own = PLACE.sub("", english)
    bare = english.startswith("{") and own.isascii() and sum(map(str.isalpha, own)) <= FEW
    seen: set[str] = set()
    parts = []
    last = 0
    for place in PLACE.finditer(english):
        before, after = english[last : place.start()], english[place.end() :]
        parts.append(re.escape(before))
        takes = r"\S+?" if bare else ".+?"
        if strict and before.endswith(OPENING) and after.startswith(CLOSING):
            takes = f"[^{OPENING}{CLOSING}]*"
        elif before and not before[-1].isspace() and f"{{{place[1]}:said}}" in words:
            takes = ".*?"
        within = OF_PLACES.get(place[1].rstrip("23456789"), takes)
        parts.append(f"(?P={place[1]})" if place[1] in seen else f"(?P<{place[1]}>{within})")
        seen.add(place[1])
        last = place.end()
    return "".join([*parts, re.escape(english[last:])])
