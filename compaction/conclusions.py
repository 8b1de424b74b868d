"""How a concluded effort comes by its summary: drafted, judged, and kept with all that was tried."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from django.conf import settings

from efforts.compacting import Progress, Summary
from efforts.connections import KeyUnreadable, ModelChoice, choose_for_drafts
from efforts.domain.details import headline, with_details
from efforts.domain.extractive import LONGEST_SUMMARY, SHORT_EFFORT, trimmed
from efforts.models import Branch, Effort, Message, Session, TurnLabel
from efforts.recording import count
from efforts.timelines import branch_turns

from . import actions
from .domain.artifact import Kind, SourceRef
from .drafting import PURPOSE, Drafted, Task, Tried, draft, draft_now
from .prompts import prompt_version
from .snapshots import Ledger, latest_runs, read_ledger

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from efforts.models import ContextPointer, EffortState
    from efforts.snapshots.sources import EffortLog

BUILTIN = "builtin"
# Messages outside the effort, and characters of each, by which words are told from those of all the talk.
REST, REST_CHARACTERS = 200, 2_000


@dataclass(frozen=True, kw_only=True)
class Conclusion(Summary):
    """The headline of what was drafted, and all of it."""

    drafted: Drafted
    ledger: Ledger

    def keep(self, state: EffortState) -> None:
        actions.keep(state, self.drafted, self.ledger)


@dataclass(frozen=True, kw_only=True)
class ConclusionWork:
    session: Session
    task: Task
    ledger: Ledger

    async def draft(self, progress: Progress) -> Summary:
        return self.brief() or self.of(await draft(self.task, progress))

    def draft_now(self) -> Summary:
        return self.brief() or self.of(draft_now(self.task))

    def is_current(self, log: EffortLog) -> bool:
        return log.source.sha256 == self.task.source.sha256 and read_ledger(self.session, log.source) == self.ledger

    def brief(self) -> Summary | None:
        """Of next to nothing the seed's words are all there is to say (000)."""
        source = self.task.source
        if source.characters >= SHORT_EFFORT:
            return None
        return Summary(text=headline(source, name=self.task.name, count=count), drafter=BUILTIN)

    def headline_of(self, tried: Tried) -> str:
        """As it stands in the prompt: a model's with the words that it could be expanded for."""
        assert tried.artifact is not None
        text = tried.artifact.headline
        if tried.drafter != "model":
            return text
        kept = trimmed(text, count, LONGEST_SUMMARY)
        return with_details(kept, self.task.source, name=self.task.name, count=count, rest=self.task.rest)

    def of(self, drafted: Drafted) -> Summary:
        chosen = drafted.chosen or drafted.tried[-1]
        artifact = chosen.artifact
        return Conclusion(
            text=self.headline_of(chosen) if artifact else "",
            drafter=chosen.model or BUILTIN,
            note=drafted.note,
            artifact=artifact.artifact_id if artifact else "",
            passed=drafted.chosen is not None,
            why=chosen.why,
            drafted=drafted,
            ledger=self.ledger,
        )


class Compaction:
    """What efforts call without importing this."""

    def work_on(self, state: EffortState, log: EffortLog) -> ConclusionWork:
        ledger = read_ledger(state.branch.session, log.source)
        choice, note = choice_for(state)
        task = Task(
            name=state.effort.name,
            kind=Kind.CONCLUSION,
            source=log.source,
            ref=ref_of(state, log),
            ledger=ledger.confirmed,
            candidates=ledger.candidates,
            rest=said_elsewhere(state.branch, state.effort),
            choice=choice,
            note=note,
            cap=settings.CCM_DRAFT_CAP,
            timeout_ms=int(1000 * (choice.draft_seconds if choice else settings.CCM_DRAFT_TIMEOUT)),
            latest=latest_runs(PURPOSE, choice.model, prompt_version()) if choice else (),
            judge=replace(choice, model=settings.CCM_JUDGE_MODEL) if choice and settings.CCM_JUDGE_MODEL else None,
        )
        return ConclusionWork(session=state.branch.session, task=task, ledger=ledger)

    def accept(self, artifact: str, pointer: ContextPointer, log: EffortLog, actor: User | None, via: str) -> None:
        actions.accept(artifact, pointer, log.source, actor, via)


def choice_for(state: EffortState) -> tuple[ModelChoice | None, str]:
    """None where no model drafts, with why, if one was meant to."""
    try:
        choice = choose_for_drafts(state.branch.session)
    except KeyUnreadable as error:
        return None, str(error)
    return (choice, "") if choice.kind != "builtin" else (None, "")


def ref_of(state: EffortState, log: EffortLog) -> SourceRef:
    turns = tuple(turn.number for turn in log.turns)
    return SourceRef(
        session=str(state.branch.session_id),
        branch=str(state.branch_id),
        effort=state.effort.slug,
        start=min(turns, default=0),
        end=max(turns, default=0),
        turns=turns,
        source_sha256=log.source.sha256,
        source_tokens=count(log.source.text),
    )


def said_elsewhere(branch: Branch, effort: Effort) -> tuple[str, ...]:
    of_effort = TurnLabel.objects.filter(branch=branch, effort=effort).values("turn")
    said = Message.objects.filter(session=branch.session_id, turn__in=branch_turns(branch)).exclude(turn__in=of_effort)
    newest = said.exclude(role=Message.Role.TOOL).order_by("-id").values_list("text", flat=True)[:REST]
    return tuple(text[:REST_CHARACTERS] for text in newest)
