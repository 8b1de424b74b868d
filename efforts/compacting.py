"""What `compaction` does for efforts, which do not import it: registered when the program starts."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from efforts.domain.lifecycle import ScopeKind
    from efforts.models import Branch, ContextPointer, EffortState, ScopeDraft, Session
    from efforts.snapshots.sources import EffortLog

Progress = Callable[[str], Awaitable[None]]


@dataclass(frozen=True, kw_only=True)
class Summary:
    """A text that may stand in for an effort or chosen turns, if every gate `passed`; else `why` not.

    `drafter` is the model's name or "builtin"; `note` says why a model that was asked did not write it. `artifact` is
    the id of what it is the headline of; empty where there is none.
    """

    text: str
    drafter: str
    note: str = ""
    artifact: str = ""
    passed: bool = True
    why: str = ""

    def keep(self) -> None:
        """Store what was drafted and judged, within the caller's transaction."""

    def keep_cost(self) -> None:
        """Store only what it cost, where nothing comes of it."""


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """What a draft takes before it is asked for, in tokens: its source, and the most that the model may cost.

    Without a `model` the log's own sentences are drafted of, for nothing; `note` says why, if one was meant. `refusal`
    says why it cannot be drafted at all.
    """

    source: int
    model: str = ""
    most: int = 0
    note: str = ""
    refusal: str = ""


class Work(Protocol):
    """One effort, or chosen turns, to be summarised, with all that is read for it."""

    async def draft(self, progress: Progress) -> Summary: ...

    def draft_now(self) -> Summary:
        """Without a model."""
        ...

    def is_current(self, log: EffortLog) -> bool:
        """Whether it would be drafted from the same source and judged by the same ledger now."""
        ...


class Compaction(Protocol):
    def work_on(self, state: EffortState, log: EffortLog) -> Work: ...

    def work_on_scope(self, draft: ScopeDraft, log: EffortLog) -> Work: ...

    def estimate(self, branch: Branch, log: EffortLog, kind: ScopeKind) -> Estimate: ...

    def accept(self, artifact: str, actor: User | None, via: str, note: str = "") -> ContextPointer:
        """Let its text stand from now on. Raises `Refused` where the gates no longer say that it may."""
        ...

    def roll_back(self, artifact: str, actor: User | None, branch: Branch) -> list[ContextPointer]:
        """It stands no longer in that branch; what stands again. Raises `Refused` where it does not stand there."""
        ...

    def turn_completed(self, branch: Branch) -> None:
        """What is due by the clock is put in line, within the caller's transaction: nothing is read or asked here."""
        ...

    def body_of(self, artifact: str) -> str:
        """The whole summary of which the text is the headline."""
        ...

    def copied(self, artifact: str, pointer: ContextPointer, log: EffortLog, actor: User | None) -> None:
        """Record that it stands in another branch too."""
        ...

    def exported(self, session: Session) -> Iterator[dict[str, Any]]:
        """Every artifact of the conversation, oldest first, with what was judged and accepted."""
        ...


_registered: list[Compaction] = []


def register(compaction: Compaction) -> None:
    _registered[:] = [compaction]


def registered() -> Compaction:
    return _registered[0]
