"""Drafts in progress: claimed and held by a lease like a run, several at a time and without holding up any turn.

Each kind of row that waits for a draft is a `Line`. What is made of it counts only if the row is still wanted and its
source still what was read; otherwise it is due again.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial, reduce
from itertools import groupby
from operator import or_
from typing import Any, ClassVar, Generic, TypeVar

from django.contrib.auth.models import User
from django.db import InterfaceError, OperationalError, transaction
from django.db.models import Exists, F, Model, QuerySet, Window
from django.db.models.functions import RowNumber
from django.utils import timezone

from efforts.domain.effort.shares import Waiting, next_to_run
from efforts.log.concerned import concerning
from efforts.models import Branch, Session
from efforts.models.prepared import prepared
from efforts.models.threads import patiently, read, write
from efforts.standins.compacting import DraftWork, Summary
from efforts.standins.logs import SourceLog
from efforts.turns.recording import lease_end

log = logging.getLogger("ccm.drafts")

# Drafted at once by one process; each may be a model call.
MOST_DRAFTS = 4
# Of each person's due rows the oldest, among which their next are looked for.
LOOKED_AT = 50
# In each line's table of states.
DUE, DRAFTING = "due", "drafting"
NOTHING = "There is nothing in it that could be quoted."
INTERNAL = "Something went wrong in the program itself; the log says what. Draft again tries once more."

Row = TypeVar("Row", bound=Model)


@dataclass(frozen=True, kw_only=True)
class Job:
    """A claimed row. `key` names this claim: no other, not even a later one of the same runner, has it."""

    line: Line[Any]
    row_id: int
    branch_id: Any
    key: str

    def mine(self) -> QuerySet[Any]:
        return self.line.drafting().filter(pk=self.row_id, **{self.line.owner: self.key})

    def release(self) -> int:
        return self.mine().update(**{self.line.state: DUE, **self.line.unheld})


class Line(ABC, Generic[Row]):
    """Rows of one kind that wait to be drafted, by the names of their columns."""

    model: ClassVar[type[Model]]
    related: ClassVar[Sequence[str]]
    state: ClassVar[str]
    owner: ClassVar[str]
    expires: ClassVar[str]

    @abstractmethod
    def due(self) -> QuerySet[Row]:
        """Rows that wait to be drafted."""

    def is_ready(self, row: Row) -> bool:
        """Whether its turns have all ended, where `due` does not ask."""
        return True

    @abstractmethod
    def log_of(self, row: Row) -> SourceLog: ...

    @abstractmethod
    def work_on(self, row: Row, log: SourceLog) -> DraftWork: ...

    @abstractmethod
    def finish(self, row: Row, log: SourceLog, made: Summary) -> None:
        """What comes of it: it stands, or a digest does, or it waits, or there is none."""

    @abstractmethod
    def end_without(self, row: Row, why: str, artifact: str) -> None:
        """Nothing new comes to stand; `artifact` is what was drafted all the same."""

    @abstractmethod
    def tell_step(self, row: Row, step: str) -> None:
        """So that whoever waits sees what is being done."""

    def is_wanted(self, row: Row) -> bool:
        return True

    # Claims

    @property
    def unheld(self) -> dict[str, Any]:
        return {self.owner: "", self.expires: None}

    @property
    def rows(self) -> QuerySet[Any]:
        return self.model._default_manager.all()

    def drafting(self) -> QuerySet[Any]:
        return self.rows.filter(**{self.state: DRAFTING})

    def claim_due(self, owner: str, limit: int, drafting: Counter[int]) -> list[Job]:
        """Of each person in turn; one person leaves a draft to others. `drafting`: how many each has, of all lines;
        those that are claimed are added."""
        if limit <= 0:
            return []
        nth = Window(RowNumber(), partition_by=F("branch__session__owner"), order_by="pk")
        due: Any = self.due().annotate(person=F("branch__session__owner"), nth=nth).filter(nth__lte=LOOKED_AT)
        places: Counter[int] = Counter()
        waiting = []
        for row in due.order_by("pk"):
            if self.is_ready(row):
                places[row.person] += 1
                waiting.append(Waiting(run=row, person=row.person, place=places[row.person], since=row.pk))
        chosen = next_to_run(waiting, drafting, room=limit, each=MOST_DRAFTS - 1)
        jobs = []
        for row in chosen:
            if job := self.claim(row, owner):
                drafting[row.person] += 1
                jobs.append(job)
        return jobs

    def claim(self, row: Any, owner: str) -> Job | None:
        job = Job(line=self, row_id=row.pk, branch_id=row.branch_id, key=f"{owner}/{secrets.token_hex(4)}")
        waiting = self.rows.filter(pk=row.pk, **{self.state: DUE})
        taken = waiting.update(**{self.state: DRAFTING, self.owner: job.key, self.expires: lease_end()})
        return job if taken else None

    def held(self, jobs: Iterable[Job]) -> QuerySet[Any]:
        return self.drafting().filter(**{f"{self.owner}__in": [job.key for job in jobs]})

    def recover(self, is_dead: Callable[[str], bool]) -> int:
        """Those whose runner is gone are due again; how many there were."""
        now = timezone.now()
        lost = [
            Job(line=self, row_id=pk, branch_id=branch_id, key=key)
            for pk, branch_id, key, expires in self.drafting().values_list("pk", "branch", self.owner, self.expires)
            if is_dead(key.rpartition("/")[0]) or (expires and expires < now)
        ]
        return sum(job.release() for job in lost)

    def release_of(self, user: User) -> int:
        """All that is being drafted for this person begins again; how much that is."""
        mine = self.drafting().filter(branch__session__owner=user)
        return mine.update(**{self.state: DUE, **self.unheld})

    # Results

    def find(self, job: Job) -> Row | None:
        found: Row | None = job.mine().select_related(*self.related).first()
        return found

    def read_work(self, job: Job) -> DraftWork | None:
        row = self.find(job)
        return self.work_on(row, self.log_of(row)) if row else None

    def settle(self, job: Job, work: DraftWork, made: Summary) -> None:
        """All that was tried is kept; where the source has changed, only what it cost, and it is due again."""
        with transaction.atomic():
            row = self.hold(job)
            found = self.log_of(row) if row else None
            if row is None or found is None or not work.is_current(found):
                made.keep_cost()
                if row:
                    job.release()
                return
            self.finish(row, found, made.keep())

    def hold(self, job: Job) -> Row | None:
        """The row under the lock of its branch, so that nobody changes what it is made of meanwhile."""
        if not Branch.objects.select_for_update(of=("self",)).filter(pk=job.branch_id).first():
            return None
        row = self.find(job)
        return row if row and self.is_wanted(row) else None

    def fail(self, job: Job, why: str) -> None:
        with transaction.atomic():
            if row := self.hold(job):
                self.end_without(row, why, "")

    def progress(self, job: Job, step: str) -> None:
        with transaction.atomic():
            if row := self.find(job):
                self.tell_step(row, step)

    def draft_now(self, row: Row) -> None:
        """Without a model, within the caller's transaction: nobody else sees it claimed."""
        job = self.claim(row, "here")
        if job and (work := self.read_work(job)):
            self.settle(job, work, work.draft_now())


