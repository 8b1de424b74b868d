"""How turns come by what stands for them: drafted, checked, judged, and kept with all that was tried."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from compaction.domain.artifact import Artifact as Document
from compaction.domain.artifact import Kind, SourceRef
from compaction.domain.digest import formal_in
from compaction.domain.limits import Purpose, overtaken_price
from compaction.drafting.costs import cap_of, examined, means_of, price_of
from compaction.drafting.examining import take_exam
from compaction.drafting.reading import read_ledger
from compaction.drafting.storing import SLACK, keep, keep_cost, release, reserve
from compaction.drafting.summaries import Drafted, Examined, Task, draft, draft_now, earned_back, not_worth, windows_of
from compaction.models import Artifact
from efforts.domain.effort.notices import span_said
from efforts.domain.effort.states import ScopeKind
from efforts.domain.text.source_text import Part, Source
from efforts.llm.builtin.replies import is_only_its_own
from efforts.models import Branch, Effort, Session
from efforts.models.threads import read, write
from efforts.standins.compacting import Estimate, Progress, Summary
from efforts.turns.recording import count

if TYPE_CHECKING:
    from efforts.models import ScopeDraft
    from efforts.standins.logs import SourceLog

BUILTIN = "builtin"
# Draft, longer draft, repair, and the steps of two checks each twice.
MOST_REQUESTS = 8
KINDS = {ScopeKind.INTENTIONAL: Kind.RANGE, ScopeKind.ROLLING: Kind.ROLLING, ScopeKind.STAGE: Kind.STAGE}
# What the cost of each counts as.
PURPOSES = {
    ScopeKind.INTENTIONAL: Purpose.COMPACTION,
    ScopeKind.ROLLING: Purpose.ROLLING,
    ScopeKind.STAGE: Purpose.STAGE,
}
REJECTED_AGAIN = "It says word for word what was rejected. “Judge again” takes that up once more."
TOO_LARGE = (
    "One of these turns has more than the {largest:,} tokens that a draft and its check by {model} can hold. Choose "
    "other turns, or a model with a larger window."
)


@dataclass(frozen=True, kw_only=True)
class MadeSummary(Summary):
    """What came of drafting, with all that is to be kept of it."""

    drafted: Drafted
    session: Session
    reserved: int | None = None

    def keep(self) -> Summary:
        keep(self.drafted)
        release(self.reserved)
        if self.artifact and Artifact.objects.get(pk=self.artifact).is_turned_down:
            return replace(self, stands=False, takeable=False, why=REJECTED_AGAIN)
        return self

    def keep_cost(self) -> None:
        # What was reserved goes as its cost is kept: gone already, it was stored although its connection broke.
        if self.reserved is None or release(self.reserved):
            keep_cost(self.drafted)


@dataclass(frozen=True, kw_only=True)
class ScopeWork:
    session: Session
    task: Task

    async def draft(self, progress: Progress) -> Summary:
        """Of the day's tokens what it may need is kept free for it, until what it has cost is kept."""
        # Its tokens are counted where no turn waits for them.
        needed = await read(self.needed)
        task, reserved = await write(self.within_the_day, *needed) if needed else (self.task, None)
        made = None
        try:
            task = await self.with_exam(task, progress)
            made = self.of(await draft(task, progress), reserved)
            return made
        finally:
            if made is None:
                await write(release, reserved)

    def needed(self) -> tuple[int, float] | None:
        """Tokens and seconds, at most. What was recorded costs nothing."""
        if self.task.choice is None or self.task.choice.kind == "recorded" or not_worth(self.task):
            return None
        windows = windows_of(self.task)
        slowest = max(one.draft_seconds for one in (self.task.choice, self.task.checker) if one)
        return most_of(self.task, windows), MOST_REQUESTS * max(len(windows), 1) * slowest + SLACK

    def within_the_day(self, tokens: int, seconds: float) -> tuple[Task, int | None]:
        """By no model where what is left is not enough."""
        reserved, why = reserve(self.session, tokens, seconds)
        by_none = replace(self.task, choice=None, checker=None, note=why)
        return (by_none if why else self.task), reserved

    async def with_exam(self, task: Task, progress: Progress) -> Task:
        """The checker's, which it takes now where it has taken none and is to check."""
        if task.choice is None or task.checker is None or task.exam or not_worth(task):
            return task
        reserved, why = await write(reserve, self.session, exam_of(task), task.checker.draft_seconds + SLACK)
        if why:
            return replace(task, exam=Examined(passed=False, why=why))
        try:
            await progress("exam")
            return replace(task, exam=examined(await take_exam(self.session.owner, task.checker)))
        finally:
            await write(release, reserved)

    def draft_now(self) -> Summary:
        return self.of(draft_now(self.task))

    def is_current(self, log: SourceLog) -> bool:
        return (
            log.source.sha256 == self.task.source.sha256 and read_ledger(self.session, log.source) == self.task.entries
        )

    def of(self, drafted: Drafted, reserved: int | None = None) -> Summary:
        last = drafted.last
        made = last if last and last.artifact else None
        return MadeSummary(
            text=made.text.headline if made and made.text else "",
            artifact=made.artifact.artifact_id if made and made.artifact else "",
            stands=bool(made and made.stands),
            takeable=bool(made and made.takeable),
            digest=drafted.digest.artifact.artifact_id if drafted.digest and drafted.digest.artifact else "",
            why=last.why if last else drafted.why,
            whole=last is None and drafted.digest is None and bool(not_worth(self.task)),
            drafter=self.task.choice.model if made and self.task.choice else BUILTIN,
            drafted=drafted,
            session=self.session,
            reserved=reserved,
        )


