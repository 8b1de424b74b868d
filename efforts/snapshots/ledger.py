"""Decisions and open work, as pages and compactions see them."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

from django.db.models import Exists, OuterRef, QuerySet

from efforts.domain.lifecycle import LIVE_ENTRIES, ConstraintState, EntryBy, EntryKind, EntryState
from efforts.models import Branch, Constraint, Event, LedgerEntry, Message, Session
from efforts.timelines import in_timeline

from .constraints import ConstraintsView, constraints_view

CONSTRAINT = "constraint"
# Of those that have ended, a page lists the newest.
MOST_PAST = 100


@dataclass(frozen=True, kw_only=True)
class LedgerView:
    """`kind` is decision, open_work or constraint, `state` as its kind has them.

    `message` is the source and `turn` the number of its turn; `start` and `end` are the characters of the words there,
    or all of it where `text` is not `verbatim`. `superseded_by` is the text of what replaced it.
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

    @property
    def name(self) -> str:
        return self.kind.replace("_", " ")

    @property
    def said_by(self) -> str:
        return {EntryBy.PERSON: "you", EntryBy.MODEL: "the model"}.get(EntryBy(self.by), f"sounds like {self.a_kind}")

    @property
    def a_kind(self) -> str:
        return self.name if self.kind == EntryKind.OPEN_WORK else f"a {self.name}"


@dataclass(frozen=True, kw_only=True)
class EntriesView:
    """Of one kind, oldest first; what has ended newest first."""

    kind: str
    waiting: tuple[LedgerView, ...]
    kept: tuple[LedgerView, ...]
    past: tuple[LedgerView, ...]
    not_listed: int = 0


@dataclass(frozen=True, kw_only=True)
class LedgerPage:
    decisions: EntriesView
    open_work: EntriesView
    rules: ConstraintsView

    @property
    def sections(self) -> tuple[EntriesView, ...]:
        return self.decisions, self.open_work

    @property
    def is_empty(self) -> bool:
        rules = self.rules.in_force or self.rules.suggested
        return not rules and not any(one.waiting or one.kept or one.past for one in self.sections)


def entries_of(session: Session, messages: Collection[int]) -> tuple[LedgerView, ...]:
    """What comes from these messages, in the order in which it was noted: entries in every state, and the rules that
    are in force or were."""
    rows = LedgerEntry.objects.filter(session=session, source__in=messages)
    rules = Constraint.objects.filter(session=session, source__in=messages).filter(was_in_force())
    return (*views_of(rows), *map(rule_view, rules.select_related("source__turn").order_by("pk")))


def was_in_force() -> Exists:
    """As against a suggestion that waits, or was dismissed."""
    set_ = Event.objects.filter(session=OuterRef("session"), kind="constraint.set", data__constraint=OuterRef("pk"))
    return Exists(set_)


def ledger_page(branch: Branch) -> LedgerPage:
    return LedgerPage(
        decisions=entries_view(branch, EntryKind.DECISION),
        open_work=entries_view(branch, EntryKind.OPEN_WORK),
        rules=constraints_view(branch),
    )


def entries_view(branch: Branch, kind: EntryKind) -> EntriesView:
    rows = entries_here(branch).filter(kind=kind)
    live = views_of(rows.filter(state__in=LIVE_ENTRIES))
    # What nobody wanted is on record, and no news.
    past = rows.filter(state__in=(EntryState.SUPERSEDED, EntryState.DONE)).order_by("-changed_at", "-pk")
    return EntriesView(
        kind=kind.label,
        waiting=tuple(one for one in live if one.state == EntryState.PROPOSED),
        kept=tuple(one for one in live if one.state == EntryState.CONFIRMED),
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


def waiting_count(branch: Branch) -> int:
    """How many wait for the person's answer."""
    live = entries_here(branch).filter(state__in=LIVE_ENTRIES)
    return live.exclude(state=EntryState.CONFIRMED, seems_done_turn=None).count()


def views_of(rows: QuerySet[LedgerEntry]) -> tuple[LedgerView, ...]:
    return tuple(map(entry_view, rows.select_related("source__turn", "superseded_by")))


def entry_view(row: LedgerEntry) -> LedgerView:
    return replace(
        located(row.source, row.start, row.end),
        id=row.pk,
        kind=row.kind,
        state=row.state,
        text=row.text,
        by=row.by,
        seems_done=row.seems_done_turn is not None,
        ended_turn=row.ended_turn,
        superseded_by=row.superseded_by.text if row.superseded_by else "",
    )


def rule_view(row: Constraint) -> LedgerView:
    assert row.source is not None
    state = ConstraintState(row.state)
    return replace(
        located(row.source, row.start, row.end), id=row.pk, kind=CONSTRAINT, state=state, text=row.text, by=row.by
    )


def located(source: Message, start: int | None, end: int | None) -> LedgerView:
    said = start is not None and end is not None
    return LedgerView(
        id=0,
        kind="",
        state="",
        text="",
        message=source.pk,
        turn=source.turn.number,
        start=start or 0,
        end=len(source.text) if end is None else end,
        verbatim=said,
    )
