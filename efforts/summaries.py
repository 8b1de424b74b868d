"""Summaries of concluded efforts, drafted after the turn by the runner, several at a time and without holding up any.

A summary is claimed and held by a lease like a run. What it says becomes a pointer only if the effort is still
concluded and its log still what was read; otherwise the summary is due again.
"""

from __future__ import annotations

import asyncio
import logging
import re
import secrets
from collections.abc import Callable, Collection
from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from efforts import events
from efforts.actions.pointers import set_pointer
from efforts.connections import KeyUnreadable, ModelChoice, choose, connect
from efforts.domain.budget import REPLY_RESERVE, SAFETY
from efforts.domain.conversation import MESSAGE_OVERHEAD, PRIMING
from efforts.domain.details import headline, with_details
from efforts.domain.extractive import LONGEST_SUMMARY, SHORT_EFFORT, plain, summarise, trimmed
from efforts.domain.lifecycle import UNFINISHED, EffortStatus, SummaryState, Via
from efforts.domain.notices import with_notice
from efforts.domain.resolution import sounds_resolved
from efforts.domain.source_text import Source, SourcePart, rendered
from efforts.llm.protocol import ModelError, TextDelta
from efforts.llm.tokens import get_counter
from efforts.models import Branch, Effort, EffortState, Event, Message, Run, TurnLabel
from efforts.orchestrator import storable
from efforts.prompts import summary_text
from efforts.recording import lease_end
from efforts.snapshots.sources import EffortLog, read_effort_log
from efforts.threads import read, write
from efforts.timelines import branch_turns

if TYPE_CHECKING:
    from django.contrib.auth.models import User

log = logging.getLogger("ccm.summaries")

# Drafted at once by one process; each may be a model call.
MOST_DRAFTS = 4
DRAFT_SECONDS = 90.0
# The most tokens one draft may cost, prompt and reply.
DRAFT_CAP = 40_000
# What is kept, in extracts, of the messages that do not fit the model's window.
EXTRACT = 400
# Messages outside the effort, and characters of each, by which words are told from those of all the talk.
REST, REST_CHARACTERS = 200, 2_000
BUILTIN = "builtin"

THINKING = re.compile(r"<think>.*?(?:</think>|\Z)", re.DOTALL)
HEADING = re.compile(r"\s*(?:#|\W*summary\W*$)", re.IGNORECASE)
REQUEST = "The piece of work: {name}\n\n[Log]\n{log}\n[End of log]\n\nWrite its summary."
EXTRACTS = "[The {count} oldest messages do not fit. Extracts of them: {text}]\n\n"
NOTHING = "There is nothing in it that could be quoted."
TOO_LARGE = "The last message alone does not fit the model's window."
INTERNAL = "Something went wrong in the program itself; the log says what. Retry tries again."


@dataclass(frozen=True, kw_only=True)
class Job:
    """A claimed summary. `key` names this claim: no other, not even a later one of the same runner, has it."""

    state_id: int
    branch_id: Any
    key: str

    def mine(self) -> QuerySet[EffortState]:
        return EffortState.objects.filter(pk=self.state_id, summary=SummaryState.DRAFTING, summary_owner=self.key)


@dataclass(frozen=True, kw_only=True)
class Material:
    """What a summary is made of. `choice` is None where the built-in engine writes it; `note` says why, if asked.

    `rest` is what was said last outside the effort.
    """

    name: str
    source: Source
    choice: ModelChoice | None
    note: str = ""
    rest: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Draft:
    """`drafter` is the model's name or "builtin"; `note` says why a model that was asked did not write it."""

    text: str
    drafter: str
    note: str = ""


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


def read_material(job: Job) -> Material | None:
    state = job.mine().select_related("branch__session__endpoint", "effort").first()
    if state is None:
        return None
    source = read_effort_log(state.branch, state.effort).source
    choice, note = None, ""
    if source.characters >= SHORT_EFFORT:
        try:
            choice = choose(state.branch.session)
        except KeyUnreadable as error:
            note = str(error)
    asked = choice if choice and choice.kind != "builtin" else None
    rest = said_elsewhere(state.branch, state.effort)
    return Material(name=state.effort.name, source=source, choice=asked, note=note, rest=rest)


def said_elsewhere(branch: Branch, effort: Effort) -> tuple[str, ...]:
    of_effort = TurnLabel.objects.filter(branch=branch, effort=effort).values("turn")
    said = Message.objects.filter(session=branch.session_id, turn__in=branch_turns(branch)).exclude(turn__in=of_effort)
    newest = said.exclude(role=Message.Role.TOOL).order_by("-id").values_list("text", flat=True)[:REST]
    return tuple(text[:REST_CHARACTERS] for text in newest)


async def draft(material: Material, *, seconds: float = DRAFT_SECONDS) -> Draft:
    """By the session's model; extractive where there is none, or where it fails or takes longer than `seconds`."""
    note = material.note
    if material.choice:
        try:
            async with asyncio.timeout(seconds):
                if text := await ask(material, material.choice):
                    return Draft(text=await read(detailed, text, material), drafter=material.choice.model)
            note = "The model answered with nothing."
        except TimeoutError:
            note = f"The model took longer than {seconds:g} seconds."
        except ModelError as error:
            note = error.text
    return Draft(text=await read(extract, material), drafter=BUILTIN, note=note)


def extract(material: Material) -> str:
    return headline(material.source, name=material.name, count=count, rest=material.rest)


def detailed(text: str, material: Material) -> str:
    return with_details(text, material.source, name=material.name, count=count, rest=material.rest)


