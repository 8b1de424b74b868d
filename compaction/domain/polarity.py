"""Words that turn a statement round: whether it is denied, how binding it is, of how much it holds, and when."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from efforts.domain.terms import stem

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
# Half of a denial: neither … nor.
SECOND = frozenset({"nor"})
# They may stand behind what they deny.
TRAILING = any_of("nicht, pas", "ない|ません")
# They look like a denial and are none.
NOT_DENIED = any_of(
    r"""not only, no more than, no less than, no later than, no problem, why not, if not, whether or not, or not,
    not sure, isn['’]t it, don['’]t you think, doesn['’]t matter, don['’]t mind, pas de problème, no\. ?\d+"""
)
# Said of something, they put it aside without a denial in the grammar.
REFUSED = any_of(
    """refus(?:e|es|ed), reject(?:s|ed)?, turn(?:s|ed)? down, turned it down, rul(?:e|es|ed) out,
    (?:is|are|was|were|it's|that's) out, (?:write|writes|wrote|written) off, drop(?:s|ped)?, discard(?:s|ed)?,
    avoid(?:s|ed)?, fail(?:s|ed|ing)?, remov(?:e|es|ed), supersed(?:e|es|ed), replac(?:e|es|ed), against, lacks?,
    left out, leave alone, stops?, stopped, wrong, verworfen, abgelehnt, refusé, écarté, rechazado, descartado"""
)
# Denied, they are the opposite of a denial.
TURNED_DOWN = any_of(
    "reject(?:s|ed)?, turned down, ruled out, (?:write|writes|wrote|written) off, verworfen, abgelehnt"
)
# It was so, or is to be so: what is not so yet can be told either way.
OTHER_TIME = any_of(
    """first, at first, originally, initially, earlier, formerly, previously, used to, had been, was to, end(?:s|ed)?,
    waits?, waiting, until, before, possible, if, whether, falls, ob, si, zuerst, ursprünglich, zunächst, anfangs, bis,
    bevor, wartet, d'abord, initialement, attend(?:ent)?, avant, al principio, hasta"""
)
# How a matter stands, in words that need not be those of the source.
NOT_YET = any_of(
    r"""not yet, not settled, not decided, not known, not clear, not (?:been )?done, nothing, noch nicht,
    nicht entschieden, noch kein\w*, pas encore, todavía no, aún no""",
    "まだ",
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
CONTRAST = re.compile(r"^(?:and |or |but |und |et |y )?(?:not|no|nicht|kein\w*|pas|non|without|ohne|sans|sin)\b", re.I)
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
    "before": any_of("before, bevor, vor, avant, antes de"),
    "after": any_of("after, nachdem, nach, après, después de"),
}
LASTING = {
    "until": any_of("until, till, bis, jusqu'à, hasta"),
    "from": any_of("from, since, starting, seit, ab, dès, depuis, desde"),
}
# As much of a clause stands in another one that is about the same.
ALIGNED = 0.65
FEWEST = 2
# Of what it is taken from, a claim has at least so much.
TAKEN = 0.4
# Behind a denial, a clause of so few words may be the rest of what is denied: "without X, Y or Z".
SHORT_CLAUSE, GOES_ON = 6, ", …"
# Of both together: two words are in any long list.
LIKE = 0.15
# What tools return is compared where so much of it is letters and spaces.
PROSE = 0.7


SENTENCE = any_of(
    """is, are, was, were, be, been, will, would, can, could, has, have, had, does, do, did, it, they, we, he, she, i,
    you, there, ist, sind, war, wird, hat, haben, est, sont, a, ont, es, son, está"""
)


@dataclass(frozen=True, kw_only=True)
class Clause:
    """`denied` counts denials by twos, `heard` all of them once, since speakers repeat themselves.

    `under` are the words behind the first denial. `aside` are words that put something aside without one, so that it
    cannot be told.
    """

    text: str
    words: frozenset[str]
    denied: bool
    heard: bool
    under: frozenset[str]
    aside: frozenset[str]


