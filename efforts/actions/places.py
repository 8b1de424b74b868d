"""Where a change to an effort happens, and what all such changes are made of."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from django.db import transaction
from django.db.models import F, QuerySet

from efforts.context.planning import main_branch
from efforts.context.showing import in_the_prompt
from efforts.domain.effort.names import as_id, same_name
from efforts.domain.effort.notices import with_notice
from efforts.domain.effort.states import EFFORT_MOVES, EffortStatus, Via
from efforts.domain.errors import Refused
from efforts.log import events, labels
from efforts.log.timelines import clock_of
from efforts.memory import ageing, references
from efforts.memory.origins import Where
from efforts.models import Branch, Effort, EffortState, Run, Session, Turn

from .names import slug_of
from .pointers import settle_concluded, source_changes

if TYPE_CHECKING:
    from django.contrib.auth.models import User

# How many ids an error names.
NAMED = 5


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where a change happens. `turn` is the number of the running turn, or the branch's head between turns;
    `run` is there only where the change is made in a run, and then its turn follows the effort; `actor` is None where
    the model makes it."""

    branch: Branch
    turn: int
    via: Via = Via.CONTROL
    actor: User | None = None
    run: Run | None = None


def here(session: Session, *, actor: User, via: Via = Via.CONTROL, branch: Branch | None = None) -> Place:
    """A person's place: the end of the branch, the main one where none is named."""
    branch = branch or main_branch(session)
    return Place(branch=branch, turn=branch.head, via=via, actor=actor)


@contextmanager
def changing(place: Place) -> Iterator[Branch]:
    """The branch as it is now, locked until the transaction ends."""
    with transaction.atomic():
        locked = Branch.objects.select_for_update(of=("self",))
        yield locked.select_related("active_effort", "focus", "session").get(pk=place.branch.pk)


def states_of(branch: Branch) -> QuerySet[EffortState]:
    """All efforts of the branch, with their names."""
    return EffortState.objects.filter(branch=branch).select_related("effort")


def known(branch: Branch, id: str) -> EffortState:
    """The effort of that id; or of that name, which models give as often. Raises `Refused` where there is none."""
    state = with_id(branch, id) or named(branch, id) or with_id(branch, as_id(id))
    if state is None:
        raise Refused("unknown", unknown(branch, id))
    return state


def effort_here(branch: Branch, slug: str) -> Effort:
    """The effort of that id or name, as far as the branch has it; else `Refused` names what is close."""
    return known(branch, slug).effort


def with_id(branch: Branch, id: str) -> EffortState | None:
    """The effort of just that id, if the branch has it."""
    return states_of(branch).filter(effort__slug=id).first() if id else None


def named(branch: Branch, name: str) -> EffortState | None:
    """The effort whose name it is; of several, by their plurals, the one that is written so."""
    alike = [state for state in states_of(branch).order_by("pk") if same_name(state.effort.name, name)]
    return next((state for state in alike if as_id(state.effort.name) == as_id(name)), alike[0] if alike else None)


def unknown(branch: Branch, slug: str) -> str:
    ids = list(states_of(branch).values_list("effort__slug", flat=True))
    close = get_close_matches(slug_of(slug), ids, n=NAMED)
    hint = f" Close to it: {', '.join(close)}." if close else ""
    return f"There is no effort {slug[:80]!r} here.{hint}"


def the_active(branch: Branch) -> EffortState:
    """Raises `Refused` where none is active, and names those that are open."""
    if branch.active_effort_id:
        return states_of(branch).get(effort=branch.active_effort_id)
    ids = list(open_states(branch).values_list("effort__slug", flat=True)[:NAMED])
    hint = f"Open: {', '.join(ids)}. Name the one to conclude." if ids else "None is open, so none can be concluded."
    raise Refused("none_active", f"No effort is active. {hint}")


