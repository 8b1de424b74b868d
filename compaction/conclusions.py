"""How a concluded effort comes by its summary: drafted, judged, and kept with all that was tried."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from efforts.compacting import Estimate, Progress, Summary
from efforts.domain.details import headline
from efforts.domain.extractive import SHORT_EFFORT
from efforts.models import TurnLabel
from efforts.recording import count

from . import accepting, exporting, rolling
from .actions import Home
from .domain.artifact import Kind
from .domain.rendering import body_text
from .scopes import BUILTIN, ScopeWork, estimate, said_elsewhere, task_for, work_on_scope
from .snapshots import read_ledger

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from efforts.domain.lifecycle import ScopeKind
    from efforts.models import Branch, ContextPointer, EffortState, ScopeDraft, Session
    from efforts.snapshots.sources import EffortLog


@dataclass(frozen=True, kw_only=True)
class ConclusionWork(ScopeWork):
    async def draft(self, progress: Progress) -> Summary:
        return self.brief() or await super().draft(progress)

    def draft_now(self) -> Summary:
        return self.brief() or super().draft_now()

    def brief(self) -> Summary | None:
        """Of next to nothing the seed's words are all there is to say (000)."""
        source = self.task.source
        if source.characters >= SHORT_EFFORT:
            return None
        return Summary(text=headline(source, name=self.task.name, count=count), drafter=BUILTIN)


class Compaction:
    """What efforts call without importing this."""

    def work_on(self, state: EffortState, log: EffortLog) -> ConclusionWork:
        branch, effort = state.branch, state.effort
        ledger = read_ledger(branch.session, log.source)
        its_turns = TurnLabel.objects.filter(branch=branch, effort=effort).values("turn")
        task = task_for(
            branch,
            log,
            ledger,
            name=effort.name,
            kind=Kind.CONCLUSION,
            rest=said_elsewhere(branch, its_turns),
            effort=effort,
        )
        home = Home(session_id=branch.session_id, branch_id=branch.pk, effort_id=effort.pk)
        return ConclusionWork(session=branch.session, home=home, task=task, ledger=ledger)

    def work_on_scope(self, draft: ScopeDraft, log: EffortLog) -> ScopeWork:
        return work_on_scope(draft, log)

    def estimate(self, branch: Branch, log: EffortLog, kind: ScopeKind) -> Estimate:
        return estimate(branch, log, kind)

    def accept(self, artifact: str, actor: User | None, via: str, note: str = "") -> ContextPointer:
        row = accepting.found(artifact)
        scope = (row.session_id, row.source_start, row.source_end)
        return accepting.accept_compaction(artifact, *scope, actor=actor, via=via, note=note)

    def roll_back(self, artifact: str, actor: User | None, branch: Branch) -> list[ContextPointer]:
        return accepting.rollback_compaction(artifact, actor=actor, via="control", branch=branch)

    def turn_completed(self, branch: Branch) -> None:
        rolling.roll_on(branch)

    def body_of(self, artifact: str) -> str:
        return body_text(accepting.checked(accepting.found(artifact)))

    def copied(self, artifact: str, pointer: ContextPointer, log: EffortLog, actor: User | None) -> None:
        accepting.record_copied(artifact, pointer, actor)

    def exported(self, session: Session) -> Iterator[dict[str, Any]]:
        return exporting.exported(session)
