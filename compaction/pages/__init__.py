"""One artifact as its page shows it: what it says, where each claim comes from, and what the gates found."""

from __future__ import annotations

from dataclasses import dataclass

from django.contrib.auth.models import User

from compaction.actions import inputs_of
from compaction.domain.artifact import Artifact as Document
from compaction.domain.artifact import parse_artifact
from compaction.domain.lifecycle import ArtifactState, Ended
from compaction.domain.rendering import opening_text
from compaction.dropped import Dropped, dropped
from compaction.models import Artifact, GateRun, SetAside
from compaction.snapshots import log_for, read_ledger, standing_tokens
from efforts.domain.lifecycle import PointerState, ScopeState, SummaryState
from efforts.domain.source_text import Source
from efforts.models import ContextPointer, EffortState, Event, ScopeDraft

from .claims import Claims, ClaimView, claims_of
from .gates import GATES, FailureView, GateView, gates_of
from .source import SourceView, source_view
from .verdicts import ConflictView, Verdicts, conflicts_on, verdicts_on

__all__ = [
    "ENDS",
    "GATES",
    "ArtifactView",
    "ClaimView",
    "Claims",
    "FailureView",
    "GateView",
    "artifact_view",
    "gates_of",
    "title_of",
]

ENDS = {
    Ended.DRAFTED: "Drafted",
    Ended.EMPTY: "The model answered with nothing",
    Ended.UNPARSEABLE: "The answer was not the form that was asked for",
    Ended.TRUNCATED: "The answer was cut off",
    Ended.REFUSED: "The model refused",
    Ended.TIMEOUT: "It took too long",
    Ended.FAULT: "The model could not be asked",
    Ended.OVER_CAP: "It cost more than it may",
    Ended.OVERTAKEN: "Its turns had changed meanwhile, or it was stopped",
}


@dataclass(frozen=True, kw_only=True)
class StateView:
    """Where it stands, in words; `css` and `icon` only say it again."""

    text: str
    css: str
    icon: str


STANDS = StateView(text="In the prompt", css="ok", icon="concluded")
GONE = {
    PointerState.ROLLED_BACK: StateView(text="Rolled back", css="", icon="undo"),
    PointerState.SUPERSEDED: StateView(text="Replaced by a later summary", css="", icon="layers"),
    PointerState.INVALIDATED: StateView(text="No longer of this log", css="warn", icon="alert"),
}
AGED = StateView(text="To be judged again", css="warn", icon="wait")
WAITS = StateView(text="Waiting for your yes", css="warn", icon="wait")
BLOCKED = StateView(text="Blocked: a gate fails", css="bad", icon="cross")
# By the gates, or by a person.
REFUSED = (ArtifactState.ADVISORY, ArtifactState.REJECTED)
STATES = {
    ArtifactState.DRAFT: StateView(text="Not checked yet", css="", icon="awaiting"),
    ArtifactState.REPLACEABLE: WAITS,
    ArtifactState.ADVISORY: StateView(text="To read only", css="warn", icon="alert"),
    ArtifactState.REJECTED: StateView(text="Turned down", css="bad", icon="cross"),
}