async def ask(material: Material, choice: ModelChoice) -> str:
    """What the model writes, trimmed; empty where it writes nothing. Raises `ModelError`."""
    # On a thread: counting a long log would hold up every socket of the process.
    request = await read(request_of, material, choice)
    if request is None:
        raise ModelError("refused", TOO_LARGE)
    text = ""
    async with aclosing(connect(choice).stream(request)) as parts:
        async for part in parts:
            text += part.text if isinstance(part, TextDelta) else ""
    return trimmed(prose(storable(THINKING.sub("", text))), count, LONGEST_SUMMARY)


def prose(text: str) -> str:
    """Without the headings and marks that small models write although they are told not to."""
    return " ".join(plain(line) for line in text.splitlines() if not HEADING.match(line))


def request_of(material: Material, choice: ModelChoice) -> dict[str, Any] | None:
    room = min(choice.context_window or DRAFT_CAP, DRAFT_CAP) - REPLY_RESERVE - SAFETY - EXTRACT
    room -= count(summary_text() + REQUEST + EXTRACTS + material.name) + 2 * MESSAGE_OVERHEAD + PRIMING
    newest = newest_within(material.source.parts, room)
    if not newest:
        return None
    older = material.source.parts[: -len(newest)]
    text = REQUEST.format(name=material.name, log=extracts(material.name, older) + rendered(newest))
    return {
        "model": choice.model,
        "stream": True,
        "stream_options": {"include_usage": True},
        choice.reply_limit: REPLY_RESERVE,
        "messages": [{"role": "system", "content": summary_text()}, {"role": "user", "content": text}],
    }


def newest_within(messages: tuple[SourcePart, ...], room: int) -> tuple[SourcePart, ...]:
    kept = 0
    for message in reversed(messages):
        room -= count(message.rendered) + 1
        if room < 0:
            break
        kept += 1
    return messages[len(messages) - kept :]


def extracts(name: str, older: tuple[SourcePart, ...]) -> str:
    if not older:
        return ""
    text = summarise(Source(parts=older), name=name, count=count, limit=EXTRACT)
    return EXTRACTS.format(count=len(older), text=text)


def count(text: str) -> int:
    return get_counter(settings.CCM_ENCODING).count(text)


# Results


def settle(job: Job, material: Material, made: Draft) -> None:
    """The draft becomes the pointer, or waits for the person's yes; where the log has changed, it is due again."""
    if not made.text:
        fail(job, NOTHING)
        return
    with transaction.atomic():
        held = hold(job)
        if held is None:
            return
        state, found = held
        if found.source.sha256 != material.source.sha256:
            release(job)
        elif is_accepted(state):
            accept(state, found, made)
        else:
            state_of(job).update(summary=SummaryState.WAITING, draft=made.text, **UNHELD)
            record(state, "effort.summary_waiting", text=made.text, drafter=made.drafter, note=made.note)


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


def accept(state: EffortState, found: EffortLog, made: Draft) -> None:
    tokens = count(made.text)
    set_pointer(state.branch, state.effort, found, text=made.text, tokens=tokens, actor=who_concluded(state))
    EffortState.objects.filter(pk=state.pk).update(summary=SummaryState.STANDS, draft="", **UNHELD)
    record(state, "effort.summarised", text=made.text, tokens=tokens, drafter=made.drafter, note=made.note)


def who_concluded(state: EffortState) -> User:
    here = {"data__effort": state.effort.slug, "data__branch": str(state.branch_id)}
    concluded = Event.objects.filter(session=state.branch.session_id, kind="effort.concluded", **here)
    last = concluded.select_related("actor").order_by("-seq").first()
    return last.actor if last and last.actor else state.branch.session.owner


def fail(job: Job, why: str) -> None:
    with transaction.atomic():
        held = hold(job)
        if held:
            state_of(job).update(summary=SummaryState.FAILED, draft=why, **UNHELD)
            record(held[0], "effort.summary_failed", text=why)


def record(state: EffortState, kind: str, **more: Any) -> None:
    # The turn that concluded it, as the notice of that turn gains the summary.
    where = {"turn": state.concluded_turn, "branch": str(state.branch_id)}
    data = {**where, "effort": state.effort.slug, "via": state.via, **more}
    events.append(state.branch.session_id, kind, with_notice(kind, data))


def summarise_now(state: EffortState) -> None:
    """From the log's own sentences, within the caller's transaction: nobody else sees it claimed."""
    job = claim(state, "here")
    if job and (material := read_material(job)):
        settle(job, material, Draft(text=extract(material), drafter=BUILTIN))


# At work


class Summariser:
    """The runner's drafts in progress."""

    def __init__(self, owner: str, wake: asyncio.Event) -> None:
        self.owner = owner
        self.wake = wake
        self.jobs: dict[asyncio.Task[None], Job] = {}

    async def sweep(self) -> None:
        room = MOST_DRAFTS - len(self.jobs)
        for job in await write(claim_due, self.owner, room) if room > 0 else []:
            task = asyncio.create_task(self.work(job))
            self.jobs[task] = job
            task.add_done_callback(self.ended)

    def ended(self, task: asyncio.Task[None]) -> None:
        del self.jobs[task]
        self.wake.set()

    async def work(self, job: Job) -> None:
        # Gathered to have any fault as a value: whatever it is, nobody waits for this summary for ever.
        (fault,) = await asyncio.gather(draft_and_settle(job), return_exceptions=True)
        if fault is not None:
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
    material = await read(read_material, job)
    if material is not None:
        await write(settle, job, material, await draft(material))
