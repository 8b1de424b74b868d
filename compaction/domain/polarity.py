"""Words that turn a statement round: whether it is denied, how binding it is, of how much it holds, and when."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from .wording import clauses, content, content_in_order, likeness, recall


def any_of(phrases: str, more: str = "(?!)") -> re.Pattern[str]:
    """One of the comma-separated phrases as whole words, or `more` anywhere."""
    whole = "|".join(" ".join(phrase.split()) for phrase in phrases.split(",") if phrase.strip())
    return re.compile(rf"(?<!\w)(?:{whole})(?!\w)|{more}", re.IGNORECASE)


DENIED = any_of(
    r"""not, never, no, none, nobody, nothing, neither, nor, without, no longer, cannot, \w+n['’]t, instead of,
    rather than, in place of, unable, nicht, kein\w*, nie, niemals, ohne, statt, anstatt, anstelle, jamais, pas,
    aucune?, sans, au lieu de, plutôt que, nunca, sin, ningún, ninguna, en lugar de, en vez de""",
    r"ない|ません|なし|禁止|不要|不会|不能|没有",
)
# They look like a denial and are none.
NOT_DENIED = any_of(
    r"""not only, no more than, no less than, no later than, no problem, why not, if not, whether or not, or not,
    not sure, isn['’]t it, don['’]t you think, doesn['’]t matter, don['’]t mind, pas de problème, no\. ?\d+"""
)
# Said of something, they put it aside without a denial in the grammar.
PUT_ASIDE = any_of(
    """refus(?:e|es|ed), reject(?:s|ed)?, turn(?:s|ed)? down, turned it down, rul(?:e|es|ed) out, out,
    (?:write|writes|wrote|written) off, drop(?:s|ped)?, discard(?:s|ed)?, avoid(?:s|ed)?, fail(?:s|ed|ing)?,
    remov(?:e|es|ed), supersed(?:e|es|ed), replac(?:e|es|ed), against, lacks?, missing, first, at first, originally,
    initially, earlier, formerly, previously, used to, had been, was to, left out, leave alone, stops?, stopped,
    end(?:s|ed)?, waits?, waiting, until, before, possible, verworfen, abgelehnt, zuerst, ursprünglich, zunächst,
    anfangs, bis, bevor, wartet, refusé, écarté, d'abord, initialement, attend(?:ent)?, avant, rechazado, descartado,
    al principio, hasta"""
)
# Opposites: the one counts as the other denied.
OPPOSITES = {
    "disabl": "enabl",
    "exclud": "includ",
    "forbid": "allow",
    "forbidden": "allow",
    "prohibit": "allow",
    "disallow": "allow",
    "deni": "allow",
    "unlock": "lock",
    "invalid": "valid",
    "unsaf": "safe",
    "decreas": "increas",
    "lower": "rais",
    "stop": "start",
    "reject": "accept",
    "declin": "accept",
}
# In talk as weak as "should" and as strong as "must".
OBLIGED = "ha(?:s|ve|d) to, need(?:s|ed)? to, is to, are to, supposed to"
MODALS = {
    "must": any_of(
        f"""{OBLIGED}, must, shall, required, mandatory, muss, müssen, doit, doivent, il faut,
        debe, deben, tiene que""",
        "なければならない|必须",
    ),
    "should": any_of(f"{OBLIGED}, should, ought to, sollte, sollten, devrait, devraient, debería, deberían"),
    "may": any_of(
        """may, might, could, optional, optionally, perhaps, maybe, possibly, darf, dürfen, könnte, könnten, vielleicht,
        pourrait, peut-être, podría, quizás"""
    ),
}
# What is only imagined.
IMAGINED = any_of("would, would have, würde, würden, serait, seraient, sería")
# "And not a lock in Redis" names what else could have been.
CONTRAST = re.compile(r"^(?:and |or |but |und |et |y )?(?:not|no|nicht|kein\w*|pas|non)\b", re.IGNORECASE)
SCOPES = {
    "all": any_of("all, every, each, always, alle, jede[rsnm]?, immer, tous, toutes, toujours, chaque, todos, siempre"),
    "some": any_of(
        """some, several, a few, sometimes, partly, mostly, occasionally, einige, manche, manchmal, quelques, parfois,
        algunos, a veces"""
    ),
    "only": any_of("only, solely, nur, seulement, uniquement, solo, sólo"),
    "none": any_of(r"none, no, never, kein\w*, nie, niemals, aucune?, jamais, ninguno, nunca"),
}
ORDERS = {
    "before": any_of("before, until, till, bevor, vor, bis, avant, jusqu'à, antes de, hasta"),
    "after": any_of("after, from, since, starting, nachdem, nach, seit, ab, après, dès, desde"),
}
# As much of a clause stands in another one that is about the same.
ALIGNED = 0.65
FEWEST = 2
# Of both together: two words are in any long list.
LIKE = 0.15
# What tools return is compared where so much of it is letters and spaces.
PROSE = 0.7


@dataclass(frozen=True, kw_only=True)
class Clause:
    """`denied` counts denials by twos; `aside` are words that put it aside without one, so that it cannot be told."""

    text: str
    words: frozenset[str]
    denied: bool
    aside: frozenset[str]


@lru_cache(maxsize=1 << 13)
def clauses_of(text: str) -> tuple[Clause, ...]:
    return tuple(clause_of(piece) for piece in clauses(NOT_DENIED.sub(" ", text)))


def clause_of(text: str) -> Clause:
    found = content(text)
    turned = found & OPPOSITES.keys()
    words = (found - turned) | {OPPOSITES[word] for word in turned}
    # Speakers repeat themselves: "we didn't we didn't" denies once.
    denied = len(cues(DENIED, text)) + len(turned)
    return Clause(text=text, words=words, denied=denied % 2 == 1, aside=cues(PUT_ASIDE, text))


def cues(pattern: re.Pattern[str], text: str) -> frozenset[str]:
    return frozenset(cue.casefold() for cue in pattern.findall(text))


def asserted(text: str) -> frozenset[str]:
    """The words of what it says is so: nothing of what it denies or puts aside."""
    return frozenset(word for clause in clauses_of(text) if is_so(clause) for word in clause.words)


def is_so(clause: Clause) -> bool:
    return not clause.denied and not clause.aside and not IMAGINED.search(clause.text)


def denial(claim: str, texts: Iterable[str]) -> tuple[str, str] | None:
    """A clause of the claim and one about the same, where each of these says the opposite."""
    for clause, alike in nearest(claim, list(texts)):
        if not is_contrast(clause, claim) and not any(agree(clause, other) for other in alike):
            return clause.text, alike[0].text
    return None


def is_contrast(clause: Clause, claim: str) -> bool:
    return bool(CONTRAST.match(clause.text)) and not claim.startswith(clause.text)


def aligned(clause: Clause, other: Clause) -> bool:
    shared = len(clause.words & other.words)
    enough = shared >= FEWEST and shared >= ALIGNED * len(clause.words)
    return enough and likeness(clause.words, other.words) >= LIKE


def agree(clause: Clause, other: Clause) -> bool:
    return clause.denied == other.denied or clause.aside != other.aside


def kinds(text: str, table: Mapping[str, re.Pattern[str]]) -> frozenset[str]:
    return frozenset(kind for kind, pattern in table.items() if pattern.search(text))


def exchanged(claim: str, texts: Iterable[str], table: Mapping[str, re.Pattern[str]]) -> tuple[str, str] | None:
    """A clause of the claim and the nearest one about the same, each with words of `table`, and none of one kind."""
    clause_pairs = nearest(claim, list(texts))
    for clause, others in clause_pairs:
        mine = kinds(clause.text, table)
        theirs = [kinds(other.text, table) for other in others]
        if mine and all(theirs) and not any(mine & kind for kind in theirs):
            return clause.text, others[0].text
    return None


def nearest(claim: str, texts: list[str]) -> Iterator[tuple[Clause, list[Clause]]]:
    """Each clause of the claim with those about the same, the most alike first."""
    others = [clause for text in texts for clause in clauses_of(text) if is_prose(clause.text)]
    for clause in clauses_of(claim):
        alike = [other for other in others if aligned(clause, other)]
        if alike:
            yield clause, sorted(alike, key=lambda other: (-recall(clause.words, other.words), other.text))


def is_prose(text: str) -> bool:
    return sum(character.isalpha() or character.isspace() for character in text) >= PROSE * len(text)


def reordered(claim: str, texts: Iterable[str]) -> tuple[str, str] | None:
    """Where the claim has "before" what a text about the same has "after", or the other way round."""
    mine = list(ordered(claim))
    for text in texts:
        theirs = list(ordered(text))
        for kind, word in mine:
            opposite = "after" if kind == "before" else "before"
            if (opposite, word) in theirs and (kind, word) not in theirs and shares_enough(claim, text):
                return claim, text
    return None


def shares_enough(claim: str, text: str) -> bool:
    return recall(content(claim), content(text)) >= ALIGNED


def ordered(text: str) -> Iterator[tuple[str, str]]:
    """Each word of order with the first telling word behind it."""
    for kind, pattern in ORDERS.items():
        for found in pattern.finditer(text):
            following = content_in_order(text[found.end() :][:80])
            if following:
                yield kind, following[0]
