"""Summaries of concluded efforts, drafted after the turn by the runner, several at a time and without holding up any.

A summary is claimed and held by a lease like a run. What it says becomes a pointer only if the effort is still
concluded and its log still what was read; otherwise the summary is due again.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from efforts import compacting, events
from efforts.actions.pointers import StandIn, set_pointer
from efforts.compacting import Summary, Work
from efforts.domain.lifecycle import UNFINISHED, EffortStatus, SummaryState, Via
from efforts.domain.notices import with_notice
from efforts.domain.resolution import sounds_resolved
from efforts.models import Branch, EffortState, Event, Message, Run, TurnLabel
from efforts.recording import count, lease_end
from efforts.snapshots.sources import EffortLog, read_effort_log
from efforts.threads import read, write
from efforts.timelines import branch_turns

if TYPE_CHECKING:
    from django.contrib.auth.models import User

log = logging.getLogger("ccm.summaries")

# Drafted at once by one process; each may be a model call.
MOST_DRAFTS = 4
NOTHING = "There is nothing in it that could be quoted."
INTERNAL = "Something went wrong in the program itself; the log says what. Retry tries again."


@dataclass(frozen=True, kw_only=True)
class Job:
    """A claimed summary. `key` names this claim: no other, not even a later one of the same runner, has it."""

    state_id: int
    branch_id: Any
    key: str

    def mine(self) -> QuerySet[EffortState]:
        return EffortState.objects.filter(pk=self.state_id, summary=SummaryState.DRAFTING, summary_owner=self.key)


# Claims


def claim_due(owner: str, limit: int) -> list[Job]:
    """Take due summaries whose turns have all ended, the closing one included."""
    ready = EffortState.objects.filter(summary=SummaryState.DUE, status=EffortStatus.CONCLUDED).exclude(still_talking())
    claimed = (claim(state, owner) for state in ready.order_by("pk")[:limit])
    return [job for job in claimed if job]


def still_talking() -> Exists | Q:
    runs = Run.objects.filter(branch=OuterRef("branch"), state__in=UNFINISHED)
    labelled = TurnLabel.objects.filter(
        branch=OuterRef("branch"), effort=OuterRef("effort"), turn__run__state__in=UNFINISHED
    )
    return Exists(runs.filter(turn__number=OuterRef("concluded_turn"))) | Exists(labelled)


def claim(state: EffortState, owner: str) -> Job | None:
    job = Job(state_id=state.pk, branch_id=state.branch_id, key=f"{owner}/{secrets.token_hex(4)}")
    due = EffortState.objects.filter(pk=state.pk, summary=SummaryState.DUE)
    taken = due.update(summary=SummaryState.DRAFTING, summary_owner=job.key, summary_expires_at=lease_end())
    return job if taken else None


def still_mine(jobs: Collection[Job]) -> set[str]:
    drafting = EffortState.objects.filter(summary=SummaryState.DRAFTING)
    return set(drafting.filter(summary_owner__in=[job.key for job in jobs]).values_list("summary_owner", flat=True))


def renew(jobs: Collection[Job]) -> None:
    drafting = EffortState.objects.filter(summary=SummaryState.DRAFTING)
    drafting.filter(summary_owner__in=[job.key for job in jobs]).update(summary_expires_at=lease_end())


def recover(is_dead: Callable[[str], bool]) -> int:
    """Summaries whose runner is gone are due again; how many there were."""
    now = timezone.now()
    drafting = EffortState.objects.filter(summary=SummaryState.DRAFTING)
    lost = [
        Job(state_id=state.pk, branch_id=state.branch_id, key=state.summary_owner)
        for state in drafting
        if is_dead(state.summary_owner.rpartition("/")[0])
        or (state.summary_expires_at and state.summary_expires_at < now)
    ]
    return sum(release(job) for job in lost)


def release(job: Job) -> int:
    return job.mine().update(summary=SummaryState.DUE, **UNHELD)


UNHELD = {"summary_owner": "", "summary_expires_at": None}


# Drafts


def read_work(job: Job) -> Work | None:
    state = job.mine().select_related("branch__session__endpoint", "effort").first()
    return compacting.registered().work_on(state, read_effort_log(state.branch, state.effort)) if state else None


# Results


def settle(job: Job, work: Work, made: Summary) -> None:
    """The summary becomes the pointer, or waits for the person's yes; where its source has changed, it is due again."""
    with transaction.atomic():
        held = hold(job)
        if held is None:
            return
        state, found = held
        if not work.is_current(found):
            release(job)
            return
        made.keep(state)
        if not (made.passed and made.text):
            end_without(job, state, made.why or NOTHING, artifact=made.artifact)
        elif is_accepted(state):
            accept(state, found, made)
        else:
            wait_for_yes(job, state, made)


