"""A double of what `compaction` registers: it stores what it is told to, and judges nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from django.contrib.auth.models import User

from efforts.actions.efforts import summary_stands
from efforts.actions.places import Place, changing, record
from efforts.actions.pointers import StandIn, all_ended, roll_back, set_pointer
from efforts.domain.effort.states import PointerState, ScopeKind, Via
from efforts.domain.errors import Refused
from efforts.llm.tokens import get_counter
from efforts.models import Branch, ContextPointer, EffortState, ScopeDraft, Session
from efforts.standins import compacting
from efforts.standins.compacting import DraftWork, Estimate, Progress, Summary, ToldSummary
from efforts.standins.logs import SourceLog

HEADLINE = "The webhook answers at once."
SHORT_FORM = f"{HEADLINE}\n- Decided: a retry limit of 3\n- Open: an alert when the dead-letter list grows"
EXCERPTS = "Excerpts, not a summary\nuser, turn 1: “Let's look at the payment webhook.”"


@dataclass(frozen=True, kw_only=True)
class Stored:
    state: EffortState
    log: SourceLog
    standing: StandIn


@dataclass(frozen=True, kw_only=True)
class ScriptedWork:
    log: SourceLog
    made: Summary

    async def draft(self, progress: Progress) -> Summary:
        return self.made

    def draft_now(self) -> Summary:
        return self.made

    def is_current(self, log: SourceLog) -> bool:
        return log.source.sha256 == self.log.source.sha256


@dataclass(kw_only=True)
class Scripted:
    """`made` is what any draft comes to; `refuses`: ids of what may not stand."""

    made: Summary = field(default_factory=Summary)
    stored: dict[str, Stored] = field(default_factory=dict)
    refuses: set[str] = field(default_factory=set)
    quotes: bool = True

    # Artifacts

    def draft_of(self, state: EffortState, log: SourceLog, text: str = SHORT_FORM) -> str:
        """A draft of what the effort says now; its id."""
        standing = StandIn(text=text, headline=text.split("\n")[0], tokens=tokens(text))
        return self.store("draft", state, log, standing)

    def digest_of(self, state: EffortState, log: SourceLog) -> str:
        standing = StandIn(text=EXCERPTS, headline=HEADLINE, tokens=tokens(EXCERPTS), digest=True)
        return self.store("digest", state, log, standing) if self.quotes else ""

    def store(self, kind: str, state: EffortState, log: SourceLog, standing: StandIn) -> str:
        artifact = f"{kind}-{state.effort.slug}-{len(self.stored)}"
        standing = StandIn(**{**vars(standing), "artifact": artifact})
        self.stored[artifact] = Stored(state=state, log=log, standing=standing)
        return artifact

    # What efforts call

    def work_on(self, state: EffortState, log: SourceLog) -> DraftWork:
        return ScriptedWork(log=log, made=self.made)

    def work_on_scope(self, draft: ScopeDraft, log: SourceLog) -> DraftWork:
        return ScriptedWork(log=log, made=self.made)

    def estimate(self, branch: Branch, log: SourceLog, kind: ScopeKind) -> Estimate:
        return Estimate(source=tokens(log.source.text), digest=True)

    def accept(self, artifact: str, actor: User | None, via: str, note: str = "") -> ContextPointer:
        if artifact in self.refuses:
            raise Refused("gates", "Not every gate passes.")
        one = self.stored[artifact]
        with changing(Place(branch=one.state.branch, turn=0, actor=actor)) as branch:
            if standing := standing_pointer(branch, artifact):
                return standing
            state = EffortState.objects.select_related("effort", "branch").get(pk=one.state.pk)
            if not all_ended(branch, state.effort):
                raise Refused("unfinished", "A turn of it has not ended.")
            pointer = set_pointer(branch, state.effort, one.log, one.standing, actor=actor, via=via)
            summary_stands(state, pointer, actor, note=note, accepted=via)
            return pointer

    def roll_back(self, artifact: str, actor: User | None, branch: Branch) -> list[ContextPointer]:
        with changing(Place(branch=branch, turn=0, actor=actor)) as here:
            pointer = standing_pointer(here, artifact)
            if pointer is None or pointer.effort is None:
                raise Refused("not_standing", "This summary stands no longer.")
            restored = roll_back(here, pointer, actor=actor, via=Via.CONTROL)
            own = [one.artifact for one in restored if one.effort]
            told = {"artifact": artifact, "own": bool(own), "standing": own[0] if own else "", "restored": []}
            record(Place(branch=here, turn=here.head, actor=actor), "effort.rolled_back", pointer.effort.slug, **told)
            return restored

    def turn_completed(self, branch: Branch) -> None:
        """Nothing is due by the clock."""

    def body_of(self, artifact: str) -> str:
        return self.stored[artifact].standing.text

    def copied(self, artifact: str, pointer: ContextPointer, actor: User | None) -> None:
        """It stands wherever it is copied to."""

    def damaged(self, session: Session) -> Iterator[tuple[str, str]]:
        return iter(())

    def told(self, artifact: str, branch: Branch) -> ToldSummary | None:
        return None

    def exported(self, session: Session) -> Iterator[dict[str, Any]]:
        yield from ()


def standing_pointer(branch: Branch, artifact: str) -> ContextPointer | None:
    active = ContextPointer.objects.filter(branch=branch, artifact=artifact, state=PointerState.ACTIVE)
    return active.select_related("effort").first()


def tokens(text: str) -> int:
    return get_counter().count(text)


def scripted() -> Iterator[Scripted]:
    """Registered until the test has ended."""
    before, double = compacting.registered(), Scripted()
    compacting.register(double)
    yield double
    compacting.register(before)