def open_states(branch: Branch) -> QuerySet[EffortState]:
    """The open efforts of the branch, the one that was active last first."""
    return states_of(branch).filter(status=EffortStatus.OPEN).order_by("-active_turn", "-pk")


def latest_open(branch: Branch) -> Effort | None:
    """The open effort that was active last, if any is open."""
    state = open_states(branch).first()
    return state.effort if state else None


def move(state: EffortState, to: EffortStatus, refusal: str, **changes: Any) -> None:
    """Raises `Refused` with `refusal` where the state machine has no such move, or somebody else moved it first."""
    if to not in EFFORT_MOVES[EffortStatus(state.status)]:
        raise Refused(state.status, refusal)
    if not EffortState.objects.filter(pk=state.pk, status=state.status).update(status=to, **changes):
        raise Refused("changed", f"{slug_in(state)} has just been changed by somebody else. Look again.")


def activate(branch: Branch, effort: Effort | None, turn: int) -> None:
    """Let new messages belong to `effort`; None: to no effort. Where the prompt may be cut anew."""
    Branch.objects.filter(pk=branch.pk).update(active_effort=effort, effort_epoch=F("effort_epoch") + 1)
    branch.active_effort = effort
    if effort:
        labels.touch(branch, effort, turn)
    # The prompt is cut anew here anyhow: what waited for that, to keep the cache, leaves now.
    if branch.session.prefer_cache:
        ageing.evict(branch, turn, *ageing.may_leave(branch))


def route(branch: Branch, place: Place, effort: Effort, by: str) -> None:
    """The running turn follows what is done in it, unless the person set it aside; what is done between turns moves
    none."""
    if place.run and not place.run.is_aside and not labels.is_stronger(labels.label_of(branch, place.run.turn), by):
        put_label(branch, place.run.turn, effort, by)


def put_label(branch: Branch, turn: Turn, effort: Effort | None, by: str) -> None:
    """The turn belongs to `effort` from now on, or to none; summaries of both are stale then."""
    label = labels.label_of(branch, turn)
    source = label.effort if label else None
    if effort == source:
        labels.put(branch, turn, effort, by)
        return
    source_changes(branch, turn)
    labels.put(branch, turn, effort, by)
    source_changes(branch, turn)
    # What is left to them may be just what a summary of chosen turns stands for.
    settle_concluded(branch, [one.pk for one in (source, effort) if one])


def refer(branch: Branch, slug: str) -> None:
    """Whoever does something to an effort refers to it."""
    references.touch(branch, [Effort.objects.get(session=branch.session_id, slug=slug)], clock_of(branch))


def record(place: Place, kind: str, slug: str | None, **more: Any) -> int:
    """The number of the event."""
    where = {"turn": place.turn, "branch": str(place.branch.pk), "clock": clock_of(place.branch)}
    data = {**where, "effort": slug, "via": str(place.via), **more}
    return events.append(place.branch.session_id, kind, with_notice(kind, data), actor=place.actor)


def what_is_shown(place: Place, branch: Branch, id: str, turns: int, what: str = "") -> str:
    """Why what is shown is not shown once more: to the model by the plan of its next call."""
    if place.via != Via.MODEL:
        return "Its log is in the prompt already, as far as there is room."
    return in_the_prompt(branch, place.run, id, turns, what)


def where_of(place: Place) -> Where:
    """What the events of a change carry."""
    return Where(turn=place.turn, branch=str(place.branch.pk), via=str(place.via), actor=place.actor)


def fresh(state: EffortState) -> EffortState:
    """The row as it is in the database now."""
    return EffortState.objects.select_related("effort", "branch").get(pk=state.pk)


def active_slug(branch: Branch) -> str | None:
    """The id of the active effort, if one is active."""
    return slug_or_none(branch.active_effort)


def slug_or_none(effort: Effort | None) -> str | None:
    """The id that people and models use."""
    return effort.slug if effort else None


def slug_in(state: EffortState) -> str:
    """The id that people and models use."""
    return state.effort.slug
