"""Summaries of chosen turns: in line to be drafted, then waiting for a review. None comes to stand by itself."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from django.db.models import QuerySet

from efforts.context.sources import read_scope_log
from efforts.domain.effort.states import UNFINISHED, ScopeState, Via
from efforts.log import events
from efforts.log.timelines import branch_turns, clock_of
from efforts.models import Event, ScopeDraft
from efforts.standins import compacting
from efforts.standins.compacting import DraftWork, Summary
from efforts.standins.logs import SourceLog
from efforts.turns.drafts import NOTHING, Line


class Scopes(Line[ScopeDraft]):
    model = ScopeDraft
    related = ("branch__session__endpoint", "branch__session__owner")
    state, owner, expires = "state", "owner_key", "expires_at"

    def due(self) -> QuerySet[ScopeDraft]:
        return ScopeDraft.objects.filter(state=ScopeState.DUE).select_related("branch")

    def is_ready(self, row: ScopeDraft) -> bool:
        turns = branch_turns(row.branch).filter(number__in=row.turns)
        return not turns.filter(run__state__in=UNFINISHED).exists()

    def log_of(self, row: ScopeDraft) -> SourceLog:
        return read_scope_log(row.branch, row.turns)

    def work_on(self, row: ScopeDraft, log: SourceLog) -> DraftWork:
        return compacting.registered().work_on_scope(row, log)

    def finish(self, row: ScopeDraft, log: SourceLog, made: Summary) -> None:
        if made.stands or made.takeable:
            self.wait(row, made)
        elif made.digest and not made.artifact:
            self.wait(row, replace(made, artifact=made.digest))
        else:
            self.end_without(row, made.why or NOTHING, made.artifact)

    def wait(self, row: ScopeDraft, made: Summary) -> None:
        """For a review: of what was drafted, or of what a reviewer has made of it."""
        self.end(row, ScopeState.READY, made.artifact, made.why)
        about = {"artifact": made.artifact, "passed": True, "text": made.text, "digest": made.artifact == made.digest}
        record(row, "compaction.drafted", drafter=made.drafter, note=made.why, **about)

    def end_without(self, row: ScopeDraft, why: str, artifact: str) -> None:
        self.end(row, ScopeState.FAILED, artifact, why)
        if artifact:
            record(row, "compaction.drafted", artifact=artifact, passed=False, text=why)
        else:
            record(row, "compaction.failed", text=why)

    def end(self, row: ScopeDraft, to: ScopeState, artifact: str, why: str = "") -> None:
        ScopeDraft.objects.filter(pk=row.pk).update(state=to, artifact=artifact, why=why, **self.unheld)

    def tell_step(self, row: ScopeDraft, step: str) -> None:
        record(row, "compaction.drafting", step=step)


SCOPES = Scopes()


def record(draft: ScopeDraft, kind: str, **more: Any) -> None:
    # The turn it was asked for in, as the notice there tells what has come of it.
    branch = draft.branch
    about = {"draft": draft.pk, "purpose": draft.kind, "first": draft.turns[0], "last": draft.turns[-1]}
    where = {"turn": asked_in(draft), "branch": str(branch.pk), "clock": clock_of(branch), "via": str(Via.CONTROL)}
    events.append(branch.session_id, kind, {**where, **about, **more})


def asked_in(draft: ScopeDraft) -> int:
    asked = Event.objects.filter(session=draft.branch.session_id, kind="compaction.requested", data__draft=draft.pk)
    last = asked.order_by("-seq").first()
    return int(last.data["turn"]) if last else draft.branch.head
