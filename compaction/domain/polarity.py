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
    rather than, in place of, unable, nicht, kein\w*, nie, niemals, niemand, nichts, ohne, statt, anstatt, anstelle,
    jamais, pas, aucune?, sans, au lieu de, plutôt que, nunca, sin, ningún, ninguna, nadie, personne, en lugar
    de, en vez de""",
    r"ない|ません|なし|禁止|不要|不会|不能|没有",
)
# What transcripts have between words.
FILLED = re.compile(r"\{\w+\}|\b(?:uh|um|hmm|mm|er|ähm?|euh)\b|(?<![\w'’.])[b-zB-HJ-Z](?![\w'’.])|\b[nN]['’](?=\w{2})")
# Half of a denial: neither … nor.
SECOND = frozenset({"nor"})
# They may stand behind what they deny.
TRAILING = any_of("nicht, pas", "ない|ません")
# They look like a denial and are none.
NOT_DENIED = any_of(
    r"""not only, no more than, no less than, no later than, no problem, why not, if not, whether or not, or not,
    not sure, isn['’]t it, don['’]t you think, don['’]t mind, pas de problème, no\. ?\d+"""
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
# Of what is only so or just so, the rest is not so.
SOFTENED = any_of(
    """only, just, solely, alone, enough, otherwise, else, except, apart from, besides, but for, other than, out, extra,
    free of, off, silly, pointless, impossible, needless, unnecessary, instead, rather, missing, lacking,
    outstanding, pending, due, at least, at most, under, below, above, up to, more than, less than, half, fehlt, fehlen,
    manque(?:nt)?, nur, bloß, lediglich, allein,
    außer, sonst, lieber, seulement, uniquement, ne, hors, sauf, sinon, plutôt, solo, sólo, salvo, excepto""",
    "だけ|のみ|以外|代わり|只|仅",
)
# It was so, or is to be so: what is not so yet can be told either way.
OTHER_TIME = any_of(
    """first, at first, originally, initially, earlier, formerly, previously, used to, had been, was to, end(?:s|ed)?,
    waits?, waiting, until, before, possible, if, whether, unless, once, as soon as, falls, wenn, ob, si, cuando, quand,
    zuerst, ursprünglich, zunächst, anfangs, bis,
    bevor, wartet, d'abord, initialement, attend(?:ent)?, avant, al principio, hasta"""
)
# How a matter stands, in words that need not be those of the source.
NOT_YET = any_of(
    r"""not yet, (?:not|\w+n['’]t)(?: \w+){1,3} yet, not settled,
    not decided, not known, not clear, not (?:been )?done, nothing, noch nicht,
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
# Not to have to is no prohibition.
LIGHT = any_of(f"{OBLIGED}, need, needn['’]t")
# A polite way to say "should".
POLITE = any_of("(?:might|may) (?:really |just )?(?:want to|wanna|as well)|could you|can you|you could|maybe we should")
# What is only imagined.
IMAGINED = any_of("would, would have, würde, würden, serait, seraient, sería")
# "And not a lock in Redis" names what else could have been.
CONTRAST = re.compile(
    r"^(?:and |or |but |und |et |y |mais )?(?:not|no|nor|nicht|kein\w*|pas|non|without|ohne|sans|sin"
    r"|instead of|rather than"
    r"|in place of|statt|anstatt|anstelle|plutôt que|au lieu de|en lugar de|en vez de)\b",
    re.IGNORECASE,
)
LACKING = any_of("without, unless, except, ohne, außer, sans, sauf, sin, salvo")
SCOPES = {
    "all": any_of("all, every, each, always, alle, jede[rsnm]?, immer, tous, toutes, toujours, chaque, todos, siempre"),
    "some": any_of(
        """some, several, a few, sometimes, partly, mostly, occasionally, einige, manche, manchmal, quelques, parfois,
        algunos, a veces"""
    ),
    "only": any_of("only, solely, nur, seulement, uniquement, solo, sólo"),
    "none": any_of(r"none, no, never, kein\w*, nie, niemals, aucune?, jamais, ninguno, nunca"),
}
# Denials say by themselves whether they agree.
QUANTITIES = {kind: pattern for kind, pattern in SCOPES.items() if kind != "none"}
ALONE = {"only": SCOPES["only"], "also": any_of("also, auch, aussi, también")}
MORE_OR_LESS = {
    "least": any_of(
        """at least, (?<!no )more than, no less than, no fewer than, over, mindestens, mehr als, au moins, plus de,
        al menos"""
    ),
    "most": any_of(
        """at most, (?<!no )less than, fewer than, no more than, up to, höchstens, weniger als, au plus, moins de,
        a lo sumo"""
    ),
}
COMPANY = {
    "with": any_of("with, mit, avec, con"),
    "without": any_of("without, with no, ohne, sans, sin"),
}
ORDERS = {
    "before": any_of("before, bevor, vor, avant, antes de"),
    "after": any_of("after, nachdem, nach, après, después de"),
}
LASTING = {
    "until": any_of("until, till, bis, jusqu'à, hasta"),
    "from": any_of("from, since, starting, seit, ab, dès, depuis, desde"),
}
# Of two sentences about the same, the one that says more.
IN_PART = 0.4
# So many words in a row are no chance.
SEVERAL = 4
# As much of a clause stands in another one that is about the same.
ALIGNED = 0.65
FEWEST = 2
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


Kinds = tuple[frozenset[str], ...]


@dataclass(frozen=True, kw_only=True)
class Clause:
    """`denied` counts denials by twos, `heard` all of them once, since speakers repeat themselves.

    `heads` are the words that it denies, none where it asserts; several where the order does not tell which.
    `aside` are words that put something aside without a denial, so that it cannot be told.
    """

    text: str
    words: frozenset[str]
    denied: bool
    heard: bool
    unclear: bool
    heads: frozenset[str]
    aside: frozenset[str]


@lru_cache(maxsize=1 << 13)
def clauses_of(text: str) -> tuple[Clause, ...]:
    found: list[Clause] = []
    for piece in clauses(FILLED.sub(" ", NOT_DENIED.sub(" ", text))):
        clause = clause_of(piece)
        listed = len(clause.words) <= SHORT_CLAUSE and not SENTENCE.search(piece)
        goes_on = listed and bool(found) and (found[-1].denied or GOES_ON in found[-1].aside)
        clause = replace(clause, aside=clause.aside | {GOES_ON}) if goes_on and not clause.denied else clause
        # "Never without a key": two denials, in two clauses.
        twice = bool(found) and found[-1].heard and bool(LACKING.match(piece))
        found.append(replace(clause, unclear=clause.unclear or twice))
    return tuple(found)


@lru_cache(maxsize=1 << 13)
def clause_of(text: str) -> Clause:
    found = content(DENIED.sub(" ", text))
    turned, down = found & OPPOSITES.keys(), TURNED_DOWN.findall(text)
    words = (found - turned - content(" ".join(down))) | {OPPOSITES[word] for word in turned}
    denials = denials_in(text)
    turns = len(turned) + bool(down)
    heard = (bool(denials) + turns) % 2 == 1
    return Clause(
        text=text,
        words=words,
        denied=(len(denials) + turns) % 2 == 1,
        heard=heard,
        unclear=len(set(denials)) > 1,
        heads=heads_of(text, words) if heard else frozenset(),
        aside=(cues(REFUSED, text) | cues(OTHER_TIME, text)) - cues(TURNED_DOWN, text),
    )


def denials_in(text: str) -> list[str]:
    """Each denial; of those with no telling word between them, as speakers repeat themselves, only one."""
    found: list[str] = []
    end = 0
    for cue in DENIED.finditer(text):
        if cue[0].casefold() not in SECOND and (not found or content(text[end : cue.start()])):
            found.append(cue[0].casefold())
        end = cue.end()
    return found


def heads_of(text: str, words: frozenset[str]) -> frozenset[str]:
    """The first telling word behind a denial, or all where that may stand behind what it denies."""
    if not DENIED.search(text) or TRAILING.search(text):
        return words
    behind = content_in_order(DENIED.split(text)[-1])
    return frozenset(behind[:1]) & words or words


def cues(pattern: re.Pattern[str], text: str) -> frozenset[str]:
    """By their stems: "waits" and "wait" are one."""
    return frozenset(stem(cue.casefold()) for cue in pattern.findall(text))


@lru_cache(maxsize=1 << 13)
def asserted(text: str) -> frozenset[str]:
    """The words of what it says is so: nothing of what it denies or puts aside."""
    return frozenset(word for clause in clauses_of(text) if is_so(clause) for word in clause.words)


def is_so(clause: Clause) -> bool:
    return not clause.denied and not clause.aside and not IMAGINED.search(clause.text)


def is_contrast(clause: Clause, claim: str) -> bool:
    return bool(CONTRAST.match(clause.text)) and not claim.startswith(clause.text)


def aligned(clause: Clause, other: Clause) -> bool:
    shared = len(clause.words & other.words)
    enough = shared >= FEWEST and shared >= ALIGNED * len(clause.words)
    return enough and likeness(clause.words, other.words) >= LIKE


def kinds(text: str, table: Mapping[str, re.Pattern[str]]) -> frozenset[str]:
    plain = POLITE.sub(" ", text)
    return frozenset(kind for kind, pattern in table.items() if pattern.search(plain))


def exchanged(claim: str, texts: Iterable[str], table: Mapping[str, re.Pattern[str]]) -> tuple[str, str] | None:
    """A clause of the claim and the nearest one about the same, each with words of `table`, and none of one kind."""
    given = tuple(texts)
    if found := but_for(claim, given, table):
        return found
    whole = [clause_of(text) for text in given]
    for clause, others in nearest(claim, given, more=whole):
        mine = kinds(clause.text, table)
        theirs = [kinds(other.text, table) for other in others]
        # "May not" and "must not" are one.
        if clause.heads and others[0].heads and not LIGHT.search(f"{clause.text} {others[0].text}"):
            continue
        if mine and all(theirs) and not any(mine & kind for kind in theirs):
            return clause.text, others[0].text
    return None


def but_for(claim: str, texts: Iterable[str], table: Mapping[str, re.Pattern[str]]) -> tuple[str, str] | None:
    """A clause that is word for word another one but for one word of `table`, which is of another kind."""
    every = [clause for text in texts for clause in clauses_of(text)]
    for clause in clauses_of(claim):
        mine = cued(clause.text, table)
        alike = [cued(other.text, table) for other in every if clause.words == other.words] if mine[1] else []
        same = [kinds for words, kinds in alike if words == mine[0] and len(words) >= SEVERAL]
        if same and not any(agreeing(mine[1], kinds) for kinds in same):
            return clause.text, next(other.text for other in every if cued(other.text, table)[0] == mine[0])
    return None


def agreeing(one: Kinds, other: Kinds) -> bool:
    return len(one) != len(other) or all(mine & theirs for mine, theirs in zip(one, other, strict=True))


def cued(text: str, table: Mapping[str, re.Pattern[str]]) -> tuple[tuple[str, ...], Kinds]:
    """Its words without those of `table`, and the kinds of these, in their order."""
    rest, at = text.casefold(), dict[int, frozenset[str]]()
    for kind, pattern in table.items():
        for found in pattern.finditer(text):
            at[found.start()] = at.get(found.start(), frozenset()) | {kind}
    for pattern in table.values():
        rest = pattern.sub(" ", rest)
    return tuple(re.findall(r"\w+", rest)), tuple(at[place] for place in sorted(at))


def rebound(claim: str, texts: Iterable[str], table: Mapping[str, re.Pattern[str]]) -> tuple[str, str] | None:
    """Where a word of `table` stands before the same word as one of another kind does in a text about the same."""
    mine = set(bound(claim, table))
    for text in texts if mine else ():
        theirs = set(bound(text, table))
        words = {word for _, word in theirs}
        changed = any(word in words and (kind, word) not in theirs for kind, word in mine)
        if changed and is_near(content(claim), content(text)) and turns(claim, table) == turns(text, table):
            return claim, text
    return None


def is_near(one: frozenset[str], other: frozenset[str]) -> bool:
    """One has most of the other's words, which has enough of its."""
    shared = sorted((recall(one, other), recall(other, one)))
    return shared[0] >= IN_PART and shared[1] >= ALIGNED


def turns(text: str, table: Mapping[str, re.Pattern[str]]) -> tuple[int, frozenset[str]]:
    """What else turns it round: "no shipping before" is "shipping after"."""
    for pattern in table.values():
        text = pattern.sub(" ", text)
    return len(DENIED.findall(text)) % 2, cues(REFUSED, text)


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


@lru_cache(maxsize=1 << 13)
def is_prose(text: str) -> bool:
    return sum(character.isalpha() or character.isspace() for character in text) >= PROSE * len(text)
