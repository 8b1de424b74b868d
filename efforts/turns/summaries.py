"""What comes to stand for concluded efforts: in line to be drafted, then a summary or a digest, or a draft that waits.

A conclusion is the person's own, or the model's. Of the person's own a summary stands that was checked, else the digest
with the draft beside it. Of the model's, and where the person reviews all of them, it waits and the log stays.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet

from efforts.actions.efforts import let_digest_stand, set_brief
from efforts.actions.pointers import digest_stands
from efforts.context.sources import read_summary_log
from efforts.domain.effort.notices import with_notice
from efforts.domain.effort.states import UNFINISHED, EffortStatus, ReviewMode, SummaryState, Via
from efforts.domain.errors import Refused
from efforts.log import events
from efforts.models import EffortState, Event, Run, TurnLabel
from efforts.standins import compacting
from efforts.standins.compacting import DraftWork, Summary
from efforts.standins.logs import SourceLog
from efforts.turns.drafts import NOTHING, Line

if TYPE_CHECKING:
    from django.contrib.auth.models import User

BY_THE_MODEL = "The model concluded it on its own, so you are asked first."
REVIEWED = "You review every summary in this conversation."
# What a summary is marked with that was taken though nobody has checked it.
NOT_JUDGED = "not judged"
WHOLE = (
    "Excerpts would be no shorter than its turns, or would lose something on your list, so the turns are sent in full."
)
# Beside excerpts that stand already.
NOTHING_SHORTER = "Nothing new and shorter could be made of its turns just now."


class Summaries(Line[EffortState]):
    model = EffortState
    related = ("branch__session__endpoint", "branch__session__owner", "effort")
    state, owner, expires = "summary", "summary_owner", "summary_expires_at"

    def due(self) -> QuerySet[EffortState]:
        due = EffortState.objects.filter(summary=SummaryState.DUE, status=EffortStatus.CONCLUDED)
        return due.exclude(still_talking())

    def log_of(self, row: EffortState) -> SourceLog:
        return read_summary_log(row.branch, row.effort)

    def work_on(self, row: EffortState, log: SourceLog) -> DraftWork:
        return compacting.registered().work_on(row, log)

    def is_wanted(self, row: EffortState) -> bool:
        return row.status == EffortStatus.CONCLUDED

    def finish(self, row: EffortState, log: SourceLog, made: Summary) -> None:
        if made.whole:
            self.keep_whole(row)
        elif reviews_all(row) or not is_accepted(row):
            self.leave_to_the_person(row, made)
        elif made.brief:
            set_brief(row, log, made.brief, who_concluded(row), row.via)
        elif not self.stands(row, made):
            self.let_excerpts_stand(row, made)

    def stands(self, row: EffortState, made: Summary) -> bool:
        """Whether the draft stands from now on."""
        actor, port = who_concluded(row), compacting.registered()
        if made.stands:
            port.accept(made.artifact, actor, row.via)
            return True
        if not made.takeable or row.branch.session.review_mode != ReviewMode.TAKE:
            return False
        try:
            with transaction.atomic():
                port.accept(made.artifact, actor, row.via, NOT_JUDGED)
        except Refused:
            return False
        return True

    def let_excerpts_stand(self, row: EffortState, made: Summary) -> None:
        if made.digest:
            let_digest_stand(row, made.digest, made.artifact, made.why, who_concluded(row), row.via)
        else:
            self.end_without(row, made.why or NOTHING, made.artifact)

    def leave_to_the_person(self, row: EffortState, made: Summary) -> None:
        why = " ".join(filter(None, [REVIEWED if reviews_all(row) else BY_THE_MODEL, made.why]))
        if made.artifact or made.brief:
            self.wait_for_yes(row, made, why)
        else:
            self.end_without(row, why if made.digest or made.why else NOTHING, "")

    def wait_for_yes(self, row: EffortState, made: Summary, why: str) -> None:
        text = made.text or made.brief
        self.put(row, SummaryState.WAITING, text, made.artifact, why)
        told = {"text": text, "why": why, "drafter": made.drafter, "artifact": made.artifact}
        record(row, "effort.summary_waiting", **told)

    def keep_whole(self, row: EffortState) -> None:
        stands = digest_stands(row.branch, row.effort)
        text = NOTHING_SHORTER if stands else WHOLE
        self.put(row, SummaryState.NONE, text, "", text)
        record(row, "effort.kept_whole", text=text)

    def end_without(self, row: EffortState, why: str, artifact: str) -> None:
        self.put(row, SummaryState.FAILED, why, artifact, why)
        record(row, "effort.summary_failed", text=why, artifact=artifact)

    def put(self, row: EffortState, to: SummaryState, draft: str, artifact: str, why: str) -> None:
        """Beside a digest that stands already the draft waits, and the digest goes on to stand."""
        if digest_stands(row.branch, row.effort):
            to, draft = SummaryState.DIGEST, why
        self.of(row).update(summary=to, draft=draft, artifact=artifact, **self.unheld)

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
    """A conclusion is the person's own by control or offer, or where the model gave the person's words for it."""
    return state.via != Via.MODEL or bool(state.said)


def reviews_all(state: EffortState) -> bool:
    return state.branch.session.review_mode == ReviewMode.ALWAYS


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
