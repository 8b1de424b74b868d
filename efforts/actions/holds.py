"""Pins: set, suggested, taken and taken back. Only a person makes one stand."""

from __future__ import annotations

import re
from typing import Any

from django.db.models import Q, QuerySet

from efforts.domain.effort.states import UNFINISHED, EffortStatus, HoldEnd, HoldScope, HoldState, RunState
from efforts.domain.errors import Refused
from efforts.log.timelines import branch_turns
from efforts.memory import holds
from efforts.memory.holds import HoldSpan, Target
from efforts.models import Branch, EffortState, Event, Hold, Run

from .efforts import finished_turn
from .places import Place, changing, known, slug_in, where_of

# Each is read for every plan.
MOST_PINS = 100
MOST_TURNS = 100
LONGEST_WHY = 300
# A person can do either; the model names a turn, and does not conclude what is not over to have it pinned.
PIN_INSTEAD = "Pin a turn of it, or conclude it first."
NAME_INSTEAD = 'Name one of its turns, such as "turn 12".'
TURN_REF = re.compile(r"(?:turn\s*)?#?(\d{1,9})", re.IGNORECASE)


def pin_turn(place: Place, number: int, scope: HoldScope = HoldScope.ALWAYS, turns: int = 0) -> Hold:
    """A finished turn stays in the prompt; `turns`: of a scope that counts them. A pin that it had gives way to this
    one."""
    with changing(place) as branch:
        return grant(place, branch, Target(turn=finished_turn(branch, number)), scope, turns)


def pin_effort(place: Place, slug: str, scope: HoldScope = HoldScope.ALWAYS, turns: int = 0) -> Hold:
    """The log of a concluded effort stays in the prompt; otherwise as `pin_turn`."""
    with changing(place) as branch:
        return grant(place, branch, Target(effort=concluded(branch, slug, PIN_INSTEAD).effort), scope, turns)


def grant(place: Place, branch: Branch, target: Target, scope: HoldScope, turns: int, **more: Any) -> Hold:
    if place.actor is None:
        raise Refused("person_only", "Only the user pins. suggest_pin suggests it.")
    span = span_of(branch, scope, turns)
    row = holds.standing(branch).filter(**target.fields()).first()
    # In another tab it is pinned already, which is what was wanted.
    if row and row.scope == scope == HoldScope.ALWAYS:
        return row
    if row is None and holds.standing(branch).count() >= MOST_PINS:
        raise Refused("too_many", f"{MOST_PINS} are pinned already. Unpin one first.")
    # A turn that runs already was planned without it.
    clock = branch.clock + Run.objects.filter(branch=branch, state=RunState.RUNNING).exists()
    return holds.grant(branch, target, span, clock, where_of(place), **more)


def span_of(branch: Branch, scope: HoldScope, turns: int) -> HoldSpan:
    if scope == HoldScope.EFFORT:
        if branch.active_effort is None:
            raise Refused("none_active", "No effort is active, so none can end the pin. Choose another length.")
        return HoldSpan(scope=scope, within=branch.active_effort)
    if scope in (HoldScope.TURNS, HoldScope.UNREFERENCED):
        if not 1 <= turns <= MOST_TURNS:
            raise Refused("bad_turns", f"Give a number of turns from 1 to {MOST_TURNS}.")
        return HoldSpan(scope=scope, turns=turns)
    return HoldSpan(scope=scope, turns=1 if scope == HoldScope.TURN else 0)


def concluded(branch: Branch, slug: str, instead: str) -> EffortState:
    """Raises `Refused` where it is open; `instead`: what whoever asks can do."""
    state = known(branch, slug)
    if state.status == EffortStatus.OPEN:
        raise Refused("open", f"{slug_in(state)} is open, and shown already. {instead}")
    return state


def unpin(place: Place, pk: int) -> None:
    """A pin that stands ends."""
    with changing(place) as branch:
        holds.end(known_hold(branch, pk, HoldState.STANDING), HoldEnd.RELEASED, where_of(place))


