"""Two sentences that are the same word for word but for one word, and that one turns it round."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher

WORD = re.compile(r"\w+")
# As two words, so that a denial is a word of its own.
SHORT = ((re.compile(r"\bcan(?:not|['’]t)\b"), "can not"), (re.compile(r"\bwon['’]t\b"), "will not"))
CONTRACTED = re.compile(r"n['’]t\b")
DENIALS = frozenset({"not", "no", "never", "none", "nobody", "nothing", "without", "nicht", "kein", "keine", "keinen"})
DENIALS |= {"nie", "ohne", "ne", "pas", "jamais", "sans", "nunca", "sin"}
# What may come or go with a denial.
COMPANY = frozenset({"do", "does", "did", "any", "a", "an", "the", "with"})
STRONG = frozenset({"must", "shall", "need", "needs", "have", "has", "required", "muss", "müssen", "doit", "debe"})
WEAK = frozenset({"may", "might", "can", "could", "optional", "kann", "darf", "peut", "puede"})
EARLIER = frozenset({"before", "until", "bis", "vor", "avant", "antes"})
LATER = frozenset({"after", "from", "since", "nach", "après"})
FEWEST, MOST = 4, 2


def turned_by(claim: str, said: str) -> str:
    """By which rule the one thing in which they differ contradicts; empty where they differ in none, or in more."""
    return rule_of(words_of(claim), words_of(said))


def words_of(text: str) -> list[str]:
    folded = text.casefold()
    for pattern, whole in SHORT:
        folded = pattern.sub(whole, folded)
    return WORD.findall(CONTRACTED.sub(" not", folded))


def rule_of(claimed: Sequence[str], said: Sequence[str]) -> str:
    changes = SequenceMatcher(None, claimed, said, autojunk=False).get_opcodes()
    inner = [change for change in changes if change[0] != "equal" and not is_around(change, said)]
    same = sum(end - start for kind, start, end, _, _ in changes if kind == "equal")
    if len(inner) != 1 or same < FEWEST:
        return ""
    _, start, end, other_start, other_end = inner[0]
    mine, theirs = set(claimed[start:end]), set(said[other_start:other_end])
    return "" if max(len(mine), len(theirs)) > MOST else rule_between(mine, theirs)


def is_around(change: tuple[str, int, int, int, int], said: Sequence[str]) -> bool:
    """The sentence may begin before the claim, and go on after it."""
    kind, _, _, start, end = change
    return kind == "insert" and (start == 0 or end == len(said))


def rule_between(mine: set[str], theirs: set[str]) -> str:
    if bool(mine & DENIALS) != bool(theirs & DENIALS) and (mine | theirs) <= DENIALS | COMPANY:
        return "denied"
    for one, other in ((mine, theirs), (theirs, mine)):
        if one & STRONG and other & WEAK:
            return "other_modality"
        if one & EARLIER and other & LATER:
            return "other_order"
    return ""
