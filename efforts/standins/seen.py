"""How a draft stands and who has read it, asked of `compaction`, which efforts do not import."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING
from uuid import UUID

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from efforts.models import Branch, Session


class Word(StrEnum):
    """How a summary stands, wherever it is seen."""

    STANDS = "In use"
    WAITS = "Waits for you"
    NOT_CHECKED = "Not checked"
    BLOCKED = "Blocked"
    ROLLED_BACK = "Rolled back"
    # It stood, and a later one does, or its turns or its effort are others now.
    ENDED = "Not in use"


@dataclass(frozen=True, kw_only=True)
class Seen:
    """`word`: of a draft as the gates have judged it, whether it stands or not. `read_by`: the names of models whose
    checks count; where none does, of people. `lost`: of the person's list what no claim of it tells, by kind and id
    ("decision-7"), as it was `judged_at`. `quotes`: it is excerpts.
    """

    word: Word
    quotes: bool = False
    read_by: tuple[str, ...] = ()
    lost: frozenset[str] = frozenset()
    judged_at: datetime | None = None


@dataclass(frozen=True, kw_only=True)
class LooseDraft:
    """The newest version of a summary that stands nowhere. `effort`: the name that it is linked by, if it is of one."""

    artifact: str
    text: str
    word: Word
    at: datetime
    session: Session
    branch: Branch
    effort: str = ""
    quotes: bool = False


Look = Callable[[Collection[str]], Mapping[str, Seen]]
# Of claims, how many are sent first and how many there are.
Shortened = Callable[[Collection[str]], Mapping[str, tuple[int, int]]]
Drafts = Callable[["User", "UUID | None"], Iterable[LooseDraft]]
_registered: list[tuple[Look, Drafts, Shortened]] = []


def register(look: Look, drafts: Drafts, shortened: Shortened) -> None:
    _registered[:] = [(look, drafts, shortened)]


def seen(artifacts: Collection[str]) -> Mapping[str, Seen]:
    """By the ids of drafts, those that there are; as many queries however many there are."""
    return _registered[0][0](artifacts) if artifacts else {}


def drafts(owner: User, session: UUID | None = None) -> Iterable[LooseDraft]:
    """Of all conversations of a person, or of one."""
    return _registered[0][1](owner, session)


def shortened(artifacts: Collection[str]) -> Mapping[str, tuple[int, int]]:
    """By the ids of summaries, those of whose claims only some stand first: how many, and of how many."""
    return _registered[0][2](artifacts) if artifacts else {}
