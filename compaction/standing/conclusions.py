"""How a concluded effort comes by what stands for it: drafted, checked, judged, and kept with all that was tried."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from compaction.domain.artifact import Kind
from compaction.drafting.scopes import ScopeWork, estimate, task_for, work_on_scope
from compaction.drafting.storing import keep_tried
from compaction.drafting.summaries import digest_of
from compaction.standing import accepting, export, rolling
from efforts.actions.efforts import IN_THE_CHAT
from efforts.domain.effort.brief import BRIEF, SHORT_EFFORT
from efforts.standins.compacting import Progress, Summary

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from efforts.models import Branch, ContextPointer, EffortState
    from efforts.standins.logs import SourceLog


@dataclass(frozen=True, kw_only=True)
class ConclusionWork(ScopeWork):
    async def draft(self, progress: Progress) -> Summary:
        return self.brief() or await super().draft(progress)

    def draft_now(self) -> Summary:
        return self.brief() or super().draft_now()

    def brief(self) -> Summary | None:
        """Of next to nothing the seed's words are all there is to say (000)."""
        if self.task.source.characters >= SHORT_EFFORT:
            return None
        return Summary(brief=BRIEF.format(name=self.task.name))


class Compaction:
    """What efforts call without importing this."""

    work_on_scope = staticmethod(work_on_scope)
    estimate = staticmethod(estimate)
    damaged = staticmethod(export.damaged)
    told = staticmethod(export.told)
    exported = staticmethod(export.exported)
    copied = staticmethod(accepting.record_copied)

    def work_on(self, state: EffortState, log: SourceLog) -> ConclusionWork:
        branch, effort = state.branch, state.effort
        task = task_for(branch, log, name=effort.name, kind=Kind.CONCLUSION, effort=effort, focus=state.focus)
        return ConclusionWork(session=branch.session, task=task)

    def digest_of(self, state: EffortState, log: SourceLog) -> str:
        made = digest_of(self.work_on(state, log).task)
        if made is None or made.artifact is None:
            return ""
        keep_tried(made)
        return made.artifact.artifact_id

    def accept(self, artifact: str, actor: User | None, via: str, note: str = "") -> ContextPointer:
        row = accepting.found(artifact)
        scope = (row.session_id, row.source_start, row.source_end)
        return accepting.accept_compaction(artifact, *scope, actor=actor, via=via, note=note)

    def roll_back(self, artifact: str, actor: User | None, branch: Branch) -> list[ContextPointer]:
        return accepting.rollback_compaction(artifact, actor=actor, via=IN_THE_CHAT, branch=branch)

    def turn_completed(self, branch: Branch) -> None:
        rolling.roll_on(branch)

    def body_of(self, artifact: str) -> str:
        return accepting.found(artifact).body
