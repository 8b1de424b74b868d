"""What waits for a reviewer, what is being drafted, what is blocked, and what came of the rest."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.contrib.auth.models import AnonymousUser, User
from django.core.paginator import Page, Paginator
from django.db.models import Case, Count, Exists, OuterRef, Q, QuerySet, Subquery, TextChoices, When
from django.db.models.functions import Coalesce

from compaction.domain.artifact import SCHEMA_VERSION, Kind, parse_artifact
from compaction.domain.lifecycle import ArtifactState
from compaction.domain.verdicts import Outcome
from compaction.drafting.costs import spent_by_family
from compaction.drafting.reading import person_read
from compaction.models import Artifact, Check, ClaimVerdict, GateRun, Reviewer
from compaction.pages.presenters.artifact import title_of
from compaction.pages.presenters.gates import GATES, RECORDED, GateView, gates_of, readers_of, unread
from compaction.standing.blockers import OF_POINTER, OF_STATE
from compaction.standing.history import accepted_by_people
from efforts.context.presence import Presence, presences_of
from efforts.context.words import WordView
from efforts.domain.effort.notices import span_said
from efforts.domain.effort.states import TO_BE_DRAFTED, EffortStatus, PointerState, ScopeState, SummaryState
from efforts.domain.text.canonical import canonical_json, sha256
from efforts.models import Branch, ContextPointer, EffortState, ScopeDraft, Session, TurnLabel
from efforts.models.prepared import in_one_row, prepared
from efforts.models.said import OwnWords
from efforts.standins.seen import Word

Person = User | AnonymousUser

ON_A_PAGE = 25
EXCERPTS = "Quotes, word for word. No model has checked what they leave out."
NO_QUOTES = "No sentence of these turns is quoted: each was too long."
ONLY_RECORDED = "No gate fails, but the answers of its check were recorded for the example."
UNDER_WAY = (SummaryState.DUE, SummaryState.DRAFTING)


class Tab(TextChoices):
    NEEDS_ME = "needs-me", "Waits for you"
    RUNNING = "running", "Being prepared"
    NOT_CHECKED = "not-checked", "Not checked"
    BLOCKED = "blocked", "Blocked"
    ACCEPTED = "accepted", "In use"
    ROLLED_BACK = "rolled-back", "No longer in use"


@dataclass(frozen=True, kw_only=True)
class QueueRow:
    """A summary, or one that is being drafted: `artifact` is None then. `reviewers` have said something of it. Shown by
    `templates/review/queue_list.html`, in the columns of `static/css/queue.css`."""

    title: str
    session: Session
    first: int | None
    last: int | None
    # Where it is not the trunk.
    branch: str
    at: datetime | None
    artifact: Artifact | None = None
    gates: tuple[GateView, ...] = ()
    word: WordView | None = None
    spent: int = 0
    # By whom, of what stands; nobody where it came into use without a review.
    accepted_by: str = ""
    reviewers: tuple[str, ...] = ()
    doing: str = ""

    @property
    def says(self) -> str:
        """What the gates say, the one that fails first; of excerpts they can say little."""
        if self.is_quotes:
            return NO_QUOTES if self.artifact and quotes_nothing(self.artifact) else EXCERPTS
        for wanted in (Outcome.FAIL, Outcome.NOT_JUDGED):
            if found := next((gate for gate in self.gates if gate.outcome == wanted), None):
                return f"{found.name}: {found.says}"
        if any(gate.outcome == RECORDED for gate in self.gates):
            return ONLY_RECORDED
        return "It passes every gate." if self.gates else ""

    @property
    def is_quotes(self) -> bool:
        return self.artifact is not None and self.artifact.kind == Kind.DIGEST

    @property
    def span(self) -> str:
        return span_said(self.first, self.last)

    @property
    def key(self) -> str:
        return self.artifact.pk if self.artifact else f"{self.session.pk}-{self.title}-{self.first}"


@dataclass(frozen=True, kw_only=True)
class Queue:
    tab: Tab
    counts: tuple[tuple[Tab, int], ...]
    page: Page[Any]
    rows: tuple[QueueRow, ...]
    # Excerpts that stand: told where they are looked for.
    excerpts: int = 0

    @property
    def gates(self) -> str:
        """Which letter is which."""
        return ", ".join(f"{letter} {name.lower()}" for letter, (name, *_) in GATES.items())

    @property
    def is_running(self) -> bool:
        return dict(self.counts)[Tab.RUNNING] > 0

    @property
    def stamp(self) -> str:
        """The same as long as nothing has changed but the time that has passed."""
        shown = [[row.key, row.doing, *row.reviewers, *(gate.outcome for gate in row.gates)] for row in self.rows]
        return sha256(canonical_json([self.counts, self.page.number, shown]))[:16]


def queue_of(user: Person, tab: Tab, number: int | str = 1) -> Queue:
    """As many queries however many there are."""
    lists: dict[Tab, Any] = {one: of_tab(user, one) for one in Tab if one != Tab.RUNNING}
    lists[Tab.RUNNING] = running(user)
    pages = {one: Paginator(found, ON_A_PAGE) for one, found in lists.items()}
    page = pages[tab].get_page(number)
    on_page = list(page.object_list)
    rows = tuple(on_page if tab == Tab.RUNNING else rows_of(on_page))
    looked_for = tab == Tab.NOT_CHECKED or (tab == Tab.NEEDS_ME and not rows)
    excerpts = lists[Tab.ACCEPTED].filter(kind=Kind.DIGEST).count() if looked_for else 0
    counts = tuple((one, pages[one].count) for one in Tab)
    return Queue(tab=tab, counts=counts, page=page, rows=rows, excerpts=excerpts)


def needs_me(user: Person) -> int:
    """Asked by every page."""
    if not user.is_authenticated:
        return 0
    [(waiting,)] = count_waiting(user.pk)
    return waiting


@prepared
def count_waiting(person: int) -> QuerySet[Any, tuple[int, ...]]:
    return in_one_row(of_tab(User(pk=person), Tab.NEEDS_ME), waiting=Count("pk"))


def next_in_queue(user: User, after: Artifact | None = None) -> Artifact | None:
    """What waits for the person next: what came after the first version of that one, else the first of all."""
    waiting = of_tab(user, Tab.NEEDS_ME)
    if after is None:
        return waiting.first()
    others = waiting.exclude(family=after.family)
    begun = Artifact.objects.filter(pk=after.family).values("created_at")
    return others.filter(created_at__gte=Subquery(begun)).first() or others.first()


# Which summaries


def of_tab(user: Person, tab: Tab) -> QuerySet[Artifact]:
    mine = Artifact.objects.reviewable_by(user).select_related("session", "effort", "branch")
    if tab == Tab.ACCEPTED:
        return mine.filter(stood(PointerState.ACTIVE)).order_by("-created_at", "pk")
    if tab == Tab.ROLLED_BACK:
        return mine.annotate(left=last_stood()).filter(left__in=OF_POINTER).order_by("-created_at", "pk")
    return current(mine).filter(UNDECIDED[tab]).order_by("created_at", "pk")


def blocked() -> Q:
    """By a gate: what a person rejected waits for nobody, and the gates have no tag for it."""
    newer = GateRun.objects.filter(artifact=OuterRef("artifact"), pk__gt=OuterRef("pk"))
    last = GateRun.objects.filter(~Exists(newer), artifact=OuterRef("pk"))
    rejected = Q(state=ArtifactState.REJECTED) & Q(Exists(last.exclude(tags=[])))
    return Q(state=ArtifactState.ADVISORY) | rejected


# A stage of a package never stands by itself.
ALONE = ~Q(kind__in=(Kind.STAGE, Kind.SEED))
UNDECIDED = {
    Tab.NEEDS_ME: ALONE & Q(state=ArtifactState.REPLACEABLE),
    Tab.NOT_CHECKED: ALONE & Q(state=ArtifactState.UNCHECKED),
    Tab.BLOCKED: blocked(),
}


def current(artifacts: QuerySet[Artifact]) -> QuerySet[Artifact]:
    """The last word on its turns, as far as nothing has stood for them by it, and no other draft is on its way.

    Excerpts are that only where somebody waits for them; what is of an earlier form can only be drafted again.
    """
    drafts = Artifact.objects.exclude(kind=Kind.DIGEST)
    alike = drafts.filter(branch=OuterRef("branch"), created_at__gt=OuterRef("created_at"))
    of_effort = alike.filter(effort=OuterRef("effort"))
    of_scope = alike.filter(
        effort=None, source_start=OuterRef("source_start"), source_end=OuterRef("source_end"), kind=OuterRef("kind")
    )
    open_again = EffortState.objects.filter(branch=OuterRef("branch"), effort=OuterRef("effort"))
    open_again = open_again.filter(Q(status=EffortStatus.OPEN) | Q(summary__in=UNDER_WAY))
    awaited = ScopeDraft.objects.filter(branch=OuterRef("branch"), state=ScopeState.READY, artifact=OuterRef("pk"))
    found = artifacts.filter(~Exists(of_effort), ~Exists(open_again), ~stood(), schema_version=SCHEMA_VERSION)
    found = found.filter(~Q(kind=Kind.DIGEST) | Exists(awaited))
    return found.filter(Q(effort__isnull=False) | ~Exists(of_scope))


def stood(*states: PointerState) -> Exists:
    """Whether it stands, or has stood, in its own branch or in one that took it along."""
    pointers = ContextPointer.objects.filter(branch__session=OuterRef("session"), artifact=OuterRef("pk"))
    return Exists(pointers.filter(state__in=states) if states else pointers)


def last_stood() -> Subquery:
    """The state that it was left in, in whatever branch; one in which it stands comes first."""
    pointers = ContextPointer.objects.filter(branch__session=OuterRef("session"), artifact=OuterRef("pk"))
    stands = Case(When(state=PointerState.ACTIVE, then=1), default=0)
    return Subquery(pointers.order_by(stands.desc(), "-pk").values("state")[:1])


# What of them is shown


def rows_of(artifacts: Sequence[Artifact]) -> Iterator[QueueRow]:
    keys = [one.pk for one in artifacts]
    runs = {run.artifact_id: run for run in GateRun.objects.filter(artifact__in=keys).order_by("pk")}
    active = list(ContextPointer.objects.filter(state=PointerState.ACTIVE, artifact__in=keys).select_related("actor"))
    present = presences_of(active)
    # In its own branch, where it stands there.
    own = {(one.pk, one.branch_id) for one in artifacts}
    active.sort(key=lambda one: (one.artifact, one.branch_id) in own)
    standing = {one.artifact: present[one.pk] for one in active}
    agreed = accepted_by_people([one.pk for one in active])
    by = {one.artifact: one.actor.get_username() for one in active if one.actor and one.pk in agreed}
    spent = spent_by_family({one.family for one in artifacts})
    checks: dict[str, list[Check]] = {}
    for check in Check.objects.filter(family__in=set(spent)).order_by("pk"):
        checks.setdefault(check.family, []).append(check)
    said: dict[str, dict[str, None]] = {}
    verdicts = ClaimVerdict.objects.filter(artifact__in=keys).order_by("pk")
    for key, name in verdicts.values_list("artifact", "reviewer__username"):
        said.setdefault(key, {})[name] = None
    handed_in = ClaimVerdict.objects.filter(artifact__family__in=set(spent), submitted_at__isnull=False)
    looked_at = set(handed_in.values_list("artifact__family", flat=True))
    for one in artifacts:
        unread_as = unread(checks.get(one.family, ()), ())
        # Who has read every claim is much to read, and asked only where that decides.
        if unread_as and one.family in looked_at and readers(one):
            unread_as = ""
        yield QueueRow(
            title=title_of(one),
            session=one.session,
            first=one.source_start,
            last=one.source_end,
            branch=named(one.branch),
            at=one.created_at,
            artifact=one,
            # Of an earlier form only the texts are known.
            gates=gates_of(one, runs.get(one.pk), unread_as) if one.is_current else (),
            word=word_of(one, standing.get(one.pk)),
            accepted_by=by.get(one.pk, ""),
            spent=spent[one.family],
            reviewers=tuple(said.get(one.pk, ())),
        )


def readers(one: Artifact) -> tuple[str, ...]:
    document = parse_artifact(one.document)
    read = person_read(one, document)
    return readers_of([read.opinions.get(claim.content, ()) for claim in document.claims]) if read else ()


def quotes_nothing(one: Artifact) -> bool:
    return one.kind == Kind.DIGEST and one.is_current and parse_artifact(one.document).quotes_nothing


def word_of(artifact: Artifact, presence: Presence | None) -> WordView:
    if presence:
        return WordView(word=Word.STANDS, quotes=artifact.kind == Kind.DIGEST, presence=presence)
    left = getattr(artifact, "left", "")
    return WordView(word=OF_POINTER[PointerState(left)] if left else OF_STATE[ArtifactState(artifact.state)])


def running(user: Person) -> list[QueueRow]:
    """What has begun longest ago comes first, efforts before chosen turns."""
    named = Reviewer.objects.filter(user=int(user.pk or 0)).values("session")
    mine = (Q(branch__session__owner=user.pk) | Q(branch__session__in=named)) & Q(branch__session__erase_at=None)
    efforts = EffortState.objects.filter(mine, status=EffortStatus.CONCLUDED, summary__in=UNDER_WAY)
    scopes = ScopeDraft.objects.filter(mine, state__in=TO_BE_DRAFTED)
    # A turn that was there before an effort began, or one moved out of it, is none of its own.
    labels = TurnLabel.objects.filter(branch=OuterRef("branch"), effort=OuterRef("effort")).order_by("turn__number")
    numbers = labels.values("turn__number")
    efforts = efforts.annotate(
        first=Coalesce(Subquery(numbers[:1]), "opened_turn"),
        last=Coalesce(Subquery(numbers.reverse()[:1]), "concluded_turn"),
    )
    return [
        *map(of_effort, efforts.select_related("effort", "branch__session").order_by("pk")),
        *map(of_scope, scopes.select_related("branch__session").order_by("pk")),
    ]


def of_effort(state: Any) -> QueueRow:
    """With the numbers of its first and last turn."""
    return QueueRow(
        title=OwnWords(state.effort.name),
        session=state.branch.session,
        first=state.first,
        last=state.last,
        branch=named(state.branch),
        at=None,
        doing=doing(state.summary == SummaryState.DRAFTING),
    )


def of_scope(draft: ScopeDraft) -> QueueRow:
    return QueueRow(
        title="Chosen turns",
        session=draft.branch.session,
        first=draft.turns[0],
        last=draft.turns[-1],
        branch=named(draft.branch),
        at=draft.created_at,
        doing=doing(draft.state == ScopeState.DRAFTING),
    )


def named(branch: Branch) -> str:
    return branch.label if branch.parent_id else ""


def doing(begun: bool) -> str:
    return "Being prepared" if begun else "Waiting to be prepared"
