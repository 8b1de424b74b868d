"""Where an artifact stands: in the prompt or not, what keeps it from standing, and where that is mended."""

from __future__ import annotations

import json
import zlib
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING
from uuid import UUID

from django.db.models import Exists, F, OuterRef, QuerySet, Subquery

from compaction.domain.artifact import SCHEMA_VERSION, Kind, parse_artifact
from compaction.domain.gates.contradiction import worded
from compaction.domain.lifecycle import ArtifactState
from compaction.domain.verdicts import Gate
from compaction.drafting.reading import READ, Basis, basis_of, families_of, turns_for, written_by
from compaction.models import Acceptance, Artifact, Check, ClaimVerdict, GateRun, SeedPackage
from compaction.standing.accepting import check_concluded, check_judged, checked
from compaction.standing.history import Stood, stood_now
from efforts.actions.pointers import active_over, span_of, turns_of
from efforts.context.holds import leaves_in
from efforts.context.layers import newest_ambient
from efforts.context.presence import (
    Presence,
    pinned_among,
    presence_of,
    presence_of_effort,
    presences_of,
    without,
)
from efforts.domain.effort.chosen import id_of
from efforts.domain.effort.states import EffortStatus, PointerMoveKind, PointerState
from efforts.domain.errors import Refused, refusal
from efforts.domain.prompt.layers import runs_of, span_within
from efforts.models import Branch, ContextPointer, EffortState, TurnLabel
from efforts.standins.seen import LooseDraft, Seen, Word

if TYPE_CHECKING:
    from django.contrib.auth.models import User

# Of what has stood in the prompt, and does not any more.
OF_POINTER = {
    PointerState.ROLLED_BACK: Word.ROLLED_BACK,
    PointerState.SUPERSEDED: Word.ENDED,
    PointerState.INVALIDATED: Word.ENDED,
}
OF_STATE = {
    ArtifactState.DRAFT: Word.NOT_CHECKED,
    ArtifactState.REPLACEABLE: Word.WAITS,
    ArtifactState.UNCHECKED: Word.NOT_CHECKED,
    ArtifactState.ADVISORY: Word.BLOCKED,
    ArtifactState.REJECTED: Word.BLOCKED,
}
SHARES = "It shares turns with what is in use already: {span}."


@dataclass(frozen=True, kw_only=True)
class Blocker:
    """Why it cannot be accepted, what to do about it, and where; without an address it is done on its own page."""

    text: str
    mend: str = ""
    address: str = ""


