"""Decisions and open work, as pages and compactions see them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.db.models import Count, Q, QuerySet

from efforts.context.constraints import ConstraintsView, constraints_view
from efforts.domain.effort.states import LIVE_ENTRIES, ConstraintState, EntryBy, EntryKind, EntryState
from efforts.domain.prompt.conversation import LedgerNote
from efforts.log.timelines import in_timeline
from efforts.models import Branch, Constraint, ContextPointer, Event, LedgerEntry, Message, PointerTurn, Session
from efforts.models.prepared import prepared
from efforts.models.said import OwnWords
from efforts.standins.seen import Seen, seen

CONSTRAINT = "constraint"
EMPTY = {
    EntryKind.DECISION: "None kept. Keep one from any message, or answer when the model proposes one.",
    EntryKind.OPEN_WORK: "None kept. Keep it from any message; mark it done here when it is.",
}
# Of those that have ended, a page lists the newest.
MOST_PAST = 100
# Of those that a prompt may tell; its room decides.
MOST_NOTED = 40


@dataclass(frozen=True, kw_only=True)
class StateLook:
    """How a page shows a state: never by colour alone."""

    label: str
    icon: str
    css: str = ""


LOOKS = {
    EntryState.PROPOSED: StateLook(label="Proposed", icon="awaiting", css="warn"),
    EntryState.CONFIRMED: StateLook(label="On your list", icon="keep", css="on"),
    EntryState.SUPERSEDED: StateLook(label="Superseded", icon="to"),
    EntryState.DONE: StateLook(label="Done", icon="check", css="ok"),
    EntryState.DISMISSED: StateLook(label="Dismissed", icon="cross"),
}
DONE_QUESTION = StateLook(label="Done?", icon="awaiting", css="warn")


@dataclass(frozen=True, kw_only=True)
class EntryPlace:
    """Of a summary, or excerpts (`quotes`), that have replaced a turn: whether it tells an entry. `of`: an effort's
    name, or chosen turns."""

    artifact: str
    of: str
    lost: bool
    later: bool
    quotes: bool = False


@dataclass(frozen=True, kw_only=True)
class LedgerView:
    """`kind` is decision, open_work or constraint, `state` as its kind has them.

    `message` is the source and `turn` the number of its turn; `start` and `end` are the characters of the words there,
    or all of it where `text` is not `verbatim`, and `said` what they are, where `text` has others. `superseded_by` is
    the text of what replaced it, `place` the summary that has replaced its turn in the prompt.
    """

    id: int
    kind: str
    state: str
    text: str
    message: int
    turn: int
    start: int
    end: int
    verbatim: bool = True
    by: str = EntryBy.PERSON
    seems_done: bool = False
    ended_turn: int | None = None
    superseded_by: str = ""
    said: str = ""
    place: EntryPlace | None = None

    @property
    def name(self) -> str:
        return self.kind.replace("_", " ")

    @property
    def is_live(self) -> bool:
        return self.state in LIVE_ENTRIES

    @property
    def waits(self) -> bool:
        return self.seems_done or self.state == EntryState.PROPOSED

    @property
    def look(self) -> StateLook:
        return DONE_QUESTION if self.seems_done else LOOKS[EntryState(self.state)]

    @property
    def said_by(self) -> str:
        return "the model" if self.by == EntryBy.MODEL else "you"


@dataclass(frozen=True, kw_only=True)
class EntriesView:
    """Of one kind, oldest first; what has ended newest first."""

    kind: EntryKind
    waiting: tuple[LedgerView, ...]
    kept: tuple[LedgerView, ...]
    past: tuple[LedgerView, ...]
    not_listed: int = 0

    @property
    def key(self) -> str:
        return str(self.kind)

    @property
    def title(self) -> str:
        return "Decisions" if self.kind == EntryKind.DECISION else "To-dos"

    @property
    def past_title(self) -> str:
        return f"{len(self.past) + self.not_listed} {'superseded' if self.kind == EntryKind.DECISION else 'done'}"

    @property
    def empty(self) -> str:
        """What teaches the next step."""
        return EMPTY[self.kind]


@dataclass(frozen=True, kw_only=True)
class LedgerCounts:
    """What the person keeps, and how much waits for an answer."""

    decisions: int
    open_work: int
    waiting: int

    @property
    def is_empty(self) -> bool:
        return not (self.decisions or self.open_work or self.waiting)


@dataclass(frozen=True, kw_only=True)
class LedgerPage:
    decisions: EntriesView
    open_work: EntriesView
    rules: ConstraintsView

    @property
    def sections(self) -> tuple[EntriesView, ...]:
        return self.decisions, self.open_work


def entries_of(session: Session, messages: Collection[int]) -> tuple[LedgerView, ...]:
    """What comes from these messages, in the order in which it was noted: entries in every state, and the rules that
    are in force or were."""
    rows = LedgerEntry.objects.filter(session=session, source__in=messages)
    rules = Constraint.objects.filter(session=session, source__in=messages, pk__in=ever_in_force(session))
    return (*views_of(rows), *map(rule_view, rules.select_related("source__turn").order_by("pk")))


def ever_in_force(session: Session) -> set[int]:
    """The rules that a person has had, as against suggestions that wait, or were dismissed."""
    told = Event.objects.filter(session=session, kind="constraint.set")
    return set(told.values_list("data__constraint", flat=True))


def ledger_page(branch: Branch) -> LedgerPage:
    return LedgerPage(
        decisions=entries_view(branch, EntryKind.DECISION),
        open_work=entries_view(branch, EntryKind.OPEN_WORK),
        rules=constraints_view(branch),
    )


def entries_view(branch: Branch, kind: EntryKind) -> EntriesView:
    rows = entries_here(branch).filter(kind=kind)
    live = placed(branch, views_of(rows.filter(state__in=LIVE_ENTRIES)))
    # What nobody wanted is on record, and no news.
    past = rows.filter(state__in=(EntryState.SUPERSEDED, EntryState.DONE)).order_by("-changed_at", "-pk")
    return EntriesView(
        kind=kind,
        waiting=tuple(one for one in live if one.waits),
        kept=tuple(one for one in live if not one.waits),
        past=views_of(past)[:MOST_PAST],
        not_listed=max(past.count() - MOST_PAST, 0),
    )


def entries_here(branch: Branch) -> QuerySet[LedgerEntry]:
    """What comes from the turns of its timeline."""
    return LedgerEntry.objects.filter(in_timeline(branch, "source__turn__"), session=branch.session_id)


def open_work_of(branch: Branch, most: int) -> tuple[LedgerView, ...]:
    """The newest that is not done, proposed or confirmed."""
    rows = entries_here(branch).filter(kind=EntryKind.OPEN_WORK, state__in=LIVE_ENTRIES)
    return views_of(rows.order_by("-pk")[:most])


def ledger_notes(branch: Branch) -> tuple[LedgerNote, ...]:
    """The newest open work and decisions, newest first, as the prompt tells them."""
    return tuple(
        LedgerNote(id=row.name, text=" ".join(row.text.split()), is_proposed=row.state == EntryState.PROPOSED)
        for row in read_noted(branch)
    )


@prepared
def read_noted(branch: Branch) -> QuerySet[LedgerEntry]:
    return live_entries(branch).order_by("-pk")[:MOST_NOTED]


def live_entries(branch: Branch) -> QuerySet[LedgerEntry]:
    return entries_here(branch).filter(state__in=LIVE_ENTRIES)


def ledger_counts(branch: Branch) -> LedgerCounts:
    rows = entries_here(branch)
    waits = Q(state=EntryState.PROPOSED) | Q(seems_done_turn__isnull=False)
    kept = {kind: Count("pk", filter=Q(kind=kind, state=EntryState.CONFIRMED)) for kind in EntryKind}
    counts = rows.aggregate(waiting=Count("pk", filter=waits), **{str(kind): count for kind, count in kept.items()})
    return LedgerCounts(decisions=counts["decision"], open_work=counts["open_work"], waiting=counts["waiting"])


def views_of(rows: QuerySet[LedgerEntry]) -> tuple[LedgerView, ...]:
    return tuple(map(entry_view, rows.select_related("source__turn", "superseded_by")))


def entry_view(row: LedgerEntry) -> LedgerView:
    return LedgerView(
        id=row.pk,
        kind=row.kind,
        state=row.state,
        text=row.text,
        by=row.by,
        seems_done=row.seems_done_turn is not None,
        ended_turn=row.ended_turn,
        superseded_by=row.superseded_by.text if row.superseded_by else "",
        said=said_of(row),
        **located(row.source, row.start, row.end),
    )


def said_of(row: LedgerEntry) -> str:
    """The words of its message, where it is told in others."""
    if row.start is None or row.end is None:
        return ""
    words = " ".join(row.source.text[row.start : row.end].split())
    return "" if words == " ".join(row.text.split()) else words


def placed(branch: Branch, entries: Sequence[LedgerView]) -> tuple[LedgerView, ...]:
    """With the summary that has replaced the turn of each, where one has."""
    covers = PointerTurn.objects.filter(branch=branch, active=True, turn__number__in={one.turn for one in entries})
    pointers = {row.turn.number: row.pointer for row in covers.select_related("pointer__effort", "turn")}
    drafts = seen([pointer.artifact for pointer in pointers.values() if pointer.artifact])
    changed = dict(LedgerEntry.objects.filter(pk__in=[one.id for one in entries]).values_list("pk", "created_at"))
    return tuple(replace(one, place=place_of(one, pointers, drafts, changed)) for one in entries)


def place_of(
    one: LedgerView, pointers: Mapping[int, ContextPointer], drafts: Mapping[str, Seen], noted: Mapping[int, datetime]
) -> EntryPlace | None:
    pointer = pointers.get(one.turn)
    draft = drafts.get(pointer.artifact) if pointer else None
    if pointer is None or draft is None or draft.judged_at is None:
        return None
    return EntryPlace(
        artifact=pointer.artifact,
        of=OwnWords(pointer.effort.name) if pointer.effort else "chosen turns",
        lost=f"{one.kind}-{one.id}" in draft.lost,
        later=noted[one.id] > draft.judged_at,
        quotes=pointer.digest,
    )


def rule_view(row: Constraint) -> LedgerView:
    assert row.source is not None
    where = located(row.source, row.start, row.end)
    return LedgerView(id=row.pk, kind=CONSTRAINT, state=ConstraintState(row.state), text=row.text, by=row.by, **where)


def located(source: Message, start: int | None, end: int | None) -> dict[str, Any]:
    return {
        "message": source.pk,
        "turn": source.turn.number,
        "start": start or 0,
        "end": len(source.text) if end is None else end,
        "verbatim": start is not None and end is not None,
    }
