"""The words of a text in the form in which they are indexed and looked for: the same on both sides, in any script.

Identifiers and paths count by their parts and whole (auth_bug, AuthBug and auth-bug are one), words by their stems,
scripts without spaces by pairs of characters, emoji one by one. A term has only the characters a-z, 0-9 and such
outside ASCII, so that no index takes one apart or for syntax.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator, Sequence
from functools import cache, lru_cache
from typing import Protocol

from snowballstemmer import stemmer

LONGEST_TERM = 64
# So many words of a query are looked for: each costs one more look into the index.
MOST_QUERY_TERMS = 24
# Characters of a query that are read: a pasted log is no better a query than its beginning.
QUERY_LENGTH = 20_000

FUNCTION_WORDS = """
    a about after again all also am an and any anybody anyone anything are as at be because been before being but by
    can could did do does doing done each for from had has have having he her here hers him his how i if in into is it
    its just kind let many me mine much my no nor not of ok okay on once one only or our ours out over please quote
    recall remember remind said same say says she should so some somebody someone something such talk talked tell than
    thank thanks that the their theirs them then there these they thing things this those to told too up us very want
    was we were what when where which while who whom whose why will with would yes you your yours i'm i've i'd i'll
    it's that's what's where's who's when's how's don't doesn't didn't isn't aren't wasn't weren't can't couldn't
    we're we've you're you've let's there's he's she's they're won't wouldn't hadn't hasn't haven't
"""
# Han, kana, Hangul, Thai and their neighbours: written without spaces, or with endings that hide the word.
UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
# What is no letter to Python although words are written with it: vowel signs of India, joiners, marks.
SIGNS = "\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0670\u0900-\u0dff\u200c\u200d"
WORD = rf"(?:[^\W_{UNSPACED}]|[{SIGNS}])+"
SYMBOL = "[\u2190-\u2bff\U0001f000-\U0001faff]"
TOKEN = re.compile(rf"[{UNSPACED}]+|{WORD}(?:['’._/\\@#:&+-]{WORD})*(?:\+\+|\#)?|{SYMBOL}")
HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
CONNECTED = re.compile(r"[._/\\@#:&+-]")
NUMBERS = re.compile(r"\d+(?:s|th|st|nd|rd)")
UNWANTED = re.compile(r"[\x00-\x2f\x3a-\x60\x7b-\x7f\ufe0e\ufe0f\u200c\u200d\s]+")
SPELLED = {"c++": "cplusplus", "c#": "csharp", "f#": "fsharp"}


class Stemmer(Protocol):
    def stemWord(self, word: str) -> str: ...  # the package's own name


# By the letters of a word; other languages in Latin letters lose an ending or two, on both sides alike.
STEMMERS = (
    (re.compile("[\u0400-\u052f]"), "russian"),
    (re.compile("[\u0600-\u06ff]"), "arabic"),
    (re.compile("[\u0370-\u03ff]"), "greek"),
    (re.compile("[a-z]"), "english"),
)


def terms_of(text: str) -> list[str]:
    """In their order, repeated ones too; an identifier gives its parts and then itself."""
    return [term for token in TOKEN.findall(unicodedata.normalize("NFKC", text)) for term in token_terms(token)]


def query_terms(text: str) -> tuple[str, ...]:
    """The distinct terms of a query in their order; without words that only hold a sentence together, if it has
    others."""
    tokens = TOKEN.findall(unicodedata.normalize("NFKC", text[:QUERY_LENGTH]))
    telling = [token for token in tokens if folded(token) not in STOPWORDS]
    found = dict.fromkeys(term for token in telling or tokens for term in token_terms(token) if term not in STOPWORDS)
    found = found or dict.fromkeys(term for token in tokens for term in token_terms(token))
    # Numbers and long words tell most; the database is not asked, because each answer would cost as much as a search.
    most = sorted(found, key=lambda term: (term.isalpha(), -len(term), term))[:MOST_QUERY_TERMS]
    return tuple(term for term in found if term in most)


# Words come back: the same few thousand make up most of what is said.
@lru_cache(maxsize=1 << 15)
def token_terms(token: str) -> tuple[str, ...]:
    """The terms of one token: its parts and its whole, or pairs of letters in scripts without spaces."""
    if re.match(f"[{UNSPACED}]", token):
        return tuple(pairs(token))
    key = folded(token)
    if key in SPELLED:
        return (SPELLED[key],)
    parts = [stem(folded(part)) for part in parts_of(token)]
    whole = stem(key) if len(parts) < 2 else UNWANTED.sub("", key)
    return tuple(term[:LONGEST_TERM] for term in dict.fromkeys([*(parts if len(parts) > 1 else []), whole]) if term)


def parts_of(token: str) -> Iterator[str]:
    # 3.11 is not about 3, nor 14:30 about 14.
    if token[0].isdecimal() and CONNECTED.sub("", token).isdecimal():
        return
    for piece in re.split(r"[._/\\@#:&+-]+", token):
        yield from (part for part in HUMP.split(piece) if part)


@lru_cache(maxsize=1 << 14)
def folded(word: str) -> str:
    """Without case, and without accents where they stand on Latin or Arabic letters."""
    bare = (c for c in unicodedata.normalize("NFD", word.casefold().replace("’", "'")) if not is_accent(c))
    return unicodedata.normalize("NFC", "".join(bare))


def is_accent(character: str) -> bool:
    return ("\u0300" <= character <= "\u036f" and character != "\u0306") or "\u064b" <= character <= "\u065f"


@lru_cache(maxsize=1 << 15)
def stem(word: str) -> str:
    """The stem of a word by the stemmer of its script; ordinals become numbers."""
    word = UNWANTED.sub("", word.removesuffix("'s"))
    if NUMBERS.fullmatch(word):
        return word.rstrip("stndrh")
    if not word.isalpha():
        return word
    return next((stems(name).stemWord(word) for letters, name in STEMMERS if letters.search(word)), word)


@cache
def stems(name: str) -> Stemmer:
    found: Stemmer = stemmer(name)
    return found


def pairs(run: str) -> Iterator[str]:
    yield from (run[i : i + 2] for i in range(len(run) - 1)) if len(run) > 1 else run


STOPWORDS = frozenset(FUNCTION_WORDS.split()) | {stem(word) for word in FUNCTION_WORDS.split()}


def spelled(text: str) -> dict[str, str]:
    """For each term of a query the word that it was typed as."""
    typed: dict[str, str] = {}
    for token in TOKEN.findall(unicodedata.normalize("NFKC", text[:QUERY_LENGTH])):
        for term in token_terms(token):
            typed.setdefault(term, token)
    return typed


def marks(text: str, terms: Collection[str]) -> list[tuple[int, int]]:
    """Spans of characters where the text has any of the terms."""
    return [span for token in TOKEN.finditer(text) for span in marks_in(token, terms)]


def marks_in(token: re.Match[str], terms: Collection[str]) -> Iterator[tuple[int, int]]:
    start, word = token.start(), token[0]
    if re.match(f"[{UNSPACED}]", word):
        found = {at + step for at in range(len(word)) if word[at : at + 2] in terms for step in (0, 1)}
        yield from joined(sorted(start + at for at in found if at < len(word)))
    elif not set(token_terms(unicodedata.normalize("NFKC", word))).isdisjoint(terms):
        yield start, token.end()


def joined(places: Sequence[int]) -> Iterator[tuple[int, int]]:
    for place in places:
        if place - 1 not in places:
            end = place
            while end in places:
                end += 1
            yield place, end
