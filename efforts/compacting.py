"""What `compaction` does for efforts, which do not import it: registered when the program starts."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from efforts.models import ContextPointer, EffortState
    from efforts.snapshots.sources import EffortLog

Progress = Callable[[str], Awaitable[None]]


@dataclass(frozen=True, kw_only=True)
class Summary:
    """A text that may stand in for an effort, if every gate `passed`; else `why` not.

    `drafter` is the model's name or "builtin"; `note` says why a model that was asked did not write it. `artifact` is
    the id of what it is the headline of; empty where there is none.
    """

    text: str
    drafter: str
    note: str = ""
    artifact: str = ""
    passed: bool = True
    why: str = ""

    def keep(self, state: EffortState) -> None:
        """Store what was drafted and judged, within the caller's transaction."""


class Work(Protocol):
    """One effort to be summarised, with all that is read for it."""

    async def draft(self, progress: Progress) -> Summary: ...

    def draft_now(self) -> Summary:
        """Without a model."""
        ...

    def is_current(self, log: EffortLog) -> bool:
        """Whether it would be drafted from the same source and judged by the same ledger now."""
        ...


class Compaction(Protocol):
    def work_on(self, state: EffortState, log: EffortLog) -> Work: ...

    def accept(self, artifact: str, pointer: ContextPointer, log: EffortLog, actor: User | None, via: str) -> None:
        """Record that its text stands from now on. Raises `Refused` where the gates no longer say that it may."""
        ...


_registered: list[Compaction] = []


def register(compaction: Compaction) -> None:
    _registered[:] = [compaction]


def registered() -> Compaction:
    return _registered[0]