# Lines of other apps, which efforts do not import.
_registered: list[Line[Any]] = []


def register(line: Line[Any]) -> None:
    """At start; a line is registered once, however often that runs."""
    if line not in _registered:
        _registered.append(line)


def registered() -> tuple[Line[Any], ...]:
    return tuple(_registered)


# At work


def any_due(lines: Sequence[Line[Any]]) -> bool:
    # Where nobody is, nothing is due.
    return any(whether_due(lines=tuple(lines)))


@prepared
def whether_due(*, lines: tuple[Line[Any], ...]) -> QuerySet[User, bool]:
    """Of all lines at once: a runner looks before each turn that it answers, and after it."""
    due = [Exists(line.rows.filter(**{line.state: DUE})) for line in lines]
    return User.objects.order_by().values_list(reduce(or_, due), flat=True)[:1]


def claim_from(lines: Sequence[Line[Any]], owner: str, room: int) -> list[Job]:
    drafting: Counter[int] = Counter()
    for line in lines:
        drafting.update(line.drafting().values_list("branch__session__owner", flat=True))
    jobs: list[Job] = []
    for line in lines:
        jobs += line.claim_due(owner, room - len(jobs), drafting)
    return jobs


def still_mine(jobs: Iterable[Job]) -> set[str]:
    return {key for line, its in by_line(jobs) for key in line.held(its).values_list(line.owner, flat=True)}


