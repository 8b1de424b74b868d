"""How a reply says where it has something from: [auth-bug, turn 12], or [turn 12] of what belongs to no effort."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

# Of turns 12-14 the first is cited.
CITATION = re.compile(
    r"\[(?:(?P<effort>[^\W_][\w-]{0,79}), ?)?turns? (?P<turn>\d{1,9})(?: ?[-–] ?\d{1,9})?\]", re.IGNORECASE
)

# Of attached code: [shop/cart.py:12-20].
CODE_CITATION = re.compile(r"\[(?P<path>[\w./@+-]{1,300}):(?P<line>\d{1,7})(?:[-–](?P<last>\d{1,7}))?\]")


@dataclass(frozen=True, kw_only=True)
class Citation:
    """`text` as it was written; `effort` is an id, empty where none is named."""

    text: str
    effort: str
    turn: int

    def named(self, name: str) -> str:
        """With the name of its effort for the id, where there is one."""
        return f"[{name}{self.text[self.text.index(',') :]}" if name else self.text


def citations_in(text: str) -> Iterator[Citation]:
    """In the order of the text; the effort in lower case, "" of turns that belong to none."""
    for found in CITATION.finditer(text):
        yield Citation(text=found[0], effort=(found["effort"] or "").lower(), turn=int(found["turn"]))


def code_citations_in(text: str) -> Iterator[tuple[str, str, int, int]]:
    """In the order of the text: as it was written, the path, the first line and the last."""
    for found in CODE_CITATION.finditer(text):
        yield found[0], found["path"], int(found["line"]), int(found["last"] or found["line"])


def cited(turn: int | str, effort: str = "") -> str:
    """The citation as models are asked to write it."""
    return f"[{effort}, turn {turn}]" if effort else f"[turn {turn}]"
