"""How a draft stands and who has read it, asked of `compaction`, which efforts do not import."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from enum import StrEnum


class Word(StrEnum):
    """How a summary stands, wherever it is seen."""

    STANDS = "Stands"
    WAITS = "Waits for you"
    NOT_CHECKED = "Not checked"
    BLOCKED = "Blocked"


@dataclass(frozen=True, kw_only=True)
class Seen:
    """`word`: of a draft as the gates have judged it, whether it stands or not. `read_by`: the names of models whose
    checks count, and of people."""

    word: Word
    read_by: tuple[str, ...] = ()


Look = Callable[[Collection[str]], Mapping[str, Seen]]
_registered: list[Look] = []


def register(look: Look) -> None:
    _registered[:] = [look]


def seen(artifacts: Collection[str]) -> Mapping[str, Seen]:
    """By the ids of drafts, those that there are; as many queries however many there are."""
    return _registered[0](artifacts) if artifacts else {}