@dataclass(frozen=True, kw_only=True)
class ArtifactStanding:
    """In one branch, for one person. Each of it is read where it is shown."""

    row: Artifact
    user: User
    branch: Branch

    @cached_property
    def turns(self) -> list[int]:
        """Those that it was made of, also one of an earlier form."""
        found: list[int] = json.loads(self.row.document)["source"]["turns"]
        return found

    @cached_property
    def basis(self) -> Basis:
        return basis_of(self.row, parse_artifact(self.row.document), self.branch)

    @cached_property
    def pointers(self) -> list[ContextPointer]:
        """In all branches, oldest first."""
        of_session = ContextPointer.objects.filter(artifact=self.row.pk, branch__session=self.row.session)
        return list(of_session.select_related("branch").order_by("pk"))

    @property
    def pointer(self) -> ContextPointer | None:
        """Its newest here."""
        return next((one for one in reversed(self.pointers) if one.branch_id == self.branch.pk), None)

    @property
    def stands(self) -> bool:
        return self.pointer is not None and self.pointer.state == PointerState.ACTIVE

    @cached_property
    def blockers(self) -> tuple[Blocker, ...]:
        return () if self.stands else tuple(blockers(self))

    @property
    def elsewhere(self) -> list[Branch]:
        """The other branches in which it stands."""
        return self.others(PointerState.ACTIVE)

    @property
    def gone(self) -> list[Branch]:
        """The other branches in which it was rolled back."""
        return self.others(PointerState.ROLLED_BACK)

    def others(self, state: PointerState) -> list[Branch]:
        newest = {one.branch: one for one in self.pointers}
        return [branch for branch, one in newest.items() if branch != self.branch and one.state == state]

    @cached_property
    def newer(self) -> Artifact | None:
        return (
            Artifact.objects.filter(family=self.row.family, version__gt=self.row.version).order_by("-version").first()
        )

    @cached_property
    def unsubmitted(self) -> int:
        return ClaimVerdict.objects.filter(artifact=self.row, reviewer=self.user, submitted_at=None).count()

    @cached_property
    def unchecked(self) -> bool:
        """It stands, or may, only because a person says so: not all gates could be judged."""
        return is_unchecked(self.row, self.pointer if self.stands else None)

    @cached_property
    def place(self) -> InItsPlace:
        """What the prompt has of its turns while it is not there."""
        return InItsPlace() if self.stands else in_its_place(self.row, self.branch)

    @cached_property
    def pinned(self) -> tuple[int, ...]:
        """Those of its turns that stay in the prompt, whatever replaces the others."""
        return pinned_among(self.branch, self.turns)

    @property
    def span(self) -> str:
        """Its turns, without those of other efforts in between."""
        return self.named_without(())

    @property
    def replaced(self) -> str:
        """Those of them that it stands for in the prompt: what is pinned is sent all the same."""
        return self.named_without(self.pinned)

    def named_without(self, some: Collection[int]) -> str:
        return span_within(runs_of(without(self.turns, some))) if self.row.source_start else self.row.span

    @cached_property
    def presence(self) -> Presence | None:
        """Where it stands: whether the next prompt has it."""
        return presence_of(self.pointer) if self.pointer and self.stands else None

    @cached_property
    def package(self) -> SeedPackage | None:
        """What a new conversation starts from, where it is that, or a part of it, and has not been in use."""
        return None if self.pointer else package_of(self.row)

    @property
    def expandable(self) -> str:
        """What its turns are expanded and collapsed by."""
        return self.row.effort.slug if self.row.effort else id_of(self.row.source_start, self.row.source_end)

    @property
    def reopened(self) -> bool:
        return self.pointer is not None and is_reopened(self.pointer)


def standing_of(row: Artifact, user: User, branch: Branch | None = None) -> ArtifactStanding:
    """In its own branch if no other is named."""
    return ArtifactStanding(row=row, user=user, branch=branch or row.branch)


def package_of(row: Artifact) -> SeedPackage | None:
    if row.kind == Kind.SEED:
        return SeedPackage.objects.filter(session=row.session).first()
    if row.kind == Kind.STAGE:
        versions = Artifact.objects.filter(family=row.family).values("pk")
        return SeedPackage.objects.filter(stages__draft__artifact__in=versions).first()
    return None


@dataclass(frozen=True, kw_only=True)
class InItsPlace:
    """What the model sees of turns: what stands for them and is sent, and whether the log of any of them is.
    `dropped_out`: for some stands what is not sent. `expanded`: for some stands what is sent again once they are
    collapsed. `then`: how what is accepted for them would be in the prompt."""

    instead: tuple[Stood, ...] = ()
    log: bool = False
    dropped_out: bool = False
    expanded: bool = False
    then: Presence = Presence.SENT


def in_its_place(row: Artifact, branch: Branch) -> InItsPlace:
    try:
        turns = turns_for(row, checked(row), branch)
    except Refused:
        return InItsPlace(log=True)
    pointers = active_over(branch, turns)
    present = presences_of(pointers)
    covered = {turn for one in pointers if present[one.pk] != Presence.EXPANDED for turn in turns_of(one)}
    state = state_of(row, branch) if row.effort_id else None
    return InItsPlace(
        instead=stood_now(one for one in pointers if present[one.pk] in (Presence.SENT, Presence.FULL)),
        log=bool(turns - covered - too_old(branch, turns - covered)),
        dropped_out=Presence.LEFT in present.values(),
        expanded=Presence.EXPANDED in present.values(),
        then=presence_of_effort(state) if state else Presence.SENT,
    )


def too_old(branch: Branch, turns: set[int]) -> set[int]:
    """Those of no effort that are not among the newest, which alone are sent."""
    of_none = turns - set(TurnLabel.objects.filter(branch=branch, turn__in=turns).values_list("turn", flat=True))
    if not of_none:
        return set()
    newest = newest_ambient(branch, branch.head + 1, most=branch.session.ambient_window)
    return of_none - {pk for _, pk, *_ in newest}


