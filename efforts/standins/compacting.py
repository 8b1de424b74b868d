"""What `compaction` does for efforts, which do not import it: registered when the program starts."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from efforts.domain.effort.states import ScopeKind
    from efforts.models import Branch, ContextPointer, EffortState, ScopeDraft, Session
    from efforts.standins.logs import SourceLog

Progress = Callable[[str], Awaitable[None]]


@dataclass(frozen=True, kw_only=True)
class Summary:
    """What came of drafting.

    `text` is one line for people: the claims of the result, or "" where there are none. `artifact`: id of the draft, ""
    where none came of it. `stands`: it and its check have passed and its checker is examined, so it may stand by
    itself; `takeable`: it only lacks a check. `digest`: id of the digest of the same turns, "" where nothing can be
    quoted. `why`: one sentence why it does not stand by itself. `drafter`: the model's name or "builtin". `brief`: the
    line of an effort too short to be compacted; then nothing else is set. `whole`: nothing shorter than its log can
    stand for it, and no draft would pay.
    """

    text: str = ""
    artifact: str = ""
    stands: bool = False
    takeable: bool = False
    digest: str = ""
    why: str = ""
    drafter: str = "builtin"
    brief: str = ""
    whole: bool = False

    def keep(self) -> Summary:
        """Store what was drafted and judged, within the caller's transaction; what may come of it, by what is stored
        already."""
        return self

    def keep_cost(self) -> None:
        """Store only what it cost, where nothing comes of it."""


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """What a draft takes before it is asked for, in tokens: its source, and the most that the model may cost.

    `payback`: after how many calls it has earned that back, None where it never does. `digest`: no request is made, as
    a digest stands. `note` says why no `model` is asked, if one was meant; `refusal` why it cannot be drafted at all.
    """

    source: int
    model: str = ""
    most: int = 0
    payback: int | None = None
    digest: bool = False
    note: str = ""
    refusal: str = ""


@dataclass(frozen=True, kw_only=True)
class ToldClaim:
    """One statement of a summary; `section` what such statements are called together, `cites` ids of sentences."""

    section: str
    text: str
    cites: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class ToldCite:
    """A sentence of the log that claims cite. `role`: who said it, or what returned it; `turn`: its number."""

    id: str
    turn: int
    role: str
    text: str


@dataclass(frozen=True, kw_only=True)
class ToldSummary:
    """A summary as people are given it outside of the product, with the sentences that it comes from, in their order.

    `note`: what they must know of it; empty where nothing is to be said.
    """

    claims: tuple[ToldClaim, ...]
    cites: tuple[ToldCite, ...]
    note: str = ""


class DraftWork(Protocol):
    """One effort, or chosen turns, to be summarised, with all that is read for it."""

    async def draft(self, progress: Progress) -> Summary: ...

    def draft_now(self) -> Summary:
        """Without a model: a digest, or the line of an effort too short for one."""
        ...

    def is_current(self, log: SourceLog) -> bool:
        """Whether it would be drafted from the same source and judged by the same ledger now."""
        ...


class CompactionPort(Protocol):
    def work_on(self, state: EffortState, log: SourceLog) -> DraftWork: ...

    def work_on_scope(self, draft: ScopeDraft, log: SourceLog) -> DraftWork: ...

    def estimate(self, branch: Branch, log: SourceLog, kind: ScopeKind) -> Estimate: ...

    def digest_of(self, state: EffortState, log: SourceLog) -> str:
        """Make and store the digest of an effort now, without a model; its id, "" where nothing can be quoted."""
        ...

    def accept(self, artifact: str, actor: User | None, via: str, note: str = "") -> ContextPointer:
        """Let its text stand from now on, a draft's or a digest's. Raises `Refused` where the gates do not let it."""
        ...

    def roll_back(self, artifact: str, actor: User | None, branch: Branch) -> list[ContextPointer]:
        """It stands no longer in that branch; what stands again. Raises `Refused` where it does not stand there."""
        ...

    def turn_completed(self, branch: Branch) -> None:
        """What is due by the clock is put in line, within the caller's transaction: nothing is read or asked here."""
        ...

    def body_of(self, artifact: str) -> str:
        """The whole summary of which the text is the short form."""
        ...

    def copied(self, artifact: str, pointer: ContextPointer, actor: User | None) -> None:
        """Record that it stands in another branch too."""
        ...

    def damaged(self, session: Session) -> Iterator[tuple[str, str]]:
        """What of its documents, and of the texts that stand by them, is not what it was made as; and how."""
        ...

    def told(self, artifact: str, branch: Branch) -> ToldSummary | None:
        """Its claims with their sentences, as it stands in that branch; None where it claims nothing."""
        ...

    def exported(self, session: Session) -> Iterator[dict[str, Any]]:
        """Every artifact of the conversation, oldest first, with what was judged and accepted."""
        ...


_registered: list[CompactionPort] = []


def register(compaction: CompactionPort) -> None:
    _registered[:] = [compaction]


def registered() -> CompactionPort:
    return _registered[0]
