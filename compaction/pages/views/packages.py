"""Packages as their pages show them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode
from uuid import UUID

from compaction.domain.artifact import Kind
from compaction.domain.lifecycle import ArtifactState, PackageState
from compaction.drafting.reading import stage_of
from compaction.models import Artifact, SeedPackage, SeedStage
from compaction.seeds import packages
from efforts.domain.effort.notices import span_said
from efforts.domain.effort.states import ScopeState
from efforts.models import Session
from efforts.turns.recording import count


@dataclass(frozen=True, kw_only=True)
class StateBadge:
    """How a state is shown: never by colour alone."""

    label: str
    icon: str
    css: str = ""


STAGES = {
    ScopeState.DUE: StateBadge(label="Waits to be drafted", icon="wait"),
    ScopeState.DRAFTING: StateBadge(label="Being drafted", icon="spin", css="on"),
    ScopeState.STOPPED: StateBadge(label="Stopped", icon="stop", css="warn"),
}
PASSED = StateBadge(label="Passes every gate", icon="check", css="ok")
NOT_CHECKED = StateBadge(label="Not checked", icon="alert", css="warn")
EXCERPTS = StateBadge(label="Excerpts, no summary", icon="alert", css="warn")
EARLIER = StateBadge(label="Made in an earlier form", icon="layers", css="warn")
CHANGED = StateBadge(label="Its conversation has changed since", icon="alert", css="warn")
FAILED = StateBadge(label="Does not pass", icon="alert", css="bad")
PACKAGES = {
    PackageState.DRAFTING: StateBadge(label="In the making", icon="wait", css="on"),
    PackageState.BLOCKED: StateBadge(label="Needs you", icon="alert", css="warn"),
    PackageState.READY: StateBadge(label="Ready to start", icon="check", css="ok"),
    PackageState.STARTED: StateBadge(label="Started", icon="chat", css="ok"),
    PackageState.STOPPED: StateBadge(label="Stopped", icon="stop"),
}
TOGETHER = StateBadge(label="Ready to put together", icon="check", css="ok")


@dataclass(frozen=True, kw_only=True)
class StageView:
    place: int
    session: Session
    span: str
    look: StateBadge
    why: str
    artifact: Artifact | None
    can_redraft: bool

    @property
    def passed(self) -> bool:
        return self.look is PASSED

    @property
    def is_drafting(self) -> bool:
        return self.look in (STAGES[ScopeState.DUE], STAGES[ScopeState.DRAFTING])

    @property
    def is_excerpts(self) -> bool:
        return self.look is EXCERPTS


@dataclass(frozen=True, kw_only=True)
class PackageView:
    """`body` is what the new conversation would begin with."""

    row: SeedPackage
    look: StateBadge
    stages: tuple[StageView, ...]
    used: int
    most: int
    seed: Artifact | None
    body: str
    tokens: int
    failures: tuple[str, ...]

    @property
    def is_drafting(self) -> bool:
        return self.is_open and any(stage.is_drafting for stage in self.stages)

    @property
    def is_open(self) -> bool:
        return self.row.state not in (PackageState.STARTED, PackageState.STOPPED)

    @property
    def passed(self) -> int:
        return sum(stage.passed for stage in self.stages)

    @property
    def can_be_merged(self) -> bool:
        """All stages pass, and what they are is not what was put together last."""
        return self.is_open and bool(self.stages) and self.passed == len(self.stages) and not self.seed

    @property
    def can_be_stopped(self) -> bool:
        """Where all stages are ready there is nothing to stop, and much to lose."""
        return self.is_open and self.passed < len(self.stages)

    @property
    def same_again(self) -> str:
        """The same conversations, chosen for a new package."""
        return chosen({stage.session.pk for stage in self.stages})

    @property
    def without_excerpts(self) -> str:
        """Those of which no stage came out as excerpts; empty where there is none."""
        return chosen(
            {stage.session.pk for stage in self.stages} - {s.session.pk for s in self.stages if s.is_excerpts}
        )

    @property
    def can_start(self) -> bool:
        return self.is_open and self.seed is not None and self.seed.state == "replaceable"


def chosen(sessions: Collection[UUID]) -> str:
    return "?" + urlencode([("session", str(pk)) for pk in sorted(sessions)]) if sessions else ""


def packages_view(rows: Iterable[SeedPackage]) -> list[tuple[SeedPackage, StateBadge]]:
    return [(row, look_of(row, stages_drafted(row))) for row in rows]


def stages_drafted(row: SeedPackage) -> list[StageView]:
    return [stage_view(one) for one in packages.stages_of(row)] if row.state == PackageState.DRAFTING else []


def look_of(row: SeedPackage, stages: Sequence[StageView]) -> StateBadge:
    """Where nothing is drafted any more, it waits for a person."""
    if row.state != PackageState.DRAFTING or not stages or any(stage.is_drafting for stage in stages):
        return PACKAGES[PackageState(row.state)]
    return TOGETHER if all(stage.passed for stage in stages) else PACKAGES[PackageState.BLOCKED]


def package_view(row: SeedPackage) -> PackageView:
    stages = tuple(stage_view(stage) for stage in packages.stages_of(row))
    seed = packages.newest_version(row) if row.state != PackageState.DRAFTING else None
    body = seed.body if seed else ""
    return PackageView(
        row=row,
        look=look_of(row, stages),
        stages=stages,
        used=packages.used_for(row),
        most=packages.most_for(row),
        seed=seed,
        body=body,
        tokens=count(body),
        failures=tuple(failures_of(seed)) if seed else (),
    )


def stage_view(row: SeedStage) -> StageView:
    draft = row.draft
    artifact = packages.standing_for(draft)
    session = draft.branch.session
    state = ScopeState(draft.state)
    look = STAGES.get(state) or judged_look(row, artifact)
    return StageView(
        place=row.place,
        session=session,
        span=span_said(draft.turns[0], draft.turns[-1]),
        look=look,
        why=draft.why if look in (FAILED, NOT_CHECKED, EXCERPTS) else "",
        artifact=artifact,
        can_redraft=look in (FAILED, NOT_CHECKED, EXCERPTS, CHANGED, EARLIER) or state == ScopeState.STOPPED,
    )


def judged_look(row: SeedStage, artifact: Artifact | None) -> StateBadge:
    if packages.passes(row):
        return PASSED
    if artifact is None:
        return FAILED
    if not artifact.is_current:
        return EARLIER
    if artifact.source_sha256 != stage_of(row).source.sha256:
        return CHANGED
    if artifact.kind == Kind.DIGEST:
        return EXCERPTS
    return NOT_CHECKED if artifact.state == ArtifactState.UNCHECKED else FAILED


def failures_of(seed: Artifact) -> list[str]:
    judged = seed.last_judged
    lacking = [one for one in judged.verdicts if one["outcome"] != "pass"] if judged else []
    return [told for verdict in lacking for told in [one["text"] for one in verdict["failures"]] or [verdict["says"]]]
