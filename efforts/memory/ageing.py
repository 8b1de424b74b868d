"""What nobody refers to any more leaves the prompt by itself: expansions end, logs without a summary give way to their
digests, summaries and digests are evicted.

Every function belongs inside the transaction of a caller that holds the lock of the branch.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import Q, QuerySet

from efforts.context.contents import BranchContents
from efforts.context.sources import read_summary_log
from efforts.domain.effort.ageing import stale
from efforts.domain.effort.chosen import RAW
from efforts.domain.effort.notices import with_notice
from efforts.domain.effort.states import EffortStatus, PointerState, SummaryState
from efforts.domain.errors import Refused
from efforts.domain.prompt.conversation import LogMessage
from efforts.log import events
from efforts.log.timelines import branch_events
from efforts.memory import holds, references
from efforts.models import Branch, ContextPointer, EffortState, Event, Run
from efforts.standins import compacting
from efforts.standins.chosen import Chosen, chosen_pointers, with_spans

VIA = "age"
# How what stands by its age came to.
AGED = "aged"
WHY_AGED = {
    SummaryState.WAITING: "Nobody has reviewed its summary.",
    SummaryState.ROLLED_BACK: "Its summary was rolled back.",
    SummaryState.NONE: "No summary was drafted.",
    SummaryState.DUE: "",
    SummaryState.DRAFTING: "",
}


@dataclass(frozen=True, kw_only=True)
class Ageing:
    """What may leave the prompt by its age: an effort, or chosen turns for which a summary stands. `row` has the clocks
    of its age, `since` is the one that counts; `family` is that of its events, which name it by `about`."""

    row: EffortState | ContextPointer
    since: int
    family: str
    about: dict[str, str]

    def change(self, **columns: Any) -> None:
        type(self.row)._base_manager.filter(pk=self.row.pk).update(**columns)

    def event(self, branch: Branch, what: str, turn: int, **more: Any) -> Event:
        kind = f"{self.family}.{what}"
        where = {"turn": turn, "branch": str(branch.pk), "clock": branch.clock, "via": VIA, **self.about}
        data = {**where, "turns": branch.clock - self.row.referenced_clock, **more}
        return Event(session_id=branch.session_id, kind=kind, data=with_notice(kind, data))


def of_effort(state: EffortState) -> Ageing:
    return Ageing(row=state, since=state.referenced_clock, family="effort", about={"effort": state.effort.slug})


def of_chosen(one: Chosen) -> Ageing:
    about = {"id": one.id, "artifact": one.pointer.artifact}
    return Ageing(row=one.pointer, since=one.since, family="compaction", about=about)


def settle(run: Run, said: Sequence[LogMessage], contents: BranchContents, *, completed: bool) -> None:
    """A turn has ended, with all that was `said` in it: what it refers to is young again; where it is completed, what
    is old enough leaves."""
    if contents.can_be_meant:
        references.of_reply(run, said)
    if not (completed and (contents.has_efforts or contents.has_summaries)):
        return
    branch, turn = run.branch, run.turn.number
    efforts, chosen = may_leave(branch)
    # Who prefers the cache has the prompt's head changed only where it changes anyhow (`actions/places.py`).
    if not branch.session.prefer_cache:
        evict(branch, turn, efforts, chosen)
    # After it: what fades now stands as its summary for a turn at least.
    decay(branch, turn, efforts, chosen)


def may_leave(branch: Branch) -> tuple[list[EffortState], list[Chosen]]:
    """What is expanded, and what nothing has referred to for long."""
    expanded, since = Q(expanded_turn__isnull=False), max(branch.clock - branch.session.eviction_threshold, 0)
    old = Q(evicted_clock=None, referenced_clock__lte=since)
    concluded = Q(status=EffortStatus.CONCLUDED) & ~Q(summary=SummaryState.COVERED)
    efforts = unpinned(branch).filter(expanded | (old & concluded)).order_by("expanded_turn", "pk")
    return list(efforts), with_spans(chosen_pointers(branch).filter(expanded | old))


def decay(branch: Branch, turn: int, efforts: Iterable[EffortState], chosen: Iterable[Chosen]) -> None:
    """Expansions that nothing has referred to for so many turns end; those that are pinned stay."""
    rows = [of_effort(one) for one in efforts if one.expanded_turn is not None]
    for one in (*rows, *(of_chosen(one) for one in chosen if one.is_expanded)):
        if stale(branch.clock, one.row.referenced_clock, branch.session.decay_threshold):
            one.change(expanded_turn=None)
            events.append_all([one.event(branch, "decayed", turn, tokens=price_of(branch, one))])


def evict(branch: Branch, turn: int, efforts: Iterable[EffortState], chosen: Iterable[Chosen]) -> None:
    """Summaries leave the prompt, and of logs that await one the digest stands; those of chosen turns give way to one
    line, and this leaves after as many turns again. All stays findable, and a reference brings it back."""
    threshold = branch.session.eviction_threshold
    shut = (one for one in efforts if one.expanded_turn is None)
    old = [one for one in shut if stale(branch.clock, one.referenced_clock, threshold)]
    stands = ContextPointer.objects.filter(branch=branch, state=PointerState.ACTIVE)
    of_old = stands.filter(effort__in=[one.effort_id for one in old])
    summarised, leaving = set(of_old.values_list("effort", flat=True)) if old else set(), []
    for state in old:
        if state.effort_id in summarised or not age(branch, turn, state):
            leaving.append((of_effort(state), "evicted"))
    for one in chosen:
        if not one.is_expanded and stale(branch.clock, one.since, threshold):
            leaving.append((of_chosen(one), "shortened" if one.pointer.shortened_clock is None else "evicted"))
    for row, what in leaving:
        row.change(**{f"{what}_clock": branch.clock})
    if leaving:
        events.append_all([row.event(branch, what, turn) for row, what in leaving])


def age(branch: Branch, turn: int, state: EffortState) -> bool:
    """The log of an effort that awaits a summary gives way to its digest, which stays as long as a summary does; false
    where none may stand."""
    digest = compacting.registered().digest_of(state, read_summary_log(branch, state.effort))
    # To be put back: what is being drafted by then is drafted anew.
    under_way = state.summary in (SummaryState.DUE, SummaryState.DRAFTING)
    summary = SummaryState.DUE if under_way else state.summary
    was = {"summary": str(summary), "artifact": state.artifact, "draft": state.draft}
    told = of_effort(state).event(branch, "aged", turn, artifact=digest, was=was)
    try:
        with transaction.atomic():
            stands = bool(digest and compacting.registered().accept(digest, None, AGED))
    except Refused:
        stands = False
    if stands:
        beside = {"draft": WHY_AGED.get(SummaryState(state.summary), state.draft), "referenced_clock": branch.clock}
        EffortState.objects.filter(pk=state.pk).update(**beside)
        events.append_all([told])
    return stands


def unpinned(branch: Branch) -> QuerySet[EffortState]:
    """Nor in the focus: that does not age while it is."""
    pinned = holds.standing(branch).filter(effort__isnull=False).values("effort")
    states = EffortState.objects.filter(branch=branch).exclude(effort__in=pinned).select_related("effort")
    return states.exclude(effort=branch.focus_id) if branch.focus_id else states


def price_of(branch: Branch, one: Ageing) -> int:
    """What the expansion added to the prompt when it was made, in tokens."""
    whose = {f"data__{name}": one.about[name] for name in ("effort", "id") if name in one.about}
    if one.family == "compaction":
        whose["data__what"] = RAW
    last = branch_events(branch).filter(kind=f"{one.family}.expanded", **whose).order_by("-seq").first()
    return int(last.data["tokens"]) if last else 0
