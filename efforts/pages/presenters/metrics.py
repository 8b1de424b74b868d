"""What context management saved and cost: in one timeline, and in all conversations of one person."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.db.models import Exists, F, OuterRef, QuerySet

from efforts.domain.effort.metrics import STEPS, Metrics, Sent, measure, together
from efforts.domain.effort.reducer import Happening
from efforts.log.timelines import branch_events, branch_plans
from efforts.models import Branch, ContextPlan, Event, Session, TurnLabel

if TYPE_CHECKING:
    from django.contrib.auth.models import AbstractBaseUser, AnonymousUser

# Turns whose plans are read, the newest: a page must not grow with the past.
NEWEST_TURNS = 1_000


@dataclass(frozen=True, kw_only=True)
class Labelled:
    """The turns of a branch that belong to efforts, and the running sum of what they add to a prompt."""

    numbers: tuple[int, ...] = ()
    sums: tuple[int, ...] = ()

    @classmethod
    def of(cls, turns: Iterable[tuple[int, int]]) -> Labelled:
        turns = sorted(turns)
        return cls(numbers=tuple(number for number, _ in turns), sums=tuple(accumulate(tokens for _, tokens in turns)))

    def before(self, turn: int) -> int:
        place = bisect_left(self.numbers, turn)
        return self.sums[place - 1] if place else 0


@dataclass(frozen=True, kw_only=True)
class SessionMetrics:
    """What one conversation adds to the whole: of each branch what it has of its own."""

    session: Session
    metrics: Metrics


@dataclass(frozen=True, kw_only=True)
class AllMetrics:
    """Of all conversations in which something was sent or expanded, the one that was used last first.

    `sent` is in the order of time, whatever the conversation.
    """

    sessions: tuple[SessionMetrics, ...]
    metrics: Metrics
    sent: tuple[Sent, ...]


def branch_metrics(branch: Branch) -> Metrics:
    events = branch_events(branch).filter(kind__in=STEPS).values_list("seq", "kind", "data")
    labels = Labelled.of(TurnLabel.objects.filter(branch=branch).values_list("turn__number", "turn__tokens"))
    newest = sizes(branch_plans(branch)).order_by("-run__turn__number")[:NEWEST_TURNS]
    sent = [sent_of(row, labels) for row in reversed(newest)]
    return measure((Happening(seq=seq, kind=kind, data=data) for seq, kind, data in events), sent)


def all_metrics(owner: AbstractBaseUser | AnonymousUser) -> AllMetrics:
    mine = Session.objects.owned_by(owner)
    sent, told = sent_in(mine), events_by_session(mine)
    of_branch: dict[UUID, list[Sent]] = defaultdict(list)
    for branch_id, one in sent:
        of_branch[branch_id].append(one)
    parts: dict[UUID, list[Metrics]] = defaultdict(list)
    for branch in Branch.objects.filter(session__in=mine).order_by("created_at"):
        shared = branch.ancestors[-1] if branch.ancestors else None
        metrics = measure(in_timeline(branch, told[branch.session_id]), of_branch[branch.pk])
        parts[branch.session_id].append(metrics.after(turn=shared.last, seq=shared.seq) if shared else metrics)
    found = [SessionMetrics(session=one, metrics=together(parts[one.pk])) for one in mine]
    shown = tuple(one for one in found if one.metrics.happened)
    whole = together(one.metrics for one in shown)
    return AllMetrics(sessions=shown, metrics=whole, sent=tuple(one for _, one in sent))


def in_timeline(branch: Branch, told: Iterable[Happening]) -> Iterator[Happening]:
    last = {one.branch: one.seq for one in branch.ancestors}
    for event in told:
        of = str(event.data.get("branch"))
        if of == str(branch.pk) or event.seq <= last.get(of, 0):
            yield event


def events_by_session(sessions: QuerySet[Session]) -> Mapping[UUID, list[Happening]]:
    found: dict[UUID, list[Happening]] = defaultdict(list)
    rows = Event.objects.filter(session__in=sessions, kind__in=STEPS).order_by("session", "seq")
    for session, seq, kind, data in rows.values_list("session", "seq", "kind", "data"):
        found[session].append(Happening(seq=seq, kind=kind, data=data))
    return found


def sent_in(sessions: QuerySet[Session]) -> list[tuple[UUID, Sent]]:
    """What the newest turns were sent, each with its branch, the oldest first."""
    newest = sizes(ContextPlan.objects.filter(session__in=sessions)).order_by("-created_at")[:NEWEST_TURNS]
    turns: dict[UUID, list[tuple[int, int]]] = defaultdict(list)
    labels = TurnLabel.objects.filter(branch__session__in=sessions)
    for branch, number, tokens in labels.values_list("branch", "turn__number", "turn__tokens"):
        turns[branch].append((number, tokens))
    labelled = {branch: Labelled.of(own) for branch, own in turns.items()}
    nothing = Labelled()
    return [(row["branch"], sent_of(row, labelled.get(row["branch"], nothing))) for row in reversed(newest)]


def sizes(plans: QuerySet[ContextPlan]) -> QuerySet[ContextPlan, Any]:
    """Of the last call of each turn. Nothing else of its plan, which is large."""
    later = ContextPlan.objects.filter(run=OuterRef("run"), call__gt=OuterRef("call"))
    # Only the last attempt can enter a prompt.
    last = plans.filter(~Exists(later), run__turn__run=F("run"))
    return last.values(
        "branch", "tokens", "body__sections", turn=F("run__turn__number"), before=F("run__turn__tokens_before")
    )


def sent_of(row: Mapping[str, Any], labels: Labelled) -> Sent:
    return Sent(
        turn=row["turn"],
        tokens=row["tokens"],
        sections=row["body__sections"],
        said_before=row["before"],
        logs_before=labels.before(row["turn"]),
    )