def log_leaves_in(row: Artifact, branch: Branch, place: InItsPlace) -> int | None:
    """After how many turns without a mention excerpts take the place of its effort's log; None where nothing does."""
    if not row.effort_id or place.instead or place.expanded or not place.log:
        return None
    state = state_of(row, branch)
    return leaves_in(branch, state) if state else None


def log_would_leave_in(row: Artifact, branch: Branch) -> int | None:
    """The same, once the log is back because this was rolled back."""
    state = state_of(row, branch)
    return leaves_in(branch, state, collapsed=True) if state else None


def state_of(row: Artifact, branch: Branch) -> EffortState | None:
    return EffortState.objects.filter(branch=branch, effort=row.effort_id).select_related("effort").first()


def is_reopened(pointer: ContextPointer) -> bool:
    """Whether it ended as its effort was opened again, and not because its turns are others now."""
    ends = pointer.moves.filter(kind=PointerMoveKind.INVALIDATED).order_by("-pk")
    return ends.values_list("via", flat=True).first() == "changed"


def is_open(pointer: ContextPointer) -> bool:
    """Whether its effort is open now, so that nothing replaces its turns."""
    places = EffortState.objects.filter(branch=pointer.branch_id, effort=pointer.effort_id)
    return places.filter(status=EffortStatus.OPEN).exists()


def is_unchecked(row: Artifact, pointer: ContextPointer | None) -> bool:
    accepted = Acceptance.objects.filter(pointer=pointer).select_related("gate_run").first() if pointer else None
    return not accepted.gate_run.passed if accepted else row.state == ArtifactState.UNCHECKED


def seen(artifacts: Collection[str]) -> dict[str, Seen]:
    """By their ids: the word that the gates' last verdict comes to, and whose reading counts."""
    first = Artifact.objects.filter(family=OuterRef("family"), version=1).values("run__model")
    wanted = Artifact.objects.filter(pk__in=artifacts).annotate(writer=Subquery(first[:1]))
    rows = list(wanted.values_list("pk", "family", "state", "writer", "kind"))
    seeds = wanted.filter(kind=Kind.SEED).select_related("session") if any(row[4] == Kind.SEED for row in rows) else ()
    stages = {row.pk: families_of(row) for row in seeds}
    writers = {pk: written_by(families[1:]) for pk, families in stages.items()}
    families = {row[1] for row in rows}.union(*stages.values())
    checks = Check.objects.filter(family__in=families, void="").order_by("pk").values_list("family", "model")
    people = ClaimVerdict.objects.filter(artifact__family__in=families, submitted_at__isnull=False, verdict__in=READ)
    by: dict[str, dict[str, None]] = {}
    for family, name in checks:
        by.setdefault(family, {})[name] = None
    # Who has read or worded one claim has not checked the others.
    unchecked = people.exclude(artifact__family__in=by).order_by("pk")
    for family, name in unchecked.values_list("artifact__family", "reviewer__username"):
        by.setdefault(family, {})[name] = None
    judged = {run.artifact_id: run for run in GateRun.objects.filter(artifact__in=artifacts).order_by("pk")}
    return {
        pk: Seen(
            word=OF_STATE[ArtifactState(state)],
            quotes=kind == Kind.DIGEST,
            read_by=tuple(
                f"{name}, which wrote it" if name == writers.get(pk, writer) else name
                for name in dict.fromkeys(name for one in stages.get(pk, [family]) for name in by.get(one, ()))
            ),
            lost=lost_in(judged[pk]) if pk in judged else frozenset(),
            judged_at=judged[pk].created_at if pk in judged else None,
        )
        for pk, family, state, writer, kind in rows
    }


def shortened(artifacts: Collection[str]) -> dict[str, tuple[int, int]]:
    """By their ids, those whose short form stands and leaves claims to the full summary: how many, and of how many."""
    rows = Artifact.objects.filter(pk__in=artifacts, kind=Kind.CONCLUSION, schema_version=SCHEMA_VERSION)
    found = {pk: claims_sent(bytes(packed)) for pk, packed in full_too(rows).values_list("pk", "packed")}
    return {pk: (sent, all) for pk, (sent, all) in found.items() if sent < all}


