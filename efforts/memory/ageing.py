"""What nobody refers to any more leaves the prompt by itself: expansions end, logs without a summary give way to their
digests, summaries and digests are evicted.

Every function belongs inside the transaction of a caller that holds the lock of the branch.
"""

from __future__ import annotations

from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from efforts.context.sources import read_summary_log
from efforts.domain.effort.ageing import stale
from efforts.domain.effort.chosen import RAW
from efforts.domain.effort.notices import with_notice
from efforts.domain.effort.states import EffortStatus, PointerState, SummaryState
from efforts.domain.errors import Refused
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
# How the summaries of chosen turns leave, step by step.
TIERS = (("shortened_clock", "compaction.shortened"), ("evicted_clock", "compaction.evicted"))


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
    decay_chosen(branch, run.turn.number)


def decay(branch: Branch, turn: int) -> None:
    """Expansions that nothing has referred to for so many turns end; those that are pinned stay."""
    expanded = unpinned(branch).filter(expanded_turn__isnull=False)
    for state in expanded.order_by("expanded_turn", "pk"):
        if stale(branch.clock, state.referenced_clock, branch.session.decay_threshold):
            EffortState.objects.filter(pk=state.pk).update(expanded_turn=None)
            price = price_of(branch, "effort.expanded", data__effort=state.effort.slug)
            events.append_all([event(branch, "effort.decayed", turn, state, tokens=price)])


def evict(branch: Branch, turn: int) -> None:
    """Summaries leave the prompt, and of logs that await one the digest stands; all stays findable, and a reference
    brings it back."""
    concluded = unpinned(branch).filter(status=EffortStatus.CONCLUDED).exclude(summary=SummaryState.COVERED)
    standing = concluded.filter(evicted_clock=None, expanded_turn=None)
    oldest = branch.clock - branch.session.eviction_threshold
    leaving = [
        state
        for state in standing.filter(referenced_clock__lte=max(oldest, 0)).order_by("pk")
        if stale(branch.clock, state.referenced_clock, branch.session.eviction_threshold)
    ]
    stands = ContextPointer.objects.filter(branch=branch, state=PointerState.ACTIVE).values_list("effort", flat=True)
    awaiting = [state for state in leaving if state.effort_id not in set(stands)]
    aged = {state.pk for state in awaiting if age(branch, turn, state)}
    leaving = [state for state in leaving if state.pk not in aged]
    if leaving:
        EffortState.objects.filter(pk__in=[state.pk for state in leaving]).update(evicted_clock=branch.clock)
        events.append_all([event(branch, "effort.evicted", turn, state) for state in leaving])
    fade_chosen(branch, turn)


def age(branch: Branch, turn: int, state: EffortState) -> bool:
    """The log of an effort that awaits a summary gives way to its digest, which stays as long as a summary does; false
    where none may stand."""
    digest = compacting.registered().digest_of(state, read_summary_log(branch, state.effort))
    told = event(branch, "effort.aged", turn, state, artifact=digest, was=summary_of(state))
    try:
        with transaction.atomic():
            stands = bool(digest and compacting.registered().accept(digest, None, AGED))
    except Refused:
        stands = False
    if stands:
        beside = {"draft": WHY_AGED.get(SummaryState(state.summary), state.draft), "referenced_clock": branch.clock}
        if state.summary == SummaryState.ROLLED_BACK:
            beside["artifact"] = ""
        EffortState.objects.filter(pk=state.pk).update(**beside)
        events.append_all([told])
    return stands


def summary_of(state: EffortState) -> dict[str, str]:
    """How its summary stood, to be put back. What is being drafted by then is drafted anew."""
    under_way = state.summary in (SummaryState.DUE, SummaryState.DRAFTING)
    summary = SummaryState.DUE if under_way else state.summary
    return {"summary": str(summary), "artifact": state.artifact, "draft": state.draft}


def fade_chosen(branch: Branch, turn: int) -> None:
    """The summaries of chosen turns give way to one line, and this leaves after as many turns again."""
    threshold = branch.session.eviction_threshold
    standing = chosen_pointers(branch).filter(evicted_clock=None, expanded_turn=None)
    old = standing.filter(referenced_clock__lte=max(branch.clock - threshold, 0))
    for one in with_spans(old):
        if stale(branch.clock, one.since, threshold):
            field, kind = TIERS[one.pointer.shortened_clock is not None]
            ContextPointer.objects.filter(pk=one.pointer.pk).update(**{field: branch.clock})
            events.append_all([chosen_event(branch, kind, turn, one)])


def decay_chosen(branch: Branch, turn: int) -> None:
    for one in with_spans(chosen_pointers(branch).filter(expanded_turn__isnull=False)):
        if stale(branch.clock, one.pointer.referenced_clock, branch.session.decay_threshold):
            ContextPointer.objects.filter(pk=one.pointer.pk).update(expanded_turn=None)
            price = price_of(branch, "compaction.expanded", data__id=one.id, data__what=RAW)
            events.append_all([chosen_event(branch, "compaction.decayed", turn, one, tokens=price)])


def chosen_event(branch: Branch, kind: str, turn: int, one: Chosen, **more: Any) -> Event:
    where = {"turn": turn, "branch": str(branch.pk), "clock": branch.clock, "via": VIA}
    about = {"id": one.id, "artifact": one.pointer.artifact, "turns": branch.clock - one.pointer.referenced_clock}
    return Event(session_id=branch.session_id, kind=kind, data={**where, **about, **more})


def unpinned(branch: Branch) -> QuerySet[EffortState]:
    pinned = holds.standing(branch).filter(effort__isnull=False).values("effort")
    return EffortState.objects.filter(branch=branch).exclude(effort__in=pinned).select_related("effort")


def price_of(branch: Branch, kind: str, **whose: str) -> int:
    """What the expansion added to the prompt when it was made, in tokens."""
    last = branch_events(branch).filter(kind=kind, **whose).order_by("-seq").first()
    return int(last.data["tokens"]) if last else 0


def event(branch: Branch, kind: str, turn: int, state: EffortState, **more: Any) -> Event:
    where = {"turn": turn, "branch": str(branch.pk), "clock": branch.clock, "effort": state.effort.slug, "via": VIA}
    data = {**where, "turns": branch.clock - state.referenced_clock, **more}
    return Event(session_id=branch.session_id, kind=kind, data=with_notice(kind, data))
