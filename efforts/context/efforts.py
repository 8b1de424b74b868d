"""Efforts as pages show them: where each stands, what it costs, where one left off."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum

from django.db.models import Q, QuerySet

from efforts.context.holds import leaves_in, read_standing
from efforts.context.ledger import entries_here
from efforts.context.plans import PlanView
from efforts.context.presence import seen_of
from efforts.context.scopes import ScopeRows, scope_rows
from efforts.context.words import WordView, draft_of_effort, view_of_effort
from efforts.domain.effort.chosen import RAW
from efforts.domain.effort.holds import turns_said
from efforts.domain.effort.policy import QUIET_TURNS
from efforts.domain.effort.states import EffortStatus, EntryKind, EntryState, PointerState, SummaryState
from efforts.domain.text.snippets import plainly
from efforts.log.timelines import branch_turns
from efforts.models import Branch, ContextPointer, Effort, EffortState, Message, Turn, TurnLabel
from efforts.models.prepared import prepared
from efforts.standins.seen import Seen, seen

# Of those concluded, the newest are listed at once and the others folded.
LISTED_CONCLUDED = 8
# Those concluded last, or found, that a page shows at most.
MOST_ROWS = 40
# Concluded, and no summary of its own stands or is to come by itself.
WITHOUT_SUMMARY = {
    SummaryState.NONE: "Not summarised",
    SummaryState.ROLLED_BACK: "Rolled back",
    SummaryState.COVERED: "Summarised with other turns",
}
EXCERPTS_STAND = "Concluded, as excerpts"
# Those of them that have left the prompt, that the list of what is left out names.
MOST_NAMED = 8
FIRST_WORDS = 140
LEFT_OFF = 6
# Turns before it leaves, from which on the panel says so.
SOON = 3


class Standing(StrEnum):
    """What an effort is to the next prompt, in the order of the panel."""

    ACTIVE = "active"
    OPEN = "open"
    EXPANDED = "expanded"
    AWAITING = "awaiting"
    CONCLUDED = "concluded"

    @property
    def label(self) -> str:
        return "Being summarised" if self is Standing.AWAITING else self.capitalize()

    @property
    def layer(self) -> str:
        """The section of the plan that holds it."""
        return "summary" if self is Standing.CONCLUDED else str(self)


# What an effort does when nothing has mentioned it for long.
DROPS_OUT = "drops out in {turns}", "drops out when you next switch efforts"
FADES = {
    Standing.EXPANDED: ("collapses in {turns}", "collapses when you next switch efforts"),
    Standing.AWAITING: ("gives way to excerpts in {turns}", "gives way to excerpts when you next switch efforts"),
}


@dataclass(frozen=True, kw_only=True)
class EffortView:
    """`tokens` is what its log adds to a prompt, `headline` one line of what can stand in for it, which is `digest`
    where it is of excerpts; `stands_by` names the artifact of that, `artifact` the draft that waits, and `rolled_back`
    the summary that stood last, where there is neither it nor another draft.
    `quotes`: `artifact` is excerpts that were rolled back.

    `quiet` is how many turns there have been since the last one in which it was active; `planned_tokens` what a plan
    has of it, where there is one, and `recalled_tokens` how much of that are passages recalled for its turns. It is
    `evicted` where its summary, or the log that awaits one, has left the prompt; else `leaves_in` so many turns that do
    not refer to it, its expansion first; where it is `focused` recall looks there first, and it stays.
    """

    slug: str
    name: str
    standing: Standing
    turns: int
    tokens: int
    headline: str = ""
    headline_tokens: int = 0
    opened_turn: int = 0
    active_turn: int = 0
    concluded_turn: int | None = None
    expanded_turn: int | None = None
    summary: SummaryState = SummaryState.NONE
    draft: str = ""
    artifact: str = ""
    digest: bool = False
    stands_by: str = ""
    rolled_back: str = ""
    quotes: bool = False
    word: WordView | None = None
    quiet: int = 0
    planned_tokens: int | None = None
    recalled_tokens: int = 0
    pinned: bool = False
    focused: bool = False
    evicted: bool = False
    leaves_in: int | None = None
    # What the model sees of its turns, where something stands for them.
    sees: str = ""

    @property
    def is_open(self) -> bool:
        return self.standing in (Standing.ACTIVE, Standing.OPEN)

    @property
    def label(self) -> str:
        """How it stands, in words."""
        if self.standing == Standing.AWAITING:
            word = self.word.text if self.word else self.standing.label
            return WITHOUT_SUMMARY.get(self.summary, word)
        quoted = self.standing == Standing.CONCLUDED and self.digest and not self.evicted
        return EXCERPTS_STAND if quoted else self.standing.label

    @property
    def is_sent_in_full(self) -> bool:
        """Concluded, and nothing stands for its turns or is to come by itself."""
        waits = self.word is not None or self.summary == SummaryState.NONE
        return self.standing == Standing.AWAITING and waits and not self.evicted

    @property
    def asks_conclusion(self) -> bool:
        return self.is_open and self.quiet >= QUIET_TURNS

    @property
    def prompt_tokens(self) -> int:
        if self.planned_tokens is not None:
            return self.planned_tokens
        if self.evicted:
            return 0
        return self.headline_tokens if self.standing == Standing.CONCLUDED else self.tokens

    @property
    def fades(self) -> str:
        """When it leaves the prompt by itself; empty where it stays, or has left."""
        if self.leaves_in is None or self.pinned or self.evicted:
            return ""
        soon, later = FADES.get(self.standing, DROPS_OUT)
        return soon.format(turns=turns_said(self.leaves_in)) if self.leaves_in else later

    @property
    def leaves_soon(self) -> bool:
        return self.leaves_in is not None and self.leaves_in <= SOON

    def mentions(self, query: str) -> bool:
        return all(word in f"{self.slug} {self.name} {self.headline}".casefold() for word in query.casefold().split())


@dataclass(frozen=True, kw_only=True)
class EffortsView:
    """The efforts of a branch, or those of them that a search found."""

    rows: tuple[EffortView, ...]
    total: int
    query: str = ""
    scopes: ScopeRows = field(default_factory=ScopeRows)

    @property
    def active(self) -> EffortView | None:
        return next((row for row in self.rows if row.standing == Standing.ACTIVE), None)

    @property
    def focus(self) -> EffortView | None:
        return next((row for row in self.rows if row.focused), None)

    @property
    def open(self) -> tuple[EffortView, ...]:
        return tuple(row for row in self.rows if row.is_open)

    @property
    def awaiting(self) -> tuple[EffortView, ...]:
        return tuple(row for row in self.rows if row.standing == Standing.AWAITING)

    @property
    def expanded(self) -> tuple[EffortView, ...]:
        return tuple(row for row in self.rows if row.standing == Standing.EXPANDED)

    @property
    def listed(self) -> tuple[EffortView, ...]:
        if self.query:
            return self.rows[:MOST_ROWS]
        at_work = (row for row in self.rows if row.standing != Standing.CONCLUDED)
        return (*at_work, *self.concluded[:LISTED_CONCLUDED])

    @property
    def folded(self) -> tuple[EffortView, ...]:
        return () if self.query else self.concluded[LISTED_CONCLUDED:MOST_ROWS]

    @property
    def unlisted(self) -> int:
        """How many more there are: found by their names, because a page of hundreds takes seconds to make."""
        return max(len(self.rows if self.query else self.concluded) - MOST_ROWS, 0)

    @property
    def concluded(self) -> tuple[EffortView, ...]:
        return tuple(row for row in self.rows if row.standing == Standing.CONCLUDED)


def dropped_out(branch: Branch) -> tuple[Effort, ...]:
    """Concluded efforts that have left the prompt, those concluded last first, as many as a page names."""
    gone = EffortState.objects.filter(branch=branch, status=EffortStatus.CONCLUDED, evicted_clock__isnull=False)
    rows = gone.select_related("effort").order_by("-concluded_turn", "effort__slug")
    return tuple(state.effort for state in rows[:MOST_NAMED])


def efforts_view(branch: Branch, *, query: str = "", plan: PlanView | None = None) -> EffortsView:
    """`plan`: of the next call, which may not have all of an effort."""
    rows = effort_views(branch)
    if plan and not plan.problem:
        rows = tuple(planned(row, plan) for row in rows)
    found = tuple(row for row in rows if row.mentions(query))
    return EffortsView(rows=found, total=len(rows), query=query.strip(), scopes=scope_rows(branch))


def planned(row: EffortView, plan: PlanView) -> EffortView:
    return replace(row, planned_tokens=plan.tokens_of(row.slug), recalled_tokens=plan.recalled_tokens_of(row.slug))


@prepared
def read_states(branch: Branch) -> QuerySet[EffortState]:
    return EffortState.objects.filter(branch=branch).select_related("effort")


@prepared
def read_pointers(branch: Branch) -> QuerySet[ContextPointer]:
    return ContextPointer.objects.filter(branch=branch, state=PointerState.ACTIVE, effort__isnull=False)


@prepared
def read_rolled_back(branch: Branch) -> QuerySet[ContextPointer, tuple[int, str, bool]]:
    gone = ContextPointer.objects.filter(branch=branch, state=PointerState.ROLLED_BACK, effort__isnull=False)
    return gone.order_by("pk").values_list("effort", "artifact", "digest")


def effort_views(branch: Branch) -> tuple[EffortView, ...]:
    """All efforts of the branch, as the panel orders them."""
    states = read_states(branch)
    # Most conversations have none.
    if not states:
        return ()
    standing = read_pointers(branch)
    pointers = {pointer.effort_id: pointer for pointer in standing}
    pinned = {row.effort_id for row in read_standing(branch)}
    drafts = seen([pointer.artifact for pointer in standing] + [state.artifact for state in states if state.artifact])
    back = read_rolled_back(branch)
    rolled_back = {effort: artifact for effort, artifact, digest in back if not digest}
    quotes = {artifact for _, artifact, digest in back if digest}
    seen_now = seen_of(branch, tuple(pointers.values()))
    views = (
        replace(
            effort_view(branch, state, pointers.get(state.effort_id), drafts),
            pinned=state.effort_id in pinned,
            quotes=state.artifact in quotes,
            rolled_back="" if state.artifact else rolled_back.get(state.effort_id, ""),
            sees=seen_now.get(pointers[state.effort_id].pk, "") if state.effort_id in pointers else "",
        )
        for state in states
    )
    return in_panel_order(views)


def effort_view(
    branch: Branch, state: EffortState, pointer: ContextPointer | None, seen: Mapping[str, Seen]
) -> EffortView:
    return EffortView(
        slug=state.effort.slug,
        name=state.effort.name,
        standing=standing_of(branch, state, pointer),
        turns=state.turns,
        tokens=state.tokens,
        headline=pointer.headline if pointer else "",
        headline_tokens=pointer.tokens if pointer else 0,
        opened_turn=state.opened_turn,
        active_turn=state.active_turn,
        concluded_turn=state.concluded_turn,
        expanded_turn=state.expanded_turn,
        summary=SummaryState(state.summary),
        draft=draft_of_effort(state, seen),
        artifact=state.artifact,
        digest=pointer.digest if pointer else False,
        stands_by=pointer.artifact if pointer else "",
        word=view_of_effort(state, seen) if state.status == EffortStatus.CONCLUDED else None,
        quiet=max(branch.head - max(state.active_turn, state.opened_turn), 0),
        evicted=state.evicted_clock is not None and state.status == EffortStatus.CONCLUDED,
        focused=state.effort_id == branch.focus_id,
        leaves_in=leaves_in(branch, state),
    )


def standing_of(branch: Branch, state: EffortState, pointer: ContextPointer | None) -> Standing:
    if state.status == EffortStatus.OPEN:
        return Standing.ACTIVE if branch.active_effort_id == state.effort_id else Standing.OPEN
    if state.expanded_turn is not None and (state.expanded_what == RAW or (pointer and pointer.body)):
        return Standing.EXPANDED
    return Standing.CONCLUDED if pointer else Standing.AWAITING


def in_panel_order(rows: Iterable[EffortView]) -> tuple[EffortView, ...]:
    ranks = {standing: rank for rank, standing in enumerate(Standing)}

    def place(row: EffortView) -> tuple[int, int, str]:
        latest = row.active_turn if row.is_open else row.expanded_turn or row.concluded_turn or 0
        return ranks[row.standing], -latest, row.slug

    return tuple(sorted(rows, key=place))


@dataclass(frozen=True, kw_only=True)
class LeftOff:
    """The last exchange of an effort, or of the conversation, by its first words."""

    effort: EffortView | None
    turn: int
    at: datetime
    asked: str
    answered: str


@dataclass(frozen=True, kw_only=True)
class WhereView:
    open: tuple[LeftOff, ...]
    untouched: tuple[EffortView, ...]
    awaiting: tuple[EffortView, ...]
    # What the person has written down and not done yet.
    todos: tuple[str, ...] = ()
    # Where no effort is open: the one that was concluded last, and the exchange that was said last, of any effort.
    concluded: EffortView | None = None
    last: LeftOff | None = None

    @property
    def is_empty(self) -> bool:
        return not (self.open or self.untouched or self.awaiting or self.todos)


def where_view(branch: Branch) -> WhereView:
    """What a person who comes back needs to go on; from rows alone."""
    rows = EffortsView(rows=effort_views(branch), total=0)
    left = [left_off(branch, row) for row in rows.open[:LEFT_OFF]]
    found = tuple(one for one in left if one)
    known = {one.effort.slug for one in found if one.effort}
    concluded = [row for row in rows.rows if row.standing in (Standing.EXPANDED, Standing.CONCLUDED)]
    mine = entries_here(branch).filter(kind=EntryKind.OPEN_WORK, state=EntryState.CONFIRMED)
    return WhereView(
        open=found,
        untouched=tuple(row for row in rows.open[:LEFT_OFF] if row.slug not in known),
        awaiting=rows.awaiting,
        todos=tuple(mine.order_by("pk").values_list("text", flat=True)),
        concluded=None if rows.open else max(concluded, key=lambda row: row.concluded_turn or 0, default=None),
        last=None if rows.open else last_said(branch),
    )


def left_off(branch: Branch, effort: EffortView) -> LeftOff | None:
    labels = TurnLabel.objects.filter(branch=branch, effort__slug=effort.slug).exclude(turn__run=None)
    label = labels.select_related("turn").order_by("-turn__number").first()
    if label is None:
        return None
    return exchange(label.turn, effort)


def last_said(branch: Branch) -> LeftOff | None:
    turn = branch_turns(branch).exclude(run=None).order_by("-number").first()
    return exchange(turn, None) if turn else None


def exchange(turn: Turn, effort: EffortView | None) -> LeftOff:
    said = Message.objects.filter(
        Q(role=Message.Role.USER) | Q(run=turn.run_id, role=Message.Role.ASSISTANT), turn=turn
    )
    words = {row.role: row.text for row in said.exclude(text="").order_by("id")}
    return LeftOff(
        effort=effort,
        turn=turn.number,
        at=turn.created_at,
        asked=first_words(words.get(Message.Role.USER, "")),
        answered=first_words(words.get(Message.Role.ASSISTANT, "")),
    )


def words_of_turn(branch: Branch, number: int) -> str:
    """The first words of what was asked in it; empty where there is no such turn."""
    asked = Message.objects.filter(turn__in=branch_turns(branch).filter(number=number), role=Message.Role.USER)
    return first_words(asked.values_list("text", flat=True).first() or "")


def first_words(text: str) -> str:
    line = " ".join(plainly(text).split())
    return line if len(line) <= FIRST_WORDS else line[:FIRST_WORDS].rsplit(" ", 1)[0] + " …"
