"""What a summary leaves out and its log could tell: the telling words, so that a reader knows what expanding brings."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

from .extractive import LONGEST_SUMMARY, Count, Sentence, sentences_of, summarise
from .redaction import MASK
from .source_text import Source
from .terms import HUMP, STOPWORDS, TOKEN, UNSPACED, folded, stem, terms_of, token_terms

DETAILS = "(details: {})"
MOST_WORDS, MOST_TOKENS = 8, 25
MOST_SHARE = 0.5
# Words of fewer letters say little by themselves; numbers of fewer digits are in every log.
SHORTEST, SHORTEST_NUMBER, LONGEST = 4, 3, 40
# A word is telling that the log comes back to, a name as programs write it also where it stands once.
RECURS = 2
IDENTIFIER, NUMBER, PAIR = 1.6, 1.2, 0.7
# Of scripts without spaces the runs that are words: no kana between, and not half a sentence.
UNSPACED_WORD = re.compile("[\u30a0-\u30ff]{3,12}|[\u4e00-\u9fff]{2,6}|[\uac00-\ud7af]{2,8}")
# Telling nowhere, whatever the talk is about.
EVERYDAY_WORDS = """
    able actually again already always another answer around ask away back bad based became become best better
    both bring call came cause change check come conversation course definitely different difficult done easy
    else end enough ensure especially even ever every everything exactly example fact feel felt find fine first
    following found full gave general get give given go going good got great guess had hand happen happy hard
    help here high hope idea important include instead issue keep kind know last later least leave left less
    life like likely line little live long look lot love made main make maybe mean might mind minute month more
    most move much must name need never new next nice nothing now often old open opportunity order other others
    own part people perhaps person piece place plan point possible pretty probably problem provide put question
    quite rather read ready real really reason right run saw see seem seen sense set several side simple since
    small something sometimes soon sort sound special specific start still stop such suggest support sure take
    task tell term thank thing think thought time today together tomorrow took try turn understand until use
    used useful using usually various wait want way week well went whether whole wonder word words work world
    worth write wrong wrote yeah year yesterday yet
"""
# As programs, paths and versions write; two words with a hyphen between are words.
IDENTIFIED = re.compile(r"[._/\\@#:&+]|\d")


@dataclass(frozen=True, kw_only=True)
class Word:
    """A word where it stands: in which sentence, from which character to which."""

    text: str
    sentence: int
    start: int
    end: int

    @cached_property
    def terms(self) -> tuple[str, ...]:
        return token_terms(self.text)

    @property
    def key(self) -> str:
        return self.terms[-1]

    @property
    def is_number(self) -> bool:
        return self.text[0].isdecimal()

    @property
    def is_identifier(self) -> bool:
        return not self.is_number and bool(IDENTIFIED.search(self.text) or HUMP.search(self.text))

    @property
    def is_telling(self) -> bool:
        if not self.terms or folded(self.text) in STOPWORDS or self.key in EVERYDAY:
            return False
        if self.is_number:
            return sum(c.isdecimal() for c in self.text) >= SHORTEST_NUMBER
        return (SHORTEST if self.text.isascii() else 2) <= len(self.text) <= LONGEST


def headline(source: Source, *, name: str, count: Count, rest: Sequence[str] = ()) -> str:
    """A summary of the log's own sentences, with details."""
    text = summarise(source, name=name, count=count, limit=LONGEST_SUMMARY - MOST_TOKENS)
    return with_details(text, source, name=name, count=count, rest=rest)


def with_details(text: str, source: Source, *, name: str, count: Count, rest: Sequence[str] = ()) -> str:
    """The summary `text`, and behind it what its log tells more of: all in all at most half as much as the log.

    `rest` is what was said elsewhere in the conversation: words of it tell less.
    """
    room = min(LONGEST_SUMMARY, int(count(source.text) * MOST_SHARE))
    line = ""
    named: list[str] = []
    for words in telling(source, known=f"{name} {text}", rest=rest):
        named.append(words)
        longer = DETAILS.format(", ".join(named))
        if len(longer.split()) - 1 > MOST_WORDS or count(longer) > MOST_TOKENS or count(f"{text} {longer}") > room:
            break
        line = longer
    return f"{text} {line}".rstrip()


def telling(source: Source, *, known: str, rest: Sequence[str] = ()) -> Iterator[str]:
    """Words and pairs of words that the log is about and `known` has not, best first."""
    words = [word for word in words_of(spoken(source)) if word.is_telling]
    weights = weights_of(words, rest)
    taken = set(terms_of(known))
    candidates: list[tuple[tuple[Word, ...], float]] = [((word,), weights[word.key]) for word in words]
    candidates += [(pair, PAIR * sum(weights[w.key] for w in pair)) for pair in recurring_pairs(words)]
    shown = spellings(words)
    for several, weight in sorted(candidates, key=lambda one: -round(one[1], 4)):
        # A path is not said because one of its parts is.
        terms = {word.key for word in several}
        if weight and not terms & taken:
            taken |= terms
            yield " ".join(shown[word.key] for word in several)


def spoken(source: Source) -> Iterator[Sentence]:
    """What was said, each sentence once: what is said again and again is a manner of speaking."""
    seen: set[str] = set()
    for sentence in sentences_of(source):
        if sentence.text not in seen:
            seen.add(sentence.text)
            yield replace(sentence, text=sentence.text.replace(MASK, " "))


def words_of(sentences: Iterable[Sentence]) -> Iterator[Word]:
    for number, sentence in enumerate(sentences):
        for found in TOKEN.finditer(sentence.text):
            unspaced = re.match(f"[{UNSPACED}]", found[0])
            inner = UNSPACED_WORD.finditer(sentence.text, *found.span()) if unspaced else [found]
            for word in inner:
                yield Word(text=word[0], sentence=number, start=word.start(), end=word.end())


def weights_of(words: Sequence[Word], rest: Sequence[str]) -> dict[str, float]:
    """By how many sentences hold a word, and how few texts elsewhere."""
    holders = Counter(key for _, key in dict.fromkeys((word.sentence, word.key) for word in words))
    elsewhere = Counter(term for text in rest for term in set(terms_of(text)))
    kinds = {word.key: IDENTIFIER if word.is_identifier else NUMBER if word.is_number else 0.0 for word in words}
    return {
        key: (kinds[key] or (1.0 if held >= RECURS else 0.0))
        * (1 + math.log(held))
        * math.log(1 + (len(rest) + 1) / (elsewhere[key] + 0.5))
        for key, held in holders.items()
    }


def recurring_pairs(words: Sequence[Word]) -> Iterator[tuple[Word, Word]]:
    """Two words side by side, more than once."""
    pairs = [
        (one, other)
        for one, other in pairwise(words)
        if one.sentence == other.sentence and other.start - one.end == 1 and not {one.key} & {other.key}
    ]
    held = Counter((one.key, other.key) for one, other in pairs)
    return (pair for pair in pairs if held[pair[0].key, pair[1].key] >= RECURS and not any(w.is_number for w in pair))


def spellings(words: Sequence[Word]) -> dict[str, str]:
    """Of each word the way it is written most, small letters before capitals."""
    written = Counter((word.key, word.text) for word in words)
    best = sorted(written, key=lambda one: (one[0], -written[one], not one[1].islower(), one[1]))
    found: dict[str, str] = {}
    for key, text in best:
        found.setdefault(key, text)
    return found


EVERYDAY = STOPWORDS | {stem(word) for word in EVERYDAY_WORDS.split()}