def most_of(task: Task, windows: Sequence[Sequence[int]] | None = None) -> int:
    """Tokens that a task may use up, its `windows` and what merges them included."""
    windows = windows_of(task) if windows is None else windows
    sizes = [count(task.source.between(set(turns)).text) for turns in windows or [task.source.turns]]
    merging = overtaken_price(sizes) if len(sizes) > 1 else 0
    return sum(price_of(tokens, task.purpose).total for tokens in sizes) + merging


def exam_of(task: Task) -> int:
    """Tokens that the checker's exam may use up, where it has taken none."""
    return cap_of(Purpose.EXAM) if task.checker and task.exam is None else 0


def work_on_scope(draft: ScopeDraft, log: SourceLog) -> ScopeWork:
    task = scope_task(draft.branch, log, ScopeKind(draft.kind))
    return ScopeWork(session=draft.branch.session, task=replace(task, scope_id=draft.pk, focus=draft.focus))


def scope_task(branch: Branch, log: SourceLog, kind: ScopeKind) -> Task:
    name = name_of([turn.number for turn in log.turns])
    return task_for(branch, log, name=name, kind=KINDS[kind], purpose=PURPOSES[kind])


def estimate(branch: Branch, log: SourceLog, kind: ScopeKind) -> Estimate:
    task = scope_task(branch, log, kind)
    source, choice = task.ref.source_tokens, task.choice
    if choice is None:
        return Estimate(source=source, note=task.note, digest=True)
    if why := not_worth(task):
        return Estimate(source=source, note=why, digest=True)
    windows = windows_of(task)
    refusal = "" if windows else TOO_LARGE.format(largest=task.largest, model=choice.model)
    most = most_of(task, windows) + exam_of(task)
    return Estimate(source=source, model=choice.model, most=most, payback=earned_back(task), refusal=refusal)


def name_of(turns: Collection[int]) -> str:
    return span_said(min(turns, default=0), max(turns, default=0)).capitalize()


def task_for(
    branch: Branch,
    log: SourceLog,
    *,
    name: str,
    kind: Kind,
    effort: Effort | None = None,
    purpose: str = Purpose.COMPACTION,
    focus: str = "",
) -> Task:
    names = [effort.name, effort.slug] if effort else []
    return Task(
        name=name,
        kind=kind,
        source=log.source,
        ref=ref_of(branch, effort, log),
        entries=read_ledger(branch.session, log.source),
        formal=formal_in(log.source, log.turns, names) | of_the_engine(log.source),
        focus=focus,
        purpose=purpose,
        effort_id=effort.pk if effort else None,
        **vars(means_of(branch.session, count(log.source.text), purpose)),
    )


def of_the_engine(source: Source) -> frozenset[str]:
    """The sentences of replies that quote and tell nothing."""
    replies = (part for part in source.parts if part.part == Part.TEXT and part.role == "assistant")
    return frozenset(one.id for part in replies if is_only_its_own(part.text) for one in part.sentences)


def ref_of(branch: Branch, effort: Effort | None, log: SourceLog) -> SourceRef:
    turns = tuple(turn.number for turn in log.turns)
    return SourceRef(
        session=str(branch.session_id),
        branch=str(branch.pk),
        effort=effort.slug if effort else None,
        start=min(turns, default=0),
        end=max(turns, default=0),
        turns=turns,
        source_sha256=log.source.sha256,
        source_tokens=count(log.source.said),
    )


def task_of(row: Artifact, document: Document, log: SourceLog) -> Task:
    """The task that an artifact is of, as it would be set now."""
    if row.effort:
        return task_for(row.branch, log, name=row.effort.name, kind=document.kind, effort=row.effort)
    name, run = name_of(document.source.turns), row.run
    return replace(task_for(row.branch, log, name=name, kind=document.kind, purpose=run.purpose), scope_id=run.scope_id)
