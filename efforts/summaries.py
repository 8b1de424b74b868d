"""Summaries of concluded efforts: in line to be drafted, then a pointer, or waiting for the person's yes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from django.db.models import Exists, OuterRef, Q, QuerySet

from efforts import compacting, events
from efforts.actions.efforts import set_brief
from efforts.compacting import Summary, Work
from efforts.domain.lifecycle import UNFINISHED, EffortStatus, ReviewMode, SummaryState, Via
from efforts.domain.notices import with_notice
from efforts.domain.resolution import sounds_resolved
from efforts.drafts import Line
from efforts.models import EffortState, Event, Message, Run, TurnLabel
from efforts.snapshots.sources import EffortLog, read_summary_log
from efforts.timelines import branch_turns

if TYPE_CHECKING:
    from django.contrib.auth.models import User


class Summaries(Line[EffortState]):
    model = EffortState
    related = ("branch__session__endpoint", "branch__session__owner", "effort")
    state, owner, expires = "summary", "summary_owner", "summary_expires_at"

    def ready(self, limit: int) -> Iterable[EffortState]:
        due = EffortState.objects.filter(summary=SummaryState.DUE, status=EffortStatus.CONCLUDED)
        return due.exclude(still_talking()).order_by("pk")[:limit]

    def log_of(self, row: EffortState) -> EffortLog:
        return read_summary_log(row.branch, row.effort)

    def work_on(self, row: EffortState, log: EffortLog) -> Work:
        return compacting.registered().work_on(row, log)

    def is_wanted(self, row: EffortState) -> bool:
        return row.status == EffortStatus.CONCLUDED

    def finish(self, row: EffortState, log: EffortLog, made: Summary) -> None:
        if is_accepted(row):
            accept(row, log, made)
        else:
            self.wait_for_yes(row, made)

    def wait_for_yes(self, row: EffortState, made: Summary) -> None:
        self.of(row).update(summary=SummaryState.WAITING, draft=made.text, artifact=made.artifact, **self.unheld)
        record(row, "effort.summary_waiting", text=made.text, **origin(made))

    def end_without(self, row: EffortState, why: str, artifact: str) -> None:
        self.of(row).update(summary=SummaryState.FAILED, draft=why, artifact=artifact, **self.unheld)
        record(row, "effort.summary_failed", text=why, artifact=artifact)

    def tell_step(self, row: EffortState, step: str) -> None:
        record(row, "effort.drafting", step=step)

    def of(self, row: EffortState) -> QuerySet[EffortState]:
        return EffortState.objects.filter(pk=row.pk)


SUMMARIES = Summaries()


def still_talking() -> Exists | Q:
    """The closing turn included."""
    runs = Run.objects.filter(branch=OuterRef("branch"), state__in=UNFINISHED)
    labelled = TurnLabel.objects.filter(
        branch=OuterRef("branch"), effort=OuterRef("effort"), turn__run__state__in=UNFINISHED
    )
    return Exists(runs.filter(turn__number=OuterRef("concluded_turn"))) | Exists(labelled)


def is_accepted(state: EffortState) -> bool:
    """A conclusion is the person's own by control or offer, or where the model only did what the person's words say;
    unless the conversation has every summary reviewed."""
    if state.branch.session.review_mode == ReviewMode.ALWAYS:
        return False
    return state.via != Via.MODEL or sounds_resolved(closing_words(state))


def closing_words(state: EffortState) -> str:
    said = Message.objects.filter(
        role=Message.Role.USER, turn__in=branch_turns(state.branch).filter(number=state.concluded_turn or 0)
    )
    return said.values_list("text", flat=True).first() or ""


def accept(state: EffortState, found: EffortLog, made: Summary) -> None:
    actor = who_concluded(state)
    if made.artifact:
        compacting.registered().accept(made.artifact, actor, state.via, made.note)
    else:
        set_brief(state, found, made.text, actor, state.via, drafter=made.drafter, note=made.note)


def origin(made: Summary) -> dict[str, str]:
    return {"drafter": made.drafter, "note": made.note, "artifact": made.artifact}


def who_concluded(state: EffortState) -> User:
    here = {"data__effort": state.effort.slug, "data__branch": str(state.branch_id)}
    concluded = Event.objects.filter(session=state.branch.session_id, kind="effort.concluded", **here)
    last = concluded.select_related("actor").order_by("-seq").first()
    return last.actor if last and last.actor else state.branch.session.owner


def record(state: EffortState, kind: str, **more: Any) -> None:
    # The turn that concluded it, as the notice of that turn gains the summary.
    where = {"turn": state.concluded_turn, "branch": str(state.branch_id)}
    data = {**where, "effort": state.effort.slug, "via": state.via, **more}
    events.append(state.branch.session_id, kind, with_notice(kind, data))


def summarise_now(state: EffortState) -> None:
    SUMMARIES.draft_now(state)
