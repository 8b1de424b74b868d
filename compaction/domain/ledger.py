"""What must be retained, as gates and drafters see it: entries of the ledger, and candidates nobody has confirmed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from efforts.domain.source_text import Part

from .artifact import Section, Status


class Stretch(Protocol):
    """Characters of a part of a message: a span, a link, a sentence."""

    @property
    def message(self) -> int: ...
    @property
    def part(self) -> Part: ...
    @property
    def start(self) -> int: ...
    @property
    def end(self) -> int: ...


def overlap(one: Stretch, other: Stretch) -> bool:
    """Whether they have a character in common."""
    return (one.message, one.part) == (other.message, other.part) and one.start < other.end and other.start < one.end


def is_within(one: Stretch, other: Stretch) -> bool:
    """Whether the other has all of its characters."""
    return (one.message, one.part) == (other.message, other.part) and other.start <= one.start and one.end <= other.end


@dataclass(frozen=True, kw_only=True)
class Span:
    """Characters `start` to `end`, without the last, of a part of a message in the source text."""

    message: int
    part: Part
    start: int
    end: int


@dataclass(frozen=True, kw_only=True)
class Entry:
    """A decision, open work or constraint with its status at the end of the scope.

    `section` is one of these three. `spans` lie in the scope, the first says what it is about. `confirmed` is False for
    a candidate, whose `status` is what it seems to be. `text` of a constraint is word for word.
    """

    id: str
    section: Section
    status: Status
    text: str
    spans: tuple[Span, ...]
    confirmed: bool = True