def accept_pin(place: Place, pk: int) -> Hold:
    """What was suggested is pinned for good."""
    with changing(place) as branch:
        row = known_hold(branch, pk, HoldState.SUGGESTED)
        return grant(place, branch, Target(turn=row.turn, effort=row.effort), HoldScope.ALWAYS, 0)


def dismiss_pin(place: Place, pk: int) -> None:
    """A suggestion of the model's is not taken, and not made again."""
    with changing(place) as branch:
        holds.dismiss(known_hold(branch, pk, HoldState.SUGGESTED), where_of(place))


def suggest_pin(place: Place, ref: str, why: str) -> Hold:
    """By the model: nothing changes until the person says yes. Of one thing there is one suggestion. Raises `Refused`
    where it is pinned already, or the person has dismissed it."""
    with changing(place) as branch:
        target = target_of(branch, ref)
        if row := holds.live(branch).filter(**target.fields()).first():
            if row.state == HoldState.STANDING:
                raise Refused("pinned", f"{holds.what_of(row)} is pinned already.")
            return row
        gone = Hold.objects.filter(branch=branch, state=HoldState.DISMISSED, **target.fields())
        if gone.exists():
            raise Refused("dismissed", "The user has dismissed this suggestion. Do not make it again.")
        return holds.suggest(branch, target, " ".join(why.split())[:LONGEST_WHY], where_of(place))


def target_of(branch: Branch, ref: str) -> Target:
    if found := TURN_REF.fullmatch(ref.strip()):
        turn = branch_turns(branch).filter(number=int(found[1])).select_related("run").first()
        if turn is None or turn.run is None or turn.run.state in {*UNFINISHED, RunState.CANCELLED}:
            raise Refused("unknown_turn", f"There is no earlier turn {found[1]} here.")
        return Target(turn=turn)
    return Target(effort=concluded(branch, ref, NAME_INSTEAD).effort)


def pin_again(place: Place, branch: Branch, event: Event) -> None:
    """Undo of what ended by itself. Raises `Refused` where it has been pinned since."""
    row = Hold.objects.select_related("turn", "effort", "within").get(pk=event.data["hold"], branch=branch)
    target, scope = Target(turn=row.turn, effort=row.effort), HoldScope(row.scope)
    if holds.standing(branch).filter(**target.fields()).exists():
        raise Refused("overtaken", f"{holds.what_of(row)} is pinned already.")
    # The effort that it ended with is concluded: from now on it stands until it is taken back.
    lasting = HoldScope.ALWAYS if scope == HoldScope.EFFORT else scope
    grant(place, branch, target, lasting, row.turns, of=event.seq)


def copy_holds(source: Branch, fork: Branch) -> None:
    """What stood in `source` where `fork` leaves it stands in the fork too; after that the two are apart.

    Belongs inside the transaction that makes the fork, once its efforts are there.
    """
    there = Q(turn__number__lte=fork.fork_turn) | Q(effort__in=EffortState.objects.filter(branch=fork).values("effort"))
    for row in stood_at(source, fork.ancestors[-1].seq).filter(there):
        row.pk, row.branch, row.state, row.ended, row.ended_clock = None, fork, HoldState.STANDING, "", None
        row.refreshed_clock = min(row.refreshed_clock, fork.clock)
        row.save(force_insert=True)


def stood_at(branch: Branch, seq: int) -> QuerySet[Hold]:
    """What was pinned when event `seq` was written."""
    told = Event.objects.filter(session=branch.session_id)
    granted_later = told.filter(kind="hold.granted", seq__gt=seq).values_list("data__hold", flat=True)
    ended_before = told.filter(kind="hold.ended", seq__lte=seq).values_list("data__hold", flat=True)
    rows = Hold.objects.filter(branch=branch, state__in=(HoldState.STANDING, HoldState.ENDED))
    return rows.exclude(pk__in=[*granted_later, *ended_before]).order_by("pk")


def known_hold(branch: Branch, pk: int, state: HoldState) -> Hold:
    row = Hold.objects.filter(branch=branch, pk=pk).select_related("turn", "effort", "within", "branch").first()
    if row is None:
        raise Refused("unknown_pin", "There is no such pin here.")
    if row.state != state:
        raise Refused("changed", holds.CHANGED)
    return row