def hold(job: Job) -> tuple[EffortState, EffortLog] | None:
    """The state and its log under the lock of the branch, so that nobody reopens it or moves a turn meanwhile."""
    if not Branch.objects.select_for_update(of=("self",)).filter(pk=job.branch_id).first():
        return None
    state = job.mine().select_related("branch__session__owner", "effort").first()
    if state is None or state.status != EffortStatus.CONCLUDED:
        return None
    return state, read_effort_log(state.branch, state.effort)


def state_of(job: Job) -> QuerySet[EffortState]:
    return EffortState.objects.filter(pk=job.state_id)


def is_accepted(state: EffortState) -> bool:
    """A conclusion is the person's own by control or offer, or where the model only did what the person's words say."""
    return state.via != Via.MODEL or sounds_resolved(closing_words(state))


def closing_words(state: EffortState) -> str:
    said = Message.objects.filter(
        role=Message.Role.USER, turn__in=branch_turns(state.branch).filter(number=state.concluded_turn or 0)
    )
    return said.values_list("text", flat=True).first() or ""


def accept(state: EffortState, found: EffortLog, made: Summary) -> None:
    text = StandIn(text=made.text, tokens=count(made.text), artifact=made.artifact)
    set_pointer(state.branch, state.effort, found, text, actor=who_concluded(state), via=state.via)
    kept = {"summary": SummaryState.STANDS, "draft": "", "artifact": made.artifact}
    EffortState.objects.filter(pk=state.pk).update(**kept, **UNHELD)
    record(state, "effort.summarised", text=made.text, tokens=text.tokens, **origin(made))


def wait_for_yes(job: Job, state: EffortState, made: Summary) -> None:
    state_of(job).update(summary=SummaryState.WAITING, draft=made.text, artifact=made.artifact, **UNHELD)
    record(state, "effort.summary_waiting", text=made.text, **origin(made))


def origin(made: Summary) -> dict[str, str]:
    return {"drafter": made.drafter, "note": made.note, "artifact": made.artifact}


def end_without(job: Job, state: EffortState, why: str, artifact: str = "") -> None:
    state_of(job).update(summary=SummaryState.FAILED, draft=why, artifact=artifact, **UNHELD)
    record(state, "effort.summary_failed", text=why, artifact=artifact)


def who_concluded(state: EffortState) -> User:
    here = {"data__effort": state.effort.slug, "data__branch": str(state.branch_id)}
    concluded = Event.objects.filter(session=state.branch.session_id, kind="effort.concluded", **here)
    last = concluded.select_related("actor").order_by("-seq").first()
    return last.actor if last and last.actor else state.branch.session.owner


def fail(job: Job, why: str) -> None:
    with transaction.atomic():
        if held := hold(job):
            end_without(job, held[0], why)


def record(state: EffortState, kind: str, **more: Any) -> None:
    # The turn that concluded it, as the notice of that turn gains the summary.
    where = {"turn": state.concluded_turn, "branch": str(state.branch_id)}
    data = {**where, "effort": state.effort.slug, "via": state.via, **more}
    events.append(state.branch.session_id, kind, with_notice(kind, data))


def summarise_now(state: EffortState) -> None:
    """From the log's own sentences, within the caller's transaction: nobody else sees it claimed."""
    job = claim(state, "here")
    if job and (work := read_work(job)):
        settle(job, work, work.draft_now())


# At work


class Summariser:
    """The runner's drafts in progress."""

    def __init__(self, owner: str, wake: asyncio.Event) -> None:
        self.owner = owner
        self.wake = wake
        self.jobs: dict[asyncio.Task[None], Job] = {}

    async def sweep(self) -> None:
        await self.drop_what_is_taken_back()
        room = MOST_DRAFTS - len(self.jobs)
        for job in await write(claim_due, self.owner, room) if room > 0 else []:
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
        # Gathered to have any fault as a value: whatever it is, nobody waits for this summary for ever.
        (fault,) = await asyncio.gather(draft_and_settle(job), return_exceptions=True)
        if fault is not None and not isinstance(fault, asyncio.CancelledError):
            log.error("A summary was not made.", exc_info=fault)
            await write(fail, job, INTERNAL)

    async def keep(self, is_dead: Callable[[str], bool]) -> None:
        """Renew what is being drafted here; what others left behind is due again."""
        await write(renew, list(self.jobs.values()))
        await write(recover, is_dead)

    async def go_down(self) -> None:
        jobs = dict(self.jobs)
        for task in jobs:
            task.cancel()
        if jobs:
            await asyncio.wait(jobs, timeout=5)
        for job in jobs.values():
            await write(release, job)


async def draft_and_settle(job: Job) -> None:
    work = await read(read_work, job)
    if work is not None:
        await write(settle, job, work, await work.draft(partial(tell, job)))


async def tell(job: Job, step: str) -> None:
    await write(progress, job, step)


def progress(job: Job, step: str) -> None:
    """So that whoever waits sees what is being done."""
    with transaction.atomic():
        if state := job.mine().select_related("branch__session", "effort").first():
            record(state, "effort.drafting", step=step)