@lru_cache(maxsize=1 << 13)
def clauses_of(text: str) -> tuple[Clause, ...]:
    found: list[Clause] = []
    for piece in clauses(NOT_DENIED.sub(" ", text)):
        clause = clause_of(piece)
        listed = len(clause.words) <= SHORT_CLAUSE and not SENTENCE.search(piece)
        goes_on = listed and bool(found) and (found[-1].denied or GOES_ON in found[-1].aside)
        found.append(replace(clause, aside=clause.aside | {GOES_ON}) if goes_on and not clause.denied else clause)
    return tuple(found)


def clause_of(text: str) -> Clause:
    found = content(text)
    turned = found & OPPOSITES.keys()
    words = (found - turned - content(" ".join(TURNED_DOWN.findall(text)))) | {OPPOSITES[word] for word in turned}
    denials = [cue.casefold() for cue in DENIED.findall(text) if cue.casefold() not in SECOND]
    behind = content(DENIED.split(text, maxsplit=1)[-1])
    return Clause(
        text=text,
        words=words,
        denied=(len(denials) + len(turned)) % 2 == 1,
        heard=(bool(denials) + len(turned)) % 2 == 1,
        under=behind if denials and not TRAILING.search(text) else words,
        aside=cues(REFUSED, text) | cues(OTHER_TIME, text),
    )


def cues(pattern: re.Pattern[str], text: str) -> frozenset[str]:
    """By their stems: "waits" and "wait" are one."""
    return frozenset(stem(cue.casefold()) for cue in pattern.findall(text))


def asserted(text: str) -> frozenset[str]:
    """The words of what it says is so: nothing of what it denies or puts aside."""
    return frozenset(word for clause in clauses_of(text) if is_so(clause) for word in clause.words)


def is_so(clause: Clause) -> bool:
    return not clause.denied and not clause.aside and not IMAGINED.search(clause.text)


def denial(claim: str, texts: Iterable[str]) -> tuple[str, str] | None:
    """A clause of the claim, and what says the opposite of it."""
    given = tuple(texts)
    found = flat_denial(claim, given)
    return found or denied_by_nobody(claim, given) or said_without_denial(claim, given)


def flat_denial(claim: str, texts: Sequence[str]) -> tuple[str, str] | None:
    """Only where both speak of the same in much the same words."""
    return opposed(claim, texts) or affirmed(claim, texts)


def opposed(claim: str, texts: Sequence[str]) -> tuple[str, str] | None:
    """Each clause about the same says the opposite."""
    for clause, alike in nearest(claim, texts):
        if not is_contrast(clause, claim) and not any(agree(clause, other) for other in alike):
            return clause.text, alike[0].text
    return None


def affirmed(claim: str, texts: Sequence[str]) -> tuple[str, str] | None:
    """It says all of what a clause denies, and nothing that it is held against says so."""
    others = [clause for text in texts for clause in clauses_of(text)]
    plain = [other.words for other in others if not other.heard]
    for clause in clauses_of(claim):
        for other in others:
            held = len(other.words) >= FEWEST and other.words <= clause.words and other.heard
            if held and affirms(clause, other) and not any(other.words <= words for words in plain):
                return clause.text, other.text
    return None


def affirms(clause: Clause, other: Clause) -> bool:
    return not clause.denied and clause.aside == other.aside and not IMAGINED.search(clause.text)


def denied_by_nobody(claim: str, texts: Sequence[str]) -> tuple[str, str] | None:
    """It denies something in one of its clauses, and what it is taken from denies nothing and puts nothing aside."""
    others = [clause for text in texts for clause in clauses_of(text)]
    if not others or any(other.heard or other.denied or REFUSED.search(other.text) for other in others):
        return None
    words = frozenset(word for other in others for word in other.words)
    for clause in clauses_of(claim):
        told = clause.denied and not is_contrast(clause, claim) and not clause.aside and not NOT_YET.search(clause.text)
        if told and len(clause.words & words) >= FEWEST and recall(clause.words, words) >= TAKEN:
            return clause.text, texts[0]
    return None


