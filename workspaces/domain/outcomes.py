"""Whether showing code helped: which cards an answer used, and how that is known."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum


class Use(StrEnum):
    """How an answer used a card."""

    CITED = "cited"
    NAMED = "named"
    READ = "read"
    EDITED = "edited"

    @property
    def meaning(self) -> str:
        return MEANINGS[self]


MEANINGS = {
    Use.CITED: "the answer cites its lines",
    Use.NAMED: "the answer names it",
    Use.READ: "the model read on from it",
    Use.EDITED: "the model proposed to change it",
}

# A place in code: path, first and last line.
Place = tuple[str, int, int]
WORD = re.compile(r"[^\W\d]\w*")
CODE = re.compile(r"```.*?```|`[^`\n]+`", re.DOTALL)
# What nobody writes in prose: snake_case, camelCase, a call.
IDENTIFIER = re.compile(r"\b(?:\w+_\w+|[a-z]\w*[A-Z]\w*|[^\W\d]\w*(?=\())")


@dataclass(frozen=True, kw_only=True)
class Done:
    """What came of a turn that can show a use: `words` that its answer names, places that it cites, that the model read
    and that it proposed to change."""

    words: frozenset[str]
    cited: Sequence[Place]
    read: Sequence[Place]
    edited: Sequence[Place]


def words_of(texts: Iterable[str]) -> frozenset[str]:
    """Names in code that a text writes: those within marks of code, and those that only code has."""
    found = set[str]()
    for text in texts:
        found |= {word for part in CODE.findall(text) for word in WORD.findall(part)}
        found |= set(IDENTIFIER.findall(text))
    return frozenset(found)


def uses_of(name: str, place: Place, done: Done) -> tuple[Use, ...]:
    """`name`: of the symbol, without what it stands in."""
    holds = {
        Use.CITED: any(overlap(place, one) for one in done.cited),
        Use.NAMED: name in done.words,
        Use.READ: any(overlap(place, one) for one in done.read),
        Use.EDITED: any(overlap(place, one) for one in done.edited),
    }
    return tuple(use for use, held in holds.items() if held)


def overlap(one: Place, other: Place) -> bool:
    """Whether both are of one file and share a line."""
    return one[0] == other[0] and one[1] <= other[2] and other[1] <= one[2]
