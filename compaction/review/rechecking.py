"""What a person has worded is read by the checker too: claims of a new version that no model has read yet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from django.db import transaction
from django.db.models import QuerySet

from compaction.domain.artifact import Claim, Kind, parse_artifact
from compaction.domain.check.result import Checked, together
from compaction.drafting import checking
from compaction.drafting.checking import CheckMade, CheckWork
from compaction.drafting.reading import Window, checks_over, log_for, windows_over
from compaction.drafting.scopes import MOST_REQUESTS, ScopeWork, task_of
from compaction.drafting.storing import SLACK, keep_check, release, reserve
from compaction.drafting.summaries import Task, retained, why_not
from compaction.models import Artifact, Recheck
from compaction.review.desk import follow, newest_of, tell
from compaction.review.judging import gates_on
from efforts.domain.text.source_text import Source
from efforts.log import events
from efforts.models.threads import write
from efforts.standins.compacting import DraftWork, Progress, Summary
from efforts.standins.logs import SourceLog
from efforts.turns.drafts import Line

NO_CHECKER = "No model may check it now."


def check_again(made: Artifact, task: Task) -> bool:
    """Have the checker read what nobody but the person has, where there is such a claim and one that may. Of what is
    put together every claim was read in its stage: all their logs are more than one check holds."""
    may_check = task.checker is not None and (task.exam is None or task.exam.passed)
    if made.kind == Kind.SEED or not may_check or not unread(made, models_on(made, task)):
        return False
    Recheck.objects.create(artifact=made, branch=made.branch)
    transaction.on_commit(events.wake_runners)
    return True


def models_on(row: Artifact, task: Task) -> Checked | None:
    """What models have found of it; what people say of it is theirs."""
    checks, _ = checks_over(row, task.source)
    return together(checks)


def unread(row: Artifact, known: Checked | None) -> tuple[Claim, ...]:
    claims = parse_artifact(row.document).claims
    return tuple(claim for claim in claims if known is None or claim.content not in known.opinions)


@dataclass(frozen=True, kw_only=True)
class Reread(Summary):
    """The checks that were made of an artifact, each beside what it has read. `why`: why there is none that counts."""

    row: Artifact
    task: Task
    checks: tuple[tuple[Source, CheckMade], ...] = ()
    reserved: int | None = None

    def keep(self) -> Summary:
        for source, made in self.checks:
            keep_check(self.row.run, made, source, self.row.family)
        release(self.reserved)
        return self

    def keep_cost(self) -> None:
        """The log is another now: a check of what it was counts as cost, and for nothing else, also not against its
        checker."""
        if release(self.reserved):
            for source, made in self.checks:
                keep_check(self.row.run, made, source, "")


@dataclass(frozen=True, kw_only=True)
class RecheckWork(ScopeWork):
    row: Artifact
    unread: tuple[Claim, ...]
    windows: Sequence[Window] = field(repr=False)

    async def draft(self, progress: Progress) -> Summary:
        """Of the day's tokens what its checks may need is kept free for them, until what they have cost is kept."""
        task, made, works = self.task, None, len(self.to_read)
        if task.checker is None:
            return Reread(row=self.row, task=task, why=task.note or NO_CHECKER)
        seconds = works * MOST_REQUESTS * task.checker.draft_seconds + SLACK
        reserved, why = await write(reserve, self.session, works * task.check_cap, seconds)
        try:
            task = task if why else await self.with_exam(task, progress)
            if why or task.exam is None or not task.exam.passed:
                why = why or (task.exam.why if task.exam else NO_CHECKER)
                made = Reread(row=self.row, task=task, why=why, reserved=reserved)
                return made
            checks: list[tuple[Source, CheckMade]] = []
            for window, claims in self.to_read:
                of_window = await checking.check(self.work(task, window, claims))
                checks += [(window.source, one) for one in of_window]
                why = why or of_window[-1].void
            made = Reread(row=self.row, task=task, checks=tuple(checks), reserved=reserved, why=why)
            return made
        finally:
            if made is None:
                await write(release, reserved)

    @cached_property
    def to_read(self) -> list[tuple[Window, tuple[Claim, ...]]]:
        """Each window of which a claim is unread, with all its claims: a claim is of the one that it cites most."""
        claims: dict[int, list[Claim]] = {}
        for claim in parse_artifact(self.row.document).claims:
            cited = [sum(id in window.source.by_sentence for id in claim.cites) for window in self.windows]
            claims.setdefault(cited.index(max(cited)), []).append(claim)
        return [
            (self.windows[place], tuple(its)) for place, its in sorted(claims.items()) if set(its) & set(self.unread)
        ]

    def work(self, task: Task, window: Window, claims: tuple[Claim, ...]) -> CheckWork:
        assert task.checker is not None
        known, ids = window.known, set(window.source.by_sentence)
        said_of = known.opinions if known else {}
        wanted = [one for one in retained(task.entries) if one.id not in window.overtaken]
        listed = known.listed if known else ()
        return CheckWork(
            source=window.source,
            unread=tuple(claim for claim in claims if claim in self.unread),
            claims=claims,
            entries=tuple(one for one in wanted if window.source is task.source or ids & set(one.sentences)),
            read=frozenset(content for content, said in said_of.items() if not any(one.doubts for one in said)),
            listed=tuple(one for one in listed if one.id not in window.overtaken) if known else None,
            checker=task.checker,
            examined=True,
            cap=task.check_cap,
        )

    def draft_now(self) -> Summary:
        return Reread(row=self.row, task=self.task, why=NO_CHECKER)

    def is_current(self, log: SourceLog) -> bool:
        return log.source.sha256 == self.task.source.sha256


class Rechecks(Line[Recheck]):
    model = Recheck
    related = ("branch__session__endpoint", "branch__session__owner", "artifact__session", "artifact__run")
    state, owner, expires = "state", "owner_key", "expires_at"

    def due(self) -> QuerySet[Recheck]:
        return Recheck.objects.filter(state="due")

    def log_of(self, row: Recheck) -> SourceLog:
        return log_for(row.artifact, parse_artifact(row.artifact.document))

    def work_on(self, row: Recheck, log: SourceLog) -> DraftWork:
        made = row.artifact
        task = task_of(made, parse_artifact(made.document), log)
        return RecheckWork(
            session=row.branch.session,
            task=task,
            row=made,
            unread=unread(made, models_on(made, task)),
            windows=windows_over(made, task.source),
        )

    def finish(self, row: Recheck, log: SourceLog, made: Summary) -> None:
        """Judged anew by all that is known of it now, which is of its newest version."""
        if made.why:
            self.end_without(row, made.why, "")
            return
        Recheck.objects.filter(pk=row.pk).update(state="done", **self.unheld)
        newest = newest_of(row.artifact)
        if newest.is_turned_down:
            return  # Until a person has it judged again, by this check too.
        judged = gates_on(newest)
        follow(newest, newest, row.artifact.edited_by, why_not(judged.verdicts))
        tell(newest, "review.judged", None, passed=judged.passed, state=newest.state)

    def end_without(self, row: Recheck, why: str, artifact: str) -> None:
        Recheck.objects.filter(pk=row.pk).update(state="failed", why=why, **self.unheld)

    def tell_step(self, row: Recheck, step: str) -> None:
        """Its page looks for itself."""


RECHECKS = Rechecks()
