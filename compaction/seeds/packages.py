"""What several conversations came to, for a new one to start from: drafted in stages, each judged, then merged."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from uuid import UUID

from django.db import transaction

from compaction.domain.artifact import Kind, SourceRef, parse_artifact
from compaction.domain.check.result import Checked
from compaction.domain.lifecycle import ArtifactState, Ended, PackageState
from compaction.domain.limits import Purpose, packed
from compaction.domain.merging import Joined, Stage, carried, joined, merged, merged_checks, prefixed
from compaction.domain.verdicts import Offered
from compaction.drafting.costs import cap_of, largest_of, left_today, used_in, why_not
from compaction.drafting.reading import checked_of, read_ledger, stage_of
from compaction.drafting.scopes import exam_of, most_of, scope_task
from compaction.drafting.storing import keep_tried, one_at_a_time
from compaction.drafting.summaries import Task, Tried, merged_artifact
from compaction.models import Artifact, DraftRun, SeedPackage, SeedStage
from compaction.review.desk import newest_of
from compaction.standing.accepting import accept_compaction
from efforts import actions as conversations
from efforts.actions import here
from efforts.actions.scopes import draft_turns, redraft_turns, stop_compaction
from efforts.context.planning import main_branch
from efforts.context.sources import read_scope_log
from efforts.domain.effort.notices import span_said
from efforts.domain.effort.states import TO_BE_DRAFTED, ScopeKind
from efforts.domain.errors import Refused
from efforts.domain.text.source_text import SourcePart
from efforts.log import events
from efforts.log.timelines import finished_turns
from efforts.models import AccountEvent, Branch, ScopeDraft, Session
from efforts.models.said import said
from efforts.turns.recording import count

if TYPE_CHECKING:
    from django.contrib.auth.models import User

MOST_STAGES = 8
VIA = "seed"
LONGEST_TITLE = 200

FROM_ONE, FROM = "From one conversation", "From {count} conversations"
NOTHING_SAID = "Nothing in it is finished yet."
TURN_TOO_LARGE = "Its turn {turn} has {tokens:,} tokens; a stage holds {most:,} at most, and no turn is cut."
NONE_CHOSEN = "Choose at least one conversation."
TOO_MANY = "These come to {stages} stages; a package has {most} at most. Choose fewer or shorter conversations."
NOT_PASSED = "Not every stage passes its checks yet, so there is nothing to put together."
NOT_READY = "This package is not ready to start from. Its page shows what is missing."
BEYOND = (
    "All stages together may need {most:,} tokens, and {left:,} are left of your day: those beyond it are made without "
    "a model."
)
NO_MODEL = "No model is set up to write summaries, and a package is made of them. Connect a model in Settings first."
OVER = "This package has started a conversation, or was stopped. Make a new one."


# What it would take


@dataclass(frozen=True, kw_only=True)
class Window:
    """Turns of one conversation that make one stage; `most` is what a model may use up for it, `exam` what that of its
    checker may, which is taken once for all; `note` says why none is asked, if one was meant."""

    session: Session
    branch: Branch
    turns: tuple[int, ...]
    tokens: int
    most: int = 0
    exam: int = 0
    model: str = ""
    note: str = ""

    @property
    def span(self) -> str:
        return span_said(self.turns[0], self.turns[-1])


@dataclass(frozen=True, kw_only=True)
class Offer:
    """What a package of these conversations would take; `refusal` says why it cannot be started."""

    windows: tuple[Window, ...]
    refused: tuple[tuple[Session, str], ...]
    refusal: str
    note: str = ""

    @property
    def tokens(self) -> int:
        return sum(window.tokens for window in self.windows)

    @property
    def most(self) -> int:
        return sum(window.most for window in self.windows) + self.exam

    @property
    def exam(self) -> int:
        return max((window.exam for window in self.windows), default=0)

    @property
    def conversations(self) -> int:
        return len({window.session.pk for window in self.windows})


def offer(user: User, sessions: Iterable[Session]) -> Offer:
    """Oldest conversation first: what was said later has the last word."""
    windows: list[Window] = []
    refused: list[tuple[Session, str]] = []
    for session in sorted(sessions, key=lambda one: (one.created_at, str(one.pk))):
        try:
            windows += windows_of(session)
        except Refused as error:
            refused.append((session, error.text))
    refusal = "" if windows else " ".join(why for _, why in refused) or NONE_CHOSEN
    if len(windows) > MOST_STAGES:
        refusal = TOO_MANY.format(stages=len(windows), most=MOST_STAGES)
    found = Offer(windows=tuple(map(priced, windows)), refused=tuple(refused), refusal=refusal)
    return replace(found, note=note_on(user, found))


def note_on(user: User, found: Offer) -> str:
    """Why no model drafts its windows, or not all."""
    if note := next((window.note for window in found.windows if window.note), ""):
        return note
    beyond = found.most and why_not(user, found.most)
    return BEYOND.format(most=found.most, left=left_today(user)) if beyond else ""


def priced(window: Window) -> Window:
    """By what its draft will be made of and with."""
    log = read_scope_log(window.branch, window.turns)
    task = scope_task(window.branch, log, ScopeKind.STAGE)
    if task.choice is None:
        return replace(window, note=task.note or NO_MODEL)
    return replace(window, model=task.choice.model, most=most_of(task), exam=exam_of(task))


def windows_of(session: Session) -> Iterator[Window]:
    """All that is finished in its main branch, in as few stages as hold it. Raises `Refused`."""
    branch = main_branch(session)
    sizes = sizes_of(branch)
    if not sizes:
        raise Refused("nothing", NOTHING_SAID)
    most = largest_of(session, Purpose.STAGE)
    if large := next((turn for turn, tokens in sizes.items() if tokens > most), None):
        raise Refused("too_large", TURN_TOO_LARGE.format(turn=large, tokens=sizes[large], most=most))
    return (
        Window(session=session, branch=branch, turns=tuple(turns), tokens=sum(sizes[turn] for turn in turns))
        for turns in packed(sizes.items(), most)
    )


def sizes_of(branch: Branch) -> dict[int, int]:
    """Tokens of each finished turn, as a drafter reads it."""
    numbers = finished_turns(branch, before=branch.head + 1).values_list("number", flat=True)
    parts: dict[int, list[SourcePart]] = {}
    for part in read_scope_log(branch, list(numbers)).source.parts:
        parts.setdefault(part.turn, []).append(part)
    # One more each for the line between two.
    return {turn: sum(count(part.rendered) + 1 for part in its) for turn, its in parts.items()}


# Stages


def create_package(user: User, sessions: Iterable[Session], title: str = "") -> SeedPackage:
    """Asked for twice it is one, while it is drafted. Raises `Refused` with the numbers."""
    offered = offer(user, sessions)
    if offered.refusal:
        raise Refused("refused", offered.refusal)
    named = title.strip()[:LONGEST_TITLE] or title_of(offered)
    with transaction.atomic():
        one_at_a_time(user.pk)
        if known := under_way(user, named, offered.windows):
            return known
        package = SeedPackage.objects.create(owner=user, title=named, state=PackageState.DRAFTING)
        for place, window in enumerate(offered.windows, 1):
            place_of_it = here(window.session, actor=user, branch=window.branch)
            draft = draft_turns(place_of_it, window.turns, ScopeKind.STAGE)
            SeedStage.objects.create(package=package, place=place, draft=draft)
        told = {"package": package.pk, "stages": len(offered.windows), "most": offered.most}
        events.account(user, "seed.requested", told)
    return package


def under_way(user: User, title: str, windows: Sequence[Window]) -> SeedPackage | None:
    wanted = [(window.branch.pk, list(window.turns)) for window in windows]
    drafting = SeedPackage.objects.filter(
        owner=user, title=title, state=PackageState.DRAFTING, stages__draft__state__in=TO_BE_DRAFTED
    )
    return next((one for one in drafting.distinct() if made_of(one) == wanted), None)


def made_of(package: SeedPackage) -> list[tuple[UUID, list[int]]]:
    return list(package.stages.order_by("place").values_list("draft__branch", "draft__turns"))


def title_of(offered: Offer) -> str:
    """In the language of whoever makes it."""
    return str(said(FROM_ONE if offered.conversations == 1 else FROM.format(count=offered.conversations)))


def standing_for(draft: ScopeDraft) -> Artifact | None:
    """What stands for a stage: the newest version of what was drafted, edits included."""
    made = Artifact.objects.filter(pk=draft.artifact).first() if draft.artifact else None
    return newest_of(made) if made else None


def passes(row: SeedStage) -> bool:
    artifact = standing_for(row.draft)
    if artifact is None or not artifact.is_current or artifact.kind != Kind.STAGE:
        return False
    if artifact.state != ArtifactState.REPLACEABLE:
        return False
    judged = artifact.last_judged
    return bool(judged and judged.passed and artifact.source_sha256 == stage_of(row).source.sha256)


def stages_of(package: SeedPackage) -> list[SeedStage]:
    return list(package.stages.select_related("draft__branch__session").order_by("place"))


def redraft_stage(package: SeedPackage, place: int, actor: User) -> None:
    with locked(package) as package:
        stage = package.stages.select_related("draft__branch__session").get(place=place)
        redraft_turns(here(stage.draft.branch.session, actor=actor, branch=stage.draft.branch), stage.draft)
        SeedPackage.objects.filter(pk=package.pk).update(state=PackageState.DRAFTING)


def stop_package(package: SeedPackage, actor: User) -> None:
    """Nothing more is drafted for it; what is drafted can still be read."""
    with locked(package) as package:
        for stage in stages_of(package):
            if stage.draft.state in TO_BE_DRAFTED:
                stop_compaction(here(stage.draft.branch.session, actor=actor, branch=stage.draft.branch), stage.draft)
        SeedPackage.objects.filter(pk=package.pk).update(state=PackageState.STOPPED)
        told = {"package": package.pk}
        events.account(package.owner, "seed.stopped", told, actor=actor)


def used_for(package: SeedPackage) -> int:
    """Tokens that the drafts of its stages have used up, their checks included."""
    return used_in(DraftRun.objects.filter(scope__stage__package=package)).tokens


def most_for(package: SeedPackage) -> int:
    """What was shown before it was begun."""
    begun = AccountEvent.objects.filter(owner=package.owner, kind="seed.requested", data__package=package.pk).first()
    return int(begun.data["most"]) if begun else 0


# Merged


def put_together(package: SeedPackage, actor: User) -> Artifact:
    """All stages as one, without a model; judged over all that they were made of. Raises `Refused`."""
    with locked(package) as package:
        rows = stages_of(package)
        if not rows or not all(passes(row) for row in rows):
            raise Refused("not_passed", NOT_PASSED)
        session = package.session
        if session is None:
            # Put away until it starts: its artifact can be reviewed there meanwhile.
            session = conversations.create_session(package.owner, title=package.title)
            session = conversations.archive_session(session, actor=package.owner)
        stages, checks = zip(*map(drafted, rows), strict=True)
        tried = merged_of(session, joined(stages), checks)
        keep_tried(tried)
        assert tried.artifact is not None
        row = Artifact.objects.get(pk=tried.artifact.artifact_id)
        state = PackageState.READY if row.state == ArtifactState.REPLACEABLE else PackageState.BLOCKED
        SeedPackage.objects.filter(pk=package.pk).update(state=state, artifact=row, session=session)
        told = {"package": package.pk, "artifact": row.pk}
        events.account(package.owner, "seed.merged", told, actor=actor)
        return row


@contextmanager
def locked(package: SeedPackage) -> Iterator[SeedPackage]:
    """The package as it is now, until the transaction ends; one that is over refuses all changes."""
    with transaction.atomic():
        now = SeedPackage.objects.select_for_update(of=("self",)).select_related("session", "owner").get(pk=package.pk)
        if now.state in (PackageState.STARTED, PackageState.STOPPED):
            raise Refused("over", OVER)
        yield now


def drafted(row: SeedStage) -> tuple[Stage, Checked | None]:
    """A stage with what stands for it, and what was found of that."""
    artifact, stage = standing_for(row.draft), stage_of(row)
    if artifact is None:
        return stage, None
    document = parse_artifact(artifact.document)
    return replace(stage, artifact=document), checked_of(artifact, document, stage.source)[0]


def merged_of(session: Session, source: Joined, checks: Sequence[Checked | None]) -> Tried:
    """By code alone: claims of all stages, each read in its stage."""
    home = SourceRef(
        session=str(session.pk),
        branch=str(main_branch(session).pk),
        effort=None,
        start=0,
        end=0,
        turns=(),
        source_sha256=source.sha256,
        source_tokens=count(source.said),
    )
    parts = [
        prefixed(stage.artifact.claims if stage.artifact else (), stage.place, cites=True) for stage in source.stages
    ]
    claims = merged(parts, ())
    gone = {claim.content for part in parts for claim in part} - {claim.content for claim in claims}
    task = Task(
        name=session.title,
        kind=Kind.SEED,
        source=source,
        ref=home,
        entries=read_ledger(session, source),
        cap=cap_of(Purpose.STAGE),
        check_cap=cap_of(Purpose.CHECK),
        largest=0,
        purpose=Purpose.STAGE,
    )
    bare = Tried(task=task, drafter="merge", ended=Ended.DRAFTED, offered=Offered(text="", form="document"))
    return merged_artifact(replace(bare, inherited=merged_checks(carried(source.stages, checks), gone)), claims)


# Started


def start_conversation(package: SeedPackage, actor: User) -> Session:
    """The new conversation, with what the package says in its first prompt. Raises `Refused`."""
    with locked(package) as package:
        seed = newest_version(package)
        if package.session is None or seed is None or package.state == PackageState.DRAFTING:
            raise Refused("not_ready", NOT_READY)
        # The branch is locked before the conversation, as everywhere.
        accept_compaction(seed.pk, package.session.pk, 0, 0, actor=actor, via=VIA)
        if package.session.archived_at:
            conversations.unarchive_session(package.session, actor=actor)
        SeedPackage.objects.filter(pk=package.pk).update(state=PackageState.STARTED, artifact=seed)
        started = {"package": package.pk, "session": str(package.session.pk), "artifact": seed.pk}
        events.account(package.owner, "seed.started", started, actor=actor)
        return package.session


def newest_version(package: SeedPackage) -> Artifact | None:
    """Of the merged artifact, which may have been edited in its review."""
    return newest_of(package.artifact) if package.artifact else None
