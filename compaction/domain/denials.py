"""Whether a claim says the opposite of the words it comes from.

The opposite of a sentence can be said in so many ways that only the plainest counts: a claim that has nearly all words
of a clause, and denies the very word that the clause asserts, or asserts the one that it denies. Whatever could be
another way to say the same keeps it silent.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from .polarity import (
    DENIED,
    GOES_ON,
    IMAGINED,
    NOT_YET,
    SEVERAL,
    SOFTENED,
    TURNED_DOWN,
    Clause,
    clauses_of,
    cues,
    is_contrast,
    is_prose,
)
from .wording import content, recall

# Of the words of a clause so many are in the other, where both say the same or the opposite.
REPEATED, MUTUAL = 0.65, 0.5
FEWEST = 2
# Of a clause that denies, a claim that has the rest of it may say more.
NEARLY_ALL, HALF, ENOUGH = 0.8, 0.5, 3
WORD = re.compile(r"\w+")
BESIDE = "and but so or do does did can und aber et mais y pero"
BESIDE_DENIAL = frozenset(BESIDE.split())


@dataclass(frozen=True, kw_only=True)
class Said:
    """One of the texts that a claim comes from."""

    text: str
    clauses: tuple[Clause, ...]
    words: frozenset[str]


def denial(claim: str, texts: Iterable[str]) -> tuple[str, str] | None:
    """A clause of the claim, and what says the opposite of it."""
    said = [Said(text=text, clauses=clauses_of(text), words=content(text)) for text in texts if is_prose(text)]
    if turned := next((one.text for one in said if is_turned_whole(claim, one.text)), None):
        return claim, turned
    for clause in clauses_of(claim):
        if (found := word_for_word(clause, said)) is not None:
            return clause.text, found.text
        if speaks_plainly(clause, claim) and not any(repeats(clause, one.text) for one in said):
            found = asserting(clause, said) if clause.heads else denying(clause, said)
            if found:
                return clause.text, found.text
    return None


def word_for_word(clause: Clause, said: Sequence[Said]) -> Clause | None:
    """What only lacks the denial, or has one more; where nothing says it as the claim does."""
    alike = [other for one in said for other in one.clauses if is_but_for_denial(clause, other)]
    return alike[0] if alike and all(other.denied != clause.denied for other in alike) else None


def is_turned_whole(claim: str, text: str) -> bool:
    alike = len(bare(claim)) >= SEVERAL and bare(claim) == bare(text)
    return alike and len(DENIED.findall(claim)) % 2 != len(DENIED.findall(text)) % 2


def is_but_for_denial(clause: Clause, other: Clause) -> bool:
    enough = len(clause.words) >= FEWEST or len(bare(clause.text)) >= SEVERAL
    return enough and bare(clause.text) == bare(other.text)


@lru_cache(maxsize=1 << 12)
def bare(text: str) -> tuple[str, ...]:
    """Its words without a denial and what may go with one; they begin neither with "and" nor with "but"."""
    return tuple(word for word in WORD.findall(DENIED.sub(" ", text).casefold()) if word not in BESIDE_DENIAL)


def speaks_plainly(clause: Clause, claim: str) -> bool:
    """It holds now, without a condition, and denies one thing or nothing."""
    vague = IMAGINED.search(clause.text) or NOT_YET.search(clause.text) or clause.unclear or GOES_ON in clause.aside
    return not (vague or is_contrast(clause, claim))


def repeats(clause: Clause, text: str) -> bool:
    return " ".join(clause.text.split()).casefold() in " ".join(text.split()).casefold()


def asserting(clause: Clause, said: Sequence[Said]) -> Clause | None:
    """What asserts the word that the clause denies, where nothing denies it or puts it aside."""
    holders = [(one, other) for one in said for other in one.clauses if clause.heads & other.words]
    if any(is_other(other, clause) or other.heads or is_softer(one.text, clause) for one, other in holders):
        return None
    for one, other in holders:
        if len(clause.words & other.words) >= FEWEST and recall(clause.words, one.words) >= REPEATED:
            return other
    return None


def is_other(other: Clause, clause: Clause) -> bool:
    """It is put aside, or holds only under a condition, as the other is not."""
    return other.aside != clause.aside or other.unclear


def is_softer(text: str, clause: Clause) -> bool:
    return not softened(text) <= softened(clause.text)


def softened(text: str) -> frozenset[str]:
    return cues(SOFTENED, TURNED_DOWN.sub(" ", text))


def denying(clause: Clause, said: Sequence[Said]) -> Clause | None:
    """What denies a word that the clause asserts, where nothing else asserts it."""
    plain = [other for one in said for other in one.clauses if not other.heads]
    for one in said:
        for other in one.clauses:
            if recall(other.heads, clause.words) >= REPEATED and is_turned(clause, other):
                asserted = any(other.heads & each.words for each in plain)
                if not asserted and not is_of_another(clause, other, one):
                    return other
    return None


def is_turned(clause: Clause, other: Clause) -> bool:
    """Both have nearly the same words."""
    shared = len(clause.words & other.words)
    both = shared >= FEWEST and shared >= REPEATED * len(clause.words) and shared >= MUTUAL * len(other.words)
    all_of_it = shared >= ENOUGH and shared >= HALF * len(clause.words) and shared >= NEARLY_ALL * len(other.words)
    same = softened(clause.text) == softened(other.text)
    return (both or all_of_it) and same and not is_other(other, clause) and not NOT_YET.search(other.text)


def is_of_another(clause: Clause, other: Clause, one: Said) -> bool:
    """ "The band does not sing, the choir does": beside the denial stands of whom it is so."""
    more = clause.words - other.words
    return any(not each.heads and recall(each.words, more) >= HALF for each in one.clauses)