def said_without_denial(claim: str, texts: Sequence[str]) -> tuple[str, str] | None:
    """Of what it denies a clause says the very word, and no clause denies or puts aside that word."""
    others = [clause for text in texts for clause in clauses_of(text)]
    for clause in clauses_of(claim):
        if clause.aside or not clause.denied or is_contrast(clause, claim) or NOT_YET.search(clause.text):
            continue
        word = next(iter(content_in_order(DENIED.split(clause.text, maxsplit=1)[-1])), "")
        holders = [other for other in others if word in other.words]
        near = [other for other in holders if len(other.words & clause.words) >= FEWEST]
        if near and not any(other.heard or other.aside for other in holders):
            return clause.text, near[0].text
    return None


def is_contrast(clause: Clause, claim: str) -> bool:
    return bool(CONTRAST.match(clause.text)) and not claim.startswith(clause.text)


def aligned(clause: Clause, other: Clause) -> bool:
    shared = len(clause.words & other.words)
    enough = shared >= FEWEST and shared >= ALIGNED * len(clause.words)
    return enough and likeness(clause.words, other.words) >= LIKE


def agree(clause: Clause, other: Clause) -> bool:
    if clause.denied and TURNED_DOWN.search(clause.text):
        return not other.heard or bool(other.aside)
    # "The folder you can't see" denies nothing of the folder.
    beside = other.heard and not other.under & clause.words
    return beside or clause.denied == other.heard or clause.aside != other.aside


def kinds(text: str, table: Mapping[str, re.Pattern[str]]) -> frozenset[str]:
    return frozenset(kind for kind, pattern in table.items() if pattern.search(text))


def exchanged(claim: str, texts: Iterable[str], table: Mapping[str, re.Pattern[str]]) -> tuple[str, str] | None:
    """A clause of the claim and the nearest one about the same, each with words of `table`, and none of one kind."""
    given = tuple(texts)
    whole = [clause_of(text) for text in given]
    for clause, others in nearest(claim, given, more=whole):
        mine = kinds(clause.text, table)
        theirs = [kinds(other.text, table) for other in others]
        if mine and all(theirs) and not any(mine & kind for kind in theirs):
            return clause.text, others[0].text
    return None


def rebound(claim: str, texts: Iterable[str], table: Mapping[str, re.Pattern[str]]) -> tuple[str, str] | None:
    """Where a word of `table` stands before the same word as one of another kind does in a text about the same."""
    mine = set(bound(claim, table))
    for text in texts:
        theirs = set(bound(text, table))
        words = {word for _, word in theirs}
        changed = any(word in words and (kind, word) not in theirs for kind, word in mine)
        if changed and recall(content(claim), content(text)) >= ALIGNED:
            return claim, text
    return None


def bound(text: str, table: Mapping[str, re.Pattern[str]]) -> Iterator[tuple[str, str]]:
    """Each word of `table` by its kind, with the first telling word behind it."""
    for kind, pattern in table.items():
        for found in pattern.finditer(text):
            following = content_in_order(text[found.end() :][:80])
            if following:
                yield kind, following[0]


def nearest(claim: str, texts: Iterable[str], more: Sequence[Clause] = ()) -> Iterator[tuple[Clause, list[Clause]]]:
    """Each clause of the claim with those about the same, the most alike first."""
    others = [clause for text in texts for clause in clauses_of(text) if is_prose(clause.text)] + list(more)
    for clause in clauses_of(claim):
        alike = [other for other in others if aligned(clause, other)]
        if alike:
            yield clause, sorted(alike, key=lambda other: (-recall(clause.words, other.words), other.text))


def is_prose(text: str) -> bool:
    return sum(character.isalpha() or character.isspace() for character in text) >= PROSE * len(text)
