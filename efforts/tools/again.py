"""A retrieval made again as it was: at its snapshot, with its query. The same log gives the same result."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date

from efforts.domain.effort.policy import ContextMode
from efforts.memory.traces import Retrieval, retrieval_of
from efforts.models import Event, RetrievalSet
from efforts.retrieval import recall, search
from efforts.retrieval.vectors import Meant
from efforts.standins import coding

from . import efforts, messages

OTHER_VERSION = "other retrieval version"
EFFORTS_CHANGED = "efforts changed since"
TURNS_MOVED = "turns moved since"
TURNS_LEFT_OUT = "turns left out or put back since"
# What a turn is about is part of the ranking.
MOVES = ("turn.moved", "effort.undone")


@dataclass(frozen=True, kw_only=True)
class Repeated:
    """`apart`: why the result need not be the same; empty where it must be."""

    same: bool
    apart: str = ""


def retrieve_again(row: RetrievalSet) -> Repeated:
    """`row` with its branch and its run's turn."""
    if row.strategy.startswith(coding.STRATEGY):
        found = coding.registered().found_again(row)
        return Repeated(same=found == row.result_hash, apart="" if found else OTHER_VERSION)
    retrieve = STRATEGIES.get(row.strategy)
    if retrieve is None:
        return Repeated(same=False, apart=OTHER_VERSION)
    made = retrieve(row)
    if made.result_hash == row.result_hash:
        return Repeated(same=True)
    return Repeated(same=False, apart=changed_since(row, made))


def changed_since(row: RetrievalSet, made: Retrieval) -> str:
    if made.params.get("efforts") != row.params.get("efforts"):
        return EFFORTS_CHANGED
    since = Event.objects.filter(session=row.session_id, created_at__gt=row.created_at)
    if since.filter(kind__in=MOVES).exists():
        return TURNS_MOVED
    return TURNS_LEFT_OUT if since.filter(kind__in=("turn.left_out", "turn.put_back")).exists() else ""


def of_messages(row: RetrievalSet) -> Retrieval:
    turn = row.run.turn
    made, _ = messages.find_messages(
        row.branch,
        messages.Wanted(**row.params["asked"]),
        before=turn.number,
        today=turn.created_at.date(),
        snapshot=row.snapshot,
        meant=meant_in(row),
    )
    return made


def of_efforts(row: RetrievalSet) -> Retrieval:
    turn = row.run.turn
    made, _, _ = efforts.find_efforts(
        row.branch, row.query, before=turn.number, today=turn.created_at.date(), snapshot=row.snapshot
    )
    return made


def of_recall(row: RetrievalSet) -> Retrieval:
    shown = {number for first, last in row.params["shown"] for number in range(first, last + 1)}
    found = recall.recall(
        row.branch,
        row.query,
        before=row.params["before"],
        mode=ContextMode(row.params["mode"]),
        today=date.fromisoformat(row.params["today"]),
        shown=shown,
        snapshot=row.snapshot,
        meant=meant_in(row),
        # Retrievals from before there was a focus.
        focus=row.params.get("focus", ""),
    )
    return retrieval_of(row.session_id, found)


def meant_in(row: RetrievalSet) -> Meant | None:
    return Meant.of(row.params["meaning"]) if "meaning" in row.params else None


STRATEGIES: dict[str, Callable[[RetrievalSet], Retrieval]] = {
    messages.STRATEGY: of_messages,
    efforts.STRATEGY: of_efforts,
    search.STRATEGY: of_recall,
}
