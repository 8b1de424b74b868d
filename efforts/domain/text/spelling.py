"""Terms that are another with one wrong letter."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

from efforts.domain.text.terms import terms_of

# Shorter ones are too often words of their own.
SHORTEST = 6
LONGEST_ENDING = 3
# Characters; an alphabet lies in one or two of them.
BLOCK = 128
# Words that a database is asked for at once. One of letters of many alphabets would have more of them near it.
MOST_NEAR = 20_000


@lru_cache(maxsize=128)
def near_terms(term: str) -> frozenset[str]:
    """One letter more, less or other, or two that changed places; each in the form in which it is indexed."""
    letters = letters_like(term)
    if len(term) < SHORTEST or 2 * len(letters) * len(term) > MOST_NEAR:
        return frozenset()
    words = {word: place for place, word in near_words(term, letters)}
    # A wrong letter in an ending hides it: what is right again may have a shorter stem.
    endings = (terms_of(word) for word, place in words.items() if place >= len(term) - LONGEST_ENDING)
    return frozenset([*words, *(stem for terms in endings if len(terms) == 1 for stem in terms)]) - {term}


def near_words(term: str, letters: Sequence[str]) -> Iterator[tuple[int, str]]:
    """With the place that differs."""
    for place in range(len(term) + 1):
        before, after = term[:place], term[place:]
        yield place, before + after[1:]
        yield place, before + after[1:2] + after[:1] + after[2:]
        yield from ((place, before + letter + rest) for letter in letters for rest in (after, after[1:]))


def letters_like(term: str) -> list[str]:
    """Small letters of the alphabets that the term is written in, and digits where it has any."""
    blocks = sorted({ord(letter) // BLOCK for letter in term})
    near = [chr(block * BLOCK + place) for block in blocks for place in range(BLOCK)]
    fits = str.isalpha if term.isalpha() else str.isalnum
    return [letter for letter in near if fits(letter) and letter == letter.casefold()]
