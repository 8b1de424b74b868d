"""What nobody refers to any more leaves the prompt by itself: expansions end, summaries are evicted.

Every function belongs inside the transaction of a caller that holds the lock of the branch.
"""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet

from efforts import events, holds, references
from efforts.domain.lifecycle import EffortStatus
from efforts.domain.notices import with_notice
from efforts.domain.salience import stale
from efforts.models import Branch, EffortState, Event, Run
from efforts.timelines import branch_events

VIA = "age"


def settle(run: Run, *, completed: bool) -> None:
    """A turn has ended: what it refers to is young again; where it is completed, what is old enough leaves."""
    references.of_reply(run)
    if not completed:
        return
    branch = Branch.objects.select_related("session").get(pk=run.branch_id)
    # Who prefers the cache has the prompt's head changed only where it changes anyhow.
    if not branch.session.prefer_cache:
        evict(branch, run.turn.number)
    # After it: what fades now stands as its summary for a turn at least.
    decay(branch, run.turn.number)


def decay(branch: Branch, turn: int) -> None:
    """Expansions that nothing has referred to for so many turns end; those that are pinned stay."""
    expanded = unpinned(branch).filter(expanded_turn__isnull=False)
    for state in expanded.order_by("expanded_turn", "pk"):
        if stale(branch.clock, state.referenced_clock, branch.session.decay_threshold):
            EffortState.objects.filter(pk=state.pk).update(expanded_turn=None)
            events.append_all([event(branch, "effort.decayed", turn, state, tokens=price_of(branch, state))])


def evict(branch: Branch, turn: int) -> None:
    """Summaries, and logs that await one, leave the prompt; they stay findable, and a reference brings them back."""
    standing = unpinned(branch).filter(status=EffortStatus.CONCLUDED, evicted_clock=None, expanded_turn=None)
    oldest = branch.clock - branch.session.eviction_threshold
    leaving = [
        state
        for state in standing.filter(referenced_clock__lte=max(oldest, 0)).order_by("pk")
        if stale(branch.clock, state.referenced_clock, branch.session.eviction_threshold)
    ]
    if leaving:
        EffortState.objects.filter(pk__in=[state.pk for state in leaving]).update(evicted_clock=branch.clock)
        events.append_all([event(branch, "effort.evicted", turn, state) for state in leaving])


def unpinned(branch: Branch) -> QuerySet[EffortState]:
    pinned = holds.standing(branch).filter(effort__isnull=False).values("effort")
    return EffortState.objects.filter(branch=branch).exclude(effort__in=pinned).select_related("effort")


def price_of(branch: Branch, state: EffortState) -> int:
    """What the expansion added to the prompt when it was made, in tokens."""
    expanded = branch_events(branch).filter(kind="effort.expanded", data__effort=state.effort.slug)
    last = expanded.order_by("-seq").first()
    return int(last.data["tokens"]) if last else 0


def event(branch: Branch, kind: str, turn: int, state: EffortState, **more: Any) -> Event:
    where = {"turn": turn, "branch": str(branch.pk), "clock": branch.clock, "effort": state.effort.slug, "via": VIA}
    data = {**where, "turns": branch.clock - state.referenced_clock, **more}
    return Event(session_id=branch.session_id, kind=kind, data=with_notice(kind, data))
