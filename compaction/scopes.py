"""How chosen turns come by their summary: drafted, judged, and kept with all that was tried."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from efforts.compacting import Estimate, Progress, Summary
from efforts.domain.details import with_details
from efforts.domain.extractive import LONGEST_SUMMARY, trimmed
from efforts.domain.lifecycle import ScopeKind
from efforts.domain.notices import span_said
from efforts.models import Branch, Effort, Message, Session
from efforts.recording import count
from efforts.threads import write
from efforts.timelines import branch_turns

from .actions import Home, keep, keep_cost, release, reserve
from .domain.artifact import Kind, SourceRef
from .domain.limits import Purpose
from .drafting import PURPOSE, Drafted, Task, Tried, draft, draft_now, kept_of, limits_of
from .snapshots import Ledger, read_ledger
from .usage import means_of

if TYPE_CHECKING:
    from efforts.models import ScopeDraft
    from efforts.snapshots.sources import EffortLog

BUILTIN = "builtin"
# Seconds beyond the timeouts of a draft for all that is done around it.
SLACK = 60
# Messages outside the scope, and characters of each, by which words are told from those of all the talk.
REST, REST_CHARACTERS = 200, 2_000
KINDS = {ScopeKind.INTENTIONAL: Kind.INTENTIONAL, ScopeKind.ROLLING: Kind.ROLLING, ScopeKind.STAGE: Kind.STAGE}
# What the cost of each counts as.
PURPOSES = {
    ScopeKind.INTENTIONAL: Purpose.COMPACTION,
    ScopeKind.ROLLING: Purpose.ROLLING,
    ScopeKind.STAGE: Purpose.STAGE,
}

TOO_LARGE = (
    "These turns have {tokens:,} tokens. Within the limit of {cap:,} tokens a draft, {model} can summarise {alone:,} "
    "at most. Choose fewer turns, or a model with a larger window."
)


@dataclass(frozen=True, kw_only=True)
class Made(Summary):
    """The headline of what was drafted, and all of it."""

    home: Home
    drafted: Drafted
    ledger: Ledger
    standing: Callable[[Tried], str]
    reserved: int | None = None

    def keep(self) -> None:
        keep(self.home, self.drafted, self.ledger, self.standing)
        release(self.reserved)

    def keep_cost(self) -> None:
        keep_cost(self.home, self.drafted)
        release(self.reserved)


@dataclass(frozen=True, kw_only=True)
class ScopeWork:
    session: Session
    home: Home
    task: Task
    ledger: Ledger

    async def draft(self, progress: Progress) -> Summary:
        """Of the day's tokens what it may need is kept free for it, until what it has cost is kept."""
        task, reserved = await write(self.within_the_day)
        made = None
        try:
            made = self.of(await draft(task, progress), reserved)
            return made
        finally:
            if made is None:
                await write(release, reserved)

    def within_the_day(self) -> tuple[Task, int | None]:
        """By no model where what is left is not enough."""
        if self.task.choice is None:
            return self.task, None
        # A draft with its redraft takes as long as it may, and so does its judge.
        reserved, why = reserve(self.session, self.task.most, 2 * self.task.timeout_ms / 1000 + SLACK)
        by_none = replace(self.task, choice=None, judge=None, note=why)
        return (by_none if why else self.task), reserved

    def draft_now(self) -> Summary:
        return self.of(draft_now(self.task))

    def is_current(self, log: EffortLog) -> bool:
        return log.source.sha256 == self.task.source.sha256 and read_ledger(self.session, log.source) == self.ledger

    def headline_of(self, tried: Tried) -> str:
        """As it stands in the prompt: a model's with the words that it could be expanded for."""
        if tried.artifact is None:
            return ""
        text = tried.artifact.headline
        if tried.drafter != "model":
            return text
        kept = trimmed(text, count, LONGEST_SUMMARY)
        return with_details(kept, self.task.source, name=self.task.name, count=count, rest=self.task.rest)

    def of(self, drafted: Drafted, reserved: int | None = None) -> Summary:
        chosen = drafted.chosen or drafted.tried[-1]
        return Made(
            text=self.headline_of(chosen),
            drafter=chosen.model or BUILTIN,
            note=drafted.note,
            artifact=chosen.artifact.artifact_id if chosen.artifact else "",
            passed=drafted.chosen is not None,
            why=chosen.why,
            home=self.home,
            drafted=drafted,
            ledger=self.ledger,
            standing=self.headline_of,
            reserved=reserved,
        )


def work_on_scope(draft: ScopeDraft, log: EffortLog) -> ScopeWork:
    branch = draft.branch
    ledger = read_ledger(branch.session, log.source)
    task = scope_task(branch, log, ledger, ScopeKind(draft.kind))
    home = Home(session_id=branch.session_id, branch_id=branch.pk, scope_id=draft.pk, purpose=task.purpose)
    return ScopeWork(session=branch.session, home=home, task=task, ledger=ledger)


def scope_task(branch: Branch, log: EffortLog, ledger: Ledger, kind: ScopeKind) -> Task:
    return task_for(
        branch,
        log,
        ledger,
        name=name_of([turn.number for turn in log.turns]),
        kind=KINDS[kind],
        purpose=PURPOSES[kind],
        rest=said_elsewhere(branch, log.turn_ids),
    )


def estimate(branch: Branch, log: EffortLog, kind: ScopeKind) -> Estimate:
    task = scope_task(branch, log, read_ledger(branch.session, log.source), kind)
    source, choice = task.ref.source_tokens, task.choice
    if choice is None:
        return Estimate(source=source, note=task.note)
    room = limits_of(task, choice)
    refusal = TOO_LARGE.format(tokens=source, model=choice.model, cap=task.cap, alone=room.alone)
    return Estimate(source=source, model=choice.model, most=task.most, refusal=refusal if source > room.alone else "")


def name_of(turns: Collection[int]) -> str:
    return span_said(min(turns, default=0), max(turns, default=0)).capitalize()


def task_for(
    branch: Branch,
    log: EffortLog,
    ledger: Ledger,
    *,
    name: str,
    kind: Kind,
    rest: tuple[str, ...],
    effort: Effort | None = None,
    purpose: str = PURPOSE,
) -> Task:
    ref = ref_of(branch, effort, log)
    told = count(name + kept_of(ledger.confirmed, ledger.candidates))
    means = means_of(branch.session, ref.source_tokens, purpose, told=told)
    return Task(
        name=name,
        kind=kind,
        source=log.source,
        ref=ref,
        ledger=ledger.confirmed,
        candidates=ledger.candidates,
        rest=rest,
        purpose=purpose,
        **vars(means),
    )


def ref_of(branch: Branch, effort: Effort | None, log: EffortLog) -> SourceRef:
    turns = tuple(turn.number for turn in log.turns)
    return SourceRef(
        session=str(branch.session_id),
        branch=str(branch.pk),
        effort=effort.slug if effort else None,
        start=min(turns, default=0),
        end=max(turns, default=0),
        turns=turns,
        source_sha256=log.source.sha256,
        source_tokens=count(log.source.text),
    )


def said_elsewhere(branch: Branch, turns: Iterable[Any]) -> tuple[str, ...]:
    """`turns`: ids, or a query for them."""
    said = Message.objects.filter(session=branch.session_id, turn__in=branch_turns(branch)).exclude(turn__in=turns)
    newest = said.exclude(role=Message.Role.TOOL).order_by("-id").values_list("text", flat=True)[:REST]
    return tuple(text[:REST_CHARACTERS] for text in newest)