def renew(jobs: Iterable[Job]) -> None:
    for line, its in by_line(jobs):
        line.held(its).update(**{line.expires: lease_end()})


def by_line(jobs: Iterable[Job]) -> list[tuple[Line[Any], list[Job]]]:
    in_order = sorted(jobs, key=lambda job: job.line.model.__name__)
    return [(line, list(its)) for line, its in groupby(in_order, key=lambda job: job.line)]


def recover(lines: Iterable[Line[Any]], is_dead: Callable[[str], bool]) -> int:
    return sum(line.recover(is_dead) for line in lines)


class Drafts:
    """The runner's drafts in progress, of all lines."""

    def __init__(self, lines: Sequence[Line[Any]], owner: str, wake: asyncio.Event) -> None:
        self.lines = lines
        self.owner = owner
        self.wake = wake
        self.jobs: dict[asyncio.Task[None], Job] = {}

    async def sweep(self) -> None:
        await self.drop_what_is_taken_back()
        room = MOST_DRAFTS - len(self.jobs)
        # Most sweeps find none: then the thread that writes, where turns stand in line on SQLite, is not asked.
        due = room > 0 and await read(any_due, self.lines)
        for job in await write(claim_from, self.lines, self.owner, room) if due else []:
            task = asyncio.create_task(self.work(job))
            self.jobs[task] = job
            task.add_done_callback(self.ended)

    async def drop_what_is_taken_back(self) -> None:
        """A model that nobody waits for any more is not asked on."""
        ours = await read(still_mine, list(self.jobs.values())) if self.jobs else set()
        for task, job in list(self.jobs.items()):
            if job.key not in ours:
                task.cancel()

    def ended(self, task: asyncio.Task[None]) -> None:
        del self.jobs[task]
        self.wake.set()

    async def work(self, job: Job) -> None:
        with concerning(draft=f"{job.line.model.__name__} {job.row_id}", branch=job.branch_id):
            # Gathered to have any fault as a value: whatever it is, nobody waits for this summary for ever.
            (fault,) = await asyncio.gather(draft_and_settle(job), return_exceptions=True)
            if fault is not None and not isinstance(fault, asyncio.CancelledError):
                log.error("A summary was not made.", exc_info=fault)
                await write(fail, job, INTERNAL)

    async def recover(self, is_dead: Callable[[str], bool]) -> None:
        """What others left behind is due again."""
        await write(recover, self.lines, is_dead)

    async def keep(self, is_dead: Callable[[str], bool]) -> None:
        await write(renew, list(self.jobs.values()))
        await self.recover(is_dead)

    async def go_down(self) -> None:
        jobs = dict(self.jobs)
        for task in jobs:
            task.cancel()
        if jobs:
            await asyncio.wait(jobs, timeout=5)
        await write(release_all, list(jobs.values()))


def release_all(jobs: Collection[Job]) -> None:
    for job in jobs:
        job.release()


async def draft_and_settle(job: Job) -> None:
    work = await read(job.line.read_work, job)
    if work is not None:
        made = await work.draft(partial(tell, job))
        await patiently(partial(write, settle, job, work, made))


def settle(job: Job, work: DraftWork, made: Summary) -> None:
    with transaction.atomic():
        job.line.settle(job, work, made)
        mark_as_new(job)


def fail(job: Job, why: str) -> None:
    with transaction.atomic():
        job.line.fail(job, why)
        mark_as_new(job)


def mark_as_new(job: Job) -> None:
    """For whoever is elsewhere meanwhile. It has ended, unless its source had changed and it is due again."""
    if not job.line.rows.filter(pk=job.row_id, **{job.line.state: DUE}).exists():
        Session.objects.filter(branches=job.branch_id).update(answered_at=timezone.now())


async def tell(job: Job, step: str) -> None:
    # Who waits sees less of it; what was paid for is not lost.
    with suppress(OperationalError, InterfaceError):
        await write(job.line.progress, job, step)
