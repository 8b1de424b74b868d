"""The words of a text that carry meaning, in a form that can be compared."""

from __future__ import annotations

import re
import unicodedata

FUNCTION_WORDS = """
    a about actually again all also am an and any anyone anything are as at be because been before being but by can
    could did do does doing done for from had has have having he her here him his how i if in into is it its just
    kindly know let like me mention mentioned my no not of ok okay on once one only or our ours out over please
    quote recall remember remind said same say says she should show so some somebody someone something talk talked
    tell than thank thanks that the their them then there these they thing things this those to told too up us very
    want was we were what when where which while who whom whose why will with would you your yours yes i'm i've i'd
    i'll it's that's what's where's who's when's how's don't doesn't didn't isn't aren't wasn't weren't can't
    couldn't we're we've you're you've let's there's
"""
STOPWORDS = frozenset(FUNCTION_WORDS.split())
# Han, kana, Hangul, Thai and their neighbours: written without spaces, or with endings that hide the word.
UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
HIRAGANA = re.compile("[\u3040-\u309f]+")
# Addresses, versions and file names are one token; the end keeps C++ apart from C.
TOKEN = re.compile(rf"[{UNSPACED}]+|[^\W{UNSPACED}]+(?:['’.,:/@#+&_-]+[^\W{UNSPACED}]+)*\+*")
PART = re.compile(r"[^\W_]+")
CONNECTED = re.compile(r"[./@#+&_:-]")
ENDINGS = ("ing", "ed", "es", "s")


def terms(text: str) -> frozenset[str]:
    """Stems of content words; numbers and identifiers whole, identifiers also by their parts; bigrams where
    words are not set apart."""
    found: set[str] = set()
    for token in TOKEN.findall(unicodedata.normalize("NFKC", text).casefold().replace("’", "'")):
        found.update(_of_token(token))
    return frozenset(found)


def keywords(text: str) -> list[str]:
    """The content words as they were typed, in order, each once."""
    seen: dict[str, str] = {}
    for token in TOKEN.findall(text):
        key = token.casefold().replace("’", "'")
        if key not in STOPWORDS and _of_token(unicodedata.normalize("NFKC", key)):
            seen.setdefault(key, token)
    return list(seen.values())


def _of_token(token: str) -> set[str]:
    if re.match(f"[{UNSPACED}]", token):
        return _bigrams(token)
    if token in STOPWORDS:
        return set()
    # 14:30 is not about 14, nor 3.11 about 3.
    if not CONNECTED.search(token) or token[0].isdecimal():
        return {_stem(token)}
    parts = {_stem(part) for part in PART.findall(token) if len(part) > 1 and part.isalpha() and part not in STOPWORDS}
    return {token, *parts}


def _bigrams(run: str) -> set[str]:
    pairs = {run[i : i + 2] for i in range(len(run) - 1)} or {run}
    # Pairs of hiragana alone are mostly grammar.
    return {pair for pair in pairs if not HIRAGANA.fullmatch(pair)}


def _stem(word: str) -> str:
    """Light: enough that released, releases and release are one, not so much that unlike words are."""
    word = word.removesuffix("'s").replace("'", "")
    if len(word) < 4 or not word.isalpha():
        return word
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    for ending in ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3 and not word.endswith("ss"):
            word = word.removesuffix(ending)
            break
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "aeiouls":
        word = word[:-1]
    return word[:-1] if len(word) > 3 and word.endswith("e") else word