def full_too(rows: QuerySet[Artifact]) -> QuerySet[Artifact]:
    """Those that have a full text beside the one that stands."""
    return rows.exclude(body="").exclude(body=F("standing"))


# The panel of a long conversation asks for all of its summaries at every change, and none of them ever is another.
@lru_cache(maxsize=2048)
def claims_sent(packed: bytes) -> tuple[int, int]:
    document = json.loads(zlib.decompress(packed))
    return len(document["short"]), len(document["claims"])


def drafts(owner: User, session: UUID | None = None) -> Iterable[LooseDraft]:
    """Those that wait, that nobody has checked, that are blocked, and that were rolled back."""
    later = Artifact.objects.filter(family=OuterRef("family"), version__gt=OuterRef("version"))
    active = ContextPointer.objects.filter(artifact=OuterRef("pk"), state=PointerState.ACTIVE)
    rows = Artifact.objects.filter(~Exists(later), ~Exists(active), session__owner=owner, session__erase_at=None)
    if session:
        rows = rows.filter(session=session)
    stood = ContextPointer.objects.filter(artifact__in=rows.values("pk")).order_by("pk")
    gone = dict(stood.values_list("artifact", "state"))
    for row in rows.defer("packed", "offered", "body").select_related("session", "branch", "effort").order_by("pk"):
        yield LooseDraft(
            artifact=row.pk,
            text=row.standing or row.headline,
            word=OF_POINTER[PointerState(gone[row.pk])] if row.pk in gone else OF_STATE[ArtifactState(row.state)],
            at=row.created_at,
            session=row.session,
            branch=row.branch,
            effort=row.effort.slug if row.effort else "",
            quotes=row.kind == Kind.DIGEST,
        )


def lost_in(run: GateRun) -> frozenset[str]:
    return frozenset(
        one["about"] for verdict in run.verdicts if verdict["gate"] == Gate.RETENTION for one in verdict["failures"]
    )


def blockers(standing: ArtifactStanding) -> Iterable[Blocker]:
    """All that keeps it from standing: what `accept_compaction` refuses, one by one. That nobody has checked it does
    not: a person may accept it all the same."""
    row, branch = standing.row, standing.branch
    try:
        checked(row)
    except Refused as error:
        yield Blocker(text=error.text)
        return
    yield from judged(row, standing.basis)
    yield from concluded(row, branch, row.session.owner_id == standing.user.pk)
    yield from clashing(branch, set(standing.basis.log.turn_ids))


def judged(row: Artifact, basis: Basis) -> Iterable[Blocker]:
    error = refusal(lambda: check_judged(row, basis, unchecked=True))
    if error is None:
        return
    run = row.last_judged
    failing = [verdict for verdict in run.verdicts if verdict["outcome"] == "fail"] if run else []
    for verdict in failing:
        name = verdict["gate"]
        at = f"{row.get_absolute_url()}#gate-{name}"
        yield Blocker(
            text=f"Gate {name}: {worded(verdict['says'], verdict['evaluator_version'])}",
            mend="See what fails",
            address=at,
        )
    if not failing:
        yield Blocker(text=error.text)


def concluded(row: Artifact, branch: Branch, owns: bool) -> Iterable[Blocker]:
    if error := refusal(lambda: check_concluded(branch, row)):
        mends = owns and error.code == "open"
        address = branch.get_absolute_url() if mends else ""
        yield Blocker(text=error.text, mend="Conclude it in the chat" if mends else "", address=address)


def clashing(branch: Branch, inside: set[int]) -> Iterable[Blocker]:
    for pointer in active_over(branch, inside):
        if set(turns_of(pointer)) <= inside:
            continue
        other = Artifact.objects.filter(pk=pointer.artifact).first()
        address = other.get_absolute_url() if other else ""
        yield Blocker(
            text=SHARES.format(span=span_of(pointer)), mend="Roll that back first" if other else "", address=address
        )