@dataclass(frozen=True, kw_only=True)
class ArtifactView:
    """`stale`: the log, the ledger or the rules have changed since it was judged."""

    row: Artifact
    document: Document
    claims: Claims
    verdicts: Verdicts
    dropped: tuple[Dropped, ...]
    conflicts: tuple[ConflictView, ...]
    set_aside: tuple[SetAside, ...]
    redrafting: bool
    source: SourceView
    gates: tuple[GateView, ...]
    judged: GateRun | None
    versions: tuple[Artifact, ...]
    pointer: ContextPointer | None
    stale: bool
    is_owner: bool
    is_own_version: bool

    @property
    def title(self) -> str:
        return title_of(self.row)

    @property
    def is_checkpoint(self) -> bool:
        return self.row.kind == "fallback"

    @property
    def stands(self) -> bool:
        return self.pointer is not None and self.pointer.state == PointerState.ACTIVE

    @property
    def state(self) -> StateView:
        if self.stands:
            return STANDS
        if self.pointer:
            return GONE[PointerState(self.pointer.state)]
        if self.row.state in REFUSED and not self.is_turned_down and not self.is_checkpoint:
            return BLOCKED
        if self.stale and self.row.state == ArtifactState.REPLACEABLE:
            return AGED
        return STATES[ArtifactState(self.row.state)]

    @property
    def is_turned_down(self) -> bool:
        """By a person: what the gates refuse they do not pass."""
        return self.row.state == ArtifactState.REJECTED and bool(self.judged is None or self.judged.passed)

    @property
    def turned_down(self) -> Event | None:
        """By whom and why."""
        if not self.is_turned_down:
            return None
        told = Event.objects.filter(session=self.row.session_id, kind="review.rejected", data__artifact=self.row.pk)
        return told.select_related("actor").order_by("-seq").first()

    @property
    def newest(self) -> Artifact:
        return self.versions[-1]

    @property
    def is_newest(self) -> bool:
        return self.newest.pk == self.row.pk

    @property
    def can_decide(self) -> bool:
        """A Checkpoint is only read, and of an older version a newer one was made."""
        return self.is_newest and not self.is_checkpoint

    @property
    def is_done_with(self) -> bool:
        """The person has said all that they have to say of it for now: the next one can be looked at."""
        said = self.stands or self.is_turned_down or self.is_own_version or self.verdicts.submitted
        return bool(said) and not self.verdicts.drafts

    @property
    def missed(self) -> int:
        return sum(not one.not_needed for one in self.dropped)

    @property
    def before(self) -> Artifact | None:
        """The version that it can be compared with."""
        return next((one for one in reversed(self.versions) if one.version < self.row.version), None)

    @property
    def drafted_by(self) -> str:
        if self.row.edited_by:
            return self.row.edited_by.get_username()
        return self.row.run.model or "the built-in engine"

    @property
    def ended(self) -> str:
        ended = Ended(self.row.run.ended)
        return "The draft did not pass the gates" if ended == Ended.DRAFTED else ENDS[ended]

    @property
    def opening(self) -> str:
        return opening_text(self.document.opening)

    @property
    def tokens(self) -> int:
        """Of what would stand in the prompt."""
        return standing_tokens(self.document)

    @property
    def percent(self) -> int:
        """Of the tokens of the log."""
        return round(100 * self.tokens / max(self.document.source.source_tokens, 1))

    @property
    def evidence(self) -> tuple[tuple[str, str, int | None], ...]:
        turns = {part.message: part.turn for part in self.source.parts}
        return tuple((one.type, one.value, turns.get(one.link.message)) for one in self.document.evidence)


def title_of(row: Artifact) -> str:
    name = row.effort.name if row.effort else str(row.session)
    return f"Checkpoint of {name}" if row.kind == "fallback" else f"Summary of {name}"


def artifact_view(row: Artifact, user: User) -> ArtifactView:
    document = parse_artifact(row.document)
    judged = row.gate_runs.order_by("-pk").first()
    source = log_for(row, document).source
    verdicts = verdicts_on(row, user)
    claims = claims_of(document, source, verdicts)
    is_owner = row.session.owner_id == user.pk
    return ArtifactView(
        row=row,
        document=document,
        claims=claims,
        verdicts=verdicts,
        dropped=dropped(row),
        conflicts=conflicts_on(row, claims),
        set_aside=tuple(row.set_aside.select_related("actor")),
        redrafting=is_redrafted(row, document),
        source=source_view(source, claims.spans, "you" if is_owner else row.session.owner.get_username()),
        gates=gates_of(judged, claims.numbers),
        judged=judged,
        versions=tuple(Artifact.objects.filter(family=row.family).order_by("version")),
        pointer=ContextPointer.objects.filter(branch=row.branch, artifact=row.pk).order_by("-pk").first(),
        stale=judged is not None and is_stale(row, source, judged),
        is_owner=is_owner,
        is_own_version=row.edited_by_id == user.pk,
    )


def is_redrafted(row: Artifact, document: Document) -> bool:
    """Whether another draft of the same turns is on its way."""
    if row.effort_id:
        efforts = EffortState.objects.filter(branch=row.branch_id, effort=row.effort_id)
        return efforts.filter(summary__in=[SummaryState.DUE, SummaryState.DRAFTING]).exists()
    scopes = ScopeDraft.objects.filter(branch=row.branch_id, turns=list(document.source.turns))
    return scopes.filter(state__in=[ScopeState.DUE, ScopeState.DRAFTING]).exists()


def is_stale(row: Artifact, source: Source, judged: GateRun) -> bool:
    return bool(judged.inputs != inputs_of(source, read_ledger(row.session, source)))
