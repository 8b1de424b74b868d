"""The three tiers of memory, and what keeps one effort in the first of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Count, Q, QuerySet, Sum

from efforts.context import mentions
from efforts.context.efforts import EffortsView, EffortView, Standing, effort_views, efforts_view
from efforts.context.keywords import Keyword
from efforts.context.plans import PlanView
from efforts.context.references import keywords_here
from efforts.domain.effort.ageing import turns_left
from efforts.domain.effort.chosen import BODY, span_of
from efforts.domain.effort.holds import turns_said
from efforts.domain.effort.notices import span_said
from efforts.domain.effort.states import PointerState, RunState
from efforts.domain.text.terms import spelled
from efforts.log.timelines import branch_events, branch_turns
from efforts.memory.ageing import AGED
from efforts.models import Branch, ContextPointer, Event, Message
from efforts.standins.chosen import find_chosen

# Of what referred to an effort, the latest are shown; of what left and came back, in all the conversation.
MOST = 8
LATEST = 12
REFERENCED, REFERENCED_CHOSEN = "effort.referenced", "compaction.referenced"
HOW = {
    "name": "called it by its name",
    "keywords": "has words of its summary",
    "read": "read it",
    "search": "found it by a search",
}
WHO = {"user": "Your message", "assistant": "The reply", "tool": "The model"}
MOVES = {
    "effort.concluded": "Concluded",
    "effort.summarised": "Its summary replaced its log",
    "effort.digested": "Excerpts replaced its log",
    "effort.rolled_back": "Its summary was rolled back",
    "effort.reopened": "Reopened: its log is in the prompt",
    "effort.expanded": "Expanded: its log came back",
    "effort.collapsed": "Collapsed: its summary is used again",
    "effort.decayed": "Collapsed automatically: nothing mentioned it",
    "effort.aged": "Excerpts replaced its log: nothing mentioned it",
    "effort.evicted": "Dropped out of the prompt: nothing mentioned it",
    "effort.undone": "Taken back",
}
MOVES_OF_CHOSEN = {
    "compaction.expanded": "Expanded: their words came back",
    "compaction.collapsed": "Collapsed: their summary is used again",
    "compaction.decayed": "Collapsed automatically: nothing mentioned them",
    "compaction.shortened": "One line replaced the summary: nothing mentioned them",
    "compaction.evicted": "The line dropped out of the prompt: nothing mentioned them",
    "compaction.undone": "Taken back",
}
# What the age of an effort is counted from, by the event that it is.
COUNTED_FROM = {
    "effort.opened": "They are counted from turn {turn}, in which it was opened.",
    "effort.concluded": "They are counted from turn {turn}, in which it was concluded.",
    "effort.reopened": "They are counted from turn {turn}, in which it was reopened.",
    "effort.expanded": "They are counted from turn {turn}, in which it was expanded.",
    "effort.collapsed": "They are counted from turn {turn}, in which it was collapsed.",
    "effort.decayed": "They are counted from turn {turn}, in which it was collapsed.",
    "effort.referenced": "They are counted from turn {turn}, in which it was mentioned.",
    "effort.focused": "They are counted from turn {turn}, in which it was put in focus.",
    "effort.unfocused": "They are counted from turn {turn}, in which it was taken out of focus.",
    "effort.aged": "They are counted from turn {turn}, in which it was replaced by excerpts.",
    "effort.undone": "They are counted from turn {turn}, in which it was changed back.",
}
LAST_USED = "They are counted from turn {turn}, in which it was last used."
EXCERPTS_BACK = "Its excerpts were rolled back"
WHOLE_AGAIN = "Expanded: the whole summary came back"
RETURNED = "Came back: something mentioned it"
# Of references only those that brought something back.
MOVED = Q(kind__in=MOVES) & ~Q(kind="effort.digested", data__accepted=AGED) | Q(kind=REFERENCED, data__back=True)
MOVED_CHOSEN = Q(kind__in=MOVES_OF_CHOSEN) | Q(kind=REFERENCED_CHOSEN, data__back=True)


@dataclass(frozen=True, kw_only=True)
class ReferenceView:
    turn: int
    who: str
    how: str
    words: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class MemoryMove:
    turn: int
    text: str
    effort: str
    # The effort's.
    name: str


@dataclass(frozen=True, kw_only=True)
class KeptBy:
    """What keeps something in the prompt; the newest of both lists first."""

    keywords: tuple[Keyword, ...]
    references: tuple[ReferenceView, ...]
    moves: tuple[MemoryMove, ...]

    @property
    def telling(self) -> tuple[str, ...]:
        return tuple(one.word for one in self.keywords if not one.is_common)

    @property
    def common(self) -> tuple[str, ...]:
        return tuple(one.word for one in self.keywords if one.is_common)


@dataclass(frozen=True, kw_only=True)
class EffortMemory(KeptBy):
    """`unreferenced`: completed turns since the last reference, or since what else its age is counted from, which
    `counted_from` tells."""

    effort: EffortView
    unreferenced: int
    counted_from: str


@dataclass(frozen=True, kw_only=True)
class ChosenMemory(KeptBy):
    """Of chosen turns. `tier`: how their summary stands in the prompt, empty where none stands for them any more; it
    gives way in so many turns without a reference."""

    id: str
    span: str
    tier: str = ""
    gives_way_in: int = 0

    @property
    def gives_way(self) -> str:
        return f"in {turns_said(self.gives_way_in)}" if self.gives_way_in else "when you next switch efforts"


@dataclass(frozen=True, kw_only=True)
class MemoryView:
    """`raw`: how many turns, messages and tokens the log has; `moved`: how often, by the kind of the event; `replaced`:
    the turns of an effort by a summary or excerpts."""

    efforts: EffortsView
    raw: Mapping[str, int]
    moves: tuple[MemoryMove, ...]
    moved: dict[str, int] = field(default_factory=dict)

    @property
    def replaced(self) -> int:
        return sum(self.moved.get(kind, 0) for kind in ("summarised", "digested", "aged"))

    @property
    def shown(self) -> tuple[EffortView, ...]:
        return tuple(row for row in self.efforts.rows if not row.evicted and row.standing != Standing.CONCLUDED)

    @property
    def summaries(self) -> tuple[EffortView, ...]:
        return tuple(row for row in self.efforts.concluded if not row.evicted)

    @property
    def expanded(self) -> tuple[EffortView, ...]:
        return tuple(row for row in self.efforts.expanded if not row.evicted)

    @property
    def waiting(self) -> tuple[EffortView, ...]:
        """Concluded, and nothing replaces their turns yet."""
        return tuple(row for row in self.efforts.awaiting if not row.evicted)

    @property
    def evicted(self) -> tuple[EffortView, ...]:
        return tuple(row for row in self.efforts.rows if row.evicted)

    @property
    def concluded(self) -> int:
        return sum(not row.is_open for row in self.efforts.rows)

    @property
    def manifest_tokens(self) -> int:
        return sum(row.headline_tokens for row in self.efforts.rows)


def effort_memory(branch: Branch, slug: str) -> EffortMemory | None:
    effort = next((row for row in effort_views(branch) if row.slug == slug), None)
    if effort is None:
        return None
    events = branch_events(branch).filter(data__effort=slug)
    state = branch.effort_states.get(effort__slug=slug)
    standing = ContextPointer.objects.filter(branch=branch, effort=state.effort_id, state=PointerState.ACTIVE).first()
    references = events.filter(kind=REFERENCED).order_by("-seq")[:MOST]
    unreferenced = max(branch.clock - state.referenced_clock, 0)
    # Its number; None where there are not so many.
    completed = branch_turns(branch).filter(run__state=RunState.COMPLETED).order_by("-number")
    since = next(iter(completed.values_list("number", flat=True)[unreferenced : unreferenced + 1]), None)
    return EffortMemory(
        effort=effort,
        unreferenced=unreferenced,
        counted_from=counted_from(events, state.referenced_clock).format(turn=since) if since else "",
        keywords=tuple(keywords_here(branch, standing)) if standing else (),
        references=reference_views(branch, references),
        moves=moves_of(events.filter(MOVED).order_by("-seq")[:MOST], {}),
    )


def counted_from(events: QuerySet[Event], clock: int) -> str:
    """What happened last to the effort of these events at that clock."""
    row = events.filter(kind__in=COUNTED_FROM, data__clock=clock).order_by("-seq").first()
    return COUNTED_FROM[row.kind] if row else LAST_USED


def chosen_memory(branch: Branch, id: str) -> ChosenMemory | None:
    """None where no summary of just these turns has ever stood here."""
    one = find_chosen(branch, id)
    events = branch_events(branch).filter(data__id=id)
    moves = moves_of(events.filter(MOVED_CHOSEN).order_by("-seq")[:MOST], {})
    if not (one or moves):
        return None
    session = branch.session
    threshold = session.decay_threshold if one and one.is_expanded else session.eviction_threshold
    references = events.filter(kind=REFERENCED_CHOSEN).order_by("-seq")[:MOST]
    return ChosenMemory(
        id=id,
        span=span_said(*(span_of(id) or (0, 0))),
        tier=one.tier if one else "",
        gives_way_in=turns_left(branch.clock, one.since, threshold) if one else 0,
        keywords=tuple(mentions.keywords_here(branch, one.pointer)) if one else (),
        references=reference_views(branch, references),
        moves=moves,
    )


def reference_views(branch: Branch, rows: Iterable[Event]) -> tuple[ReferenceView, ...]:
    told = [row.data for row in rows]
    ids = [data["message"] for data in told if data["how"] == "keywords" and "message" in data]
    texts = dict(Message.objects.filter(session=branch.session_id, pk__in=ids).values_list("pk", "text"))
    return tuple(reference_view(data, texts.get(data.get("message"), "")) for data in told)


def reference_view(data: dict[str, Any], text: str) -> ReferenceView:
    """Its words as they were said in `text`: the event has their stems."""
    typed = spelled(text)
    words = tuple(typed.get(word, word) for word in data.get("words", ()))
    return ReferenceView(turn=data["turn"], who=WHO[data["by"]], how=HOW[data["how"]], words=words)


def moves_of(rows: Iterable[Event], names: Mapping[str, str]) -> tuple[MemoryMove, ...]:
    """What left the prompt and what came back. `names`: of efforts, by their ids."""
    return tuple(move_of(row, row.data.get("effort") or row.data["id"], names) for row in rows)


def move_of(row: Event, id: str, names: Mapping[str, str]) -> MemoryMove:
    turn = row.data.get("stands_from", row.data["turn"])
    return MemoryMove(turn=turn, text=moved(row), effort=id, name=names.get(id, id))


def moved(row: Event) -> str:
    if row.kind == "effort.rolled_back" and row.data.get("digest"):
        return EXCERPTS_BACK
    whole = row.kind == "compaction.expanded" and row.data["what"] == BODY
    return WHOLE_AGAIN if whole else {**MOVES, **MOVES_OF_CHOSEN}.get(row.kind, RETURNED)


def memory_view(branch: Branch, plan: PlanView) -> MemoryView:
    """`plan`: of the next call."""
    events = branch_events(branch).filter(MOVED).exclude(data__effort=None)
    shown = efforts_view(branch, plan=plan)
    names = {row.slug: row.name for row in shown.rows}
    moved = Counter(kind.partition(".")[2] for kind in events.values_list("kind", flat=True))
    turns = branch_turns(branch)
    sums = turns.aggregate(turns=Count("id"), tokens=Sum("tokens", default=0))
    messages = Message.objects.filter(session=branch.session_id, turn__in=turns.values("pk")).count()
    return MemoryView(
        efforts=shown,
        raw={**sums, "messages": messages},
        moves=moves_of(events.order_by("-seq")[:LATEST], names),
        moved=dict(moved),
    )
