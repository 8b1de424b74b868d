"""Efforts: opened, concluded, reopened, switched to, expanded, collapsed; and where turns belong.

People's controls, the model's tools and answered offers call the same functions. Each locks the branch before it looks,
so that no two of them decide on the same state.
"""

from __future__ import annotations

from django.conf import settings
from django.db import transaction

from efforts import events, holds, labels, references
from efforts.domain.lifecycle import UNFINISHED, EffortStatus, PointerState, RunState, SummaryState, Via
from efforts.domain.resolution import sounds_paused
from efforts.errors import Refused
from efforts.llm.tokens import get_counter
from efforts.models import Branch, Effort, EffortState, Event, Turn, TurnLabel
from efforts.snapshots.expansion import price
from efforts.snapshots.sources import read_effort_log
from efforts.timelines import branch_turns, clock_of

from .names import checked_name, numbered, slug_of
from .places import (
    NO_SUMMARY,
    SUMMARY_DUE,
    Place,
    activate,
    active_slug,
    changing,
    fresh,
    known,
    latest_open,
    move,
    named,
    nearly_named,
    put_label,
    record,
    refer,
    route,
    slug_in,
    slug_or_none,
    states_of,
    the_active,
    where_of,
)
from .pointers import StandIn, active_pointers, end_pointers, set_pointer

STOPPED = "You stopped the drafting. Its log stays in the prompt."
IN_THE_PROMPT = "Its log is in the prompt already: answer from it."


def open_effort(place: Place, name: str) -> EffortState:
    """Start an effort, or go on with the open one of that name; it is active afterwards."""
    name = checked_name(name)
    with changing(place) as branch:
        state = named(branch, slug_of(name)) or (nearly_named(branch, name) if place.via == Via.MODEL else None)
        if state is None:
            return start(branch, place, name)
        if state.status == EffortStatus.CONCLUDED:
            raise Refused("concluded", concluded_already(state))
        if branch.active_effort_id != state.effort_id:
            go_to(branch, place, state)
        else:
            route(branch, place, state.effort, TurnLabel.By.OPENED)
        return fresh(state)


def start(branch: Branch, place: Place, name: str) -> EffortState:
    before = active_slug(branch)
    effort = identity(branch, name)
    clock = clock_of(branch)
    state = EffortState.objects.create(branch=branch, effort=effort, opened_turn=place.turn, referenced_clock=clock)
    activate(branch, effort, place.turn)
    route(branch, place, effort, TurnLabel.By.OPENED)
    record(place, "effort.opened", effort.slug, name=name, before=before)
    return fresh(state)


def identity(branch: Branch, name: str) -> Effort:
    effort = unused_or_new(branch, name)
    references.learn_name(effort)
    return effort


def unused_or_new(branch: Branch, name: str) -> Effort:
    """A new effort; or one whose opening was taken back, as nothing has it any more."""
    slug, number = slug_of(name), 1
    while twin := Effort.objects.filter(session=branch.session_id, slug=slug).first():
        if not twin.states.exists():
            twin.name = name
            twin.save(update_fields=["name"])
            return twin
        number += 1
        slug = numbered(slug_of(name), number)
    return Effort.objects.create(session_id=branch.session_id, slug=slug, name=name)


def close_effort(place: Place, slug: str | None = None) -> EffortState:
    """Conclude an effort, the active one where none is named; its summary follows."""
    with changing(place) as branch:
        state = known(branch, slug) if slug is not None else the_active(branch)
        check_not_paused(place)
        was_active = branch.active_effort_id == state.effort_id
        changes = {"concluded_turn": place.turn, "via": place.via, "expanded_turn": None, **SUMMARY_DUE}
        move(state, EffortStatus.CONCLUDED, f"{slug_in(state)} is concluded already.", **changes)
        refer(branch, slug_in(state))
        route(branch, place, state.effort, TurnLabel.By.CLOSED)
        activate(branch, latest_open(branch) if was_active else branch.active_effort, place.turn)
        record(place, "effort.concluded", slug_in(state), was_active=was_active, next=active_slug(branch))
        holds.end_with(branch, state.effort, where_of(place))
        # Between turns nobody else would tell the runner that there is a summary to write.
        transaction.on_commit(events.wake_runners)
    return fresh(state)


def check_not_paused(place: Place) -> None:
    # The system text forbids it too, and small models do it all the same.
    if place.via == Via.MODEL and place.run and sounds_paused(place.run.turn.messages.get(role="user").text):
        raise Refused("paused", "The user pauses or changes topic; that does not conclude anything. Leave it open.")


def reopen_effort(place: Place, slug: str) -> EffortState:
    """Open a concluded effort again; it is active afterwards, and its summary no longer stands for it."""
    with changing(place) as branch:
        state = known(branch, slug)
        before, was = active_slug(branch), {"concluded_turn": state.concluded_turn, "concluded_via": state.via}
        if state.expanded_turn is not None:
            collapse(place, state, "reopened")
        changes = {"concluded_turn": None, "via": "", **NO_SUMMARY}
        move(state, EffortStatus.OPEN, f"{slug_in(state)} is open already. {IN_THE_PROMPT}", **changes)
        end_pointers(branch, state.effort, PointerState.INVALIDATED)
        activate(branch, state.effort, place.turn)
        route(branch, place, state.effort, TurnLabel.By.OPENED)
        refer(branch, slug_in(state))
        record(place, "effort.reopened", slug_in(state), before=before, **was)
    return fresh(state)


def switch_effort(place: Place, slug: str) -> EffortState:
    with changing(place) as branch:
        state = known(branch, slug)
        if state.status == EffortStatus.CONCLUDED:
            raise Refused("concluded", concluded_already(state))
        if branch.active_effort_id == state.effort_id:
            raise Refused("active", f"{slug_in(state)} is already active.")
        go_to(branch, place, state)
    return fresh(state)


def go_to(branch: Branch, place: Place, state: EffortState) -> None:
    before = active_slug(branch)
    activate(branch, state.effort, place.turn)
    route(branch, place, state.effort, TurnLabel.By.OPENED)
    record(place, "effort.switched", slug_in(state), before=before)


def expand_effort(place: Place, slug: str) -> int:
    """Show the raw log of a concluded effort instead of its headline; what that adds to the prompt, in tokens."""
    with changing(place) as branch:
        state = known(branch, slug)
        check_expandable(branch, state)
        tokens = check_affordable(branch, place, state)
        EffortState.objects.filter(pk=state.pk).update(expanded_turn=place.turn)
        refer(branch, slug_in(state))
        record(place, "effort.expanded", slug_in(state), tokens=tokens)
    return tokens


def check_expandable(branch: Branch, state: EffortState) -> None:
    slug = slug_in(state)
    if state.status == EffortStatus.OPEN:
        raise Refused("open", f"{slug} is open. {IN_THE_PROMPT}")
    if state.expanded_turn is not None:
        raise Refused("expanded", f"{slug} is expanded already. {IN_THE_PROMPT}")
    if not active_pointers(branch, state.effort).exists():
        raise Refused("awaiting", f"{slug} has no summary yet. {IN_THE_PROMPT}")
    if not state.turns:
        raise Refused("no_turns", f"{slug} has no turns, so there is nothing to expand.")


def check_affordable(branch: Branch, place: Place, state: EffortState) -> int:
    """What expanding it would add to the prompt, in tokens."""
    cost = price(branch, place.run, slug_in(state))
    if not cost.fits:
        span = "read_effort shows a span" if place.via == Via.MODEL else "Pin the turns you mean"
        sizes = f"{slug_in(state)} needs {cost.needed:,} tokens, {cost.free:,} free."
        raise Refused("no_room", f"{sizes} {span}; a larger budget in the settings makes room.")
    return cost.tokens


def collapse_effort(place: Place, slug: str) -> EffortState:
    with changing(place) as branch:
        state = known(branch, slug)
        if state.expanded_turn is None:
            raise Refused("not_expanded", f"{slug_in(state)} is not expanded, so there is nothing to collapse.")
        collapse(place, state, "asked")
    return fresh(state)


def collapse(place: Place, state: EffortState, why: str) -> None:
    EffortState.objects.filter(pk=state.pk).update(expanded_turn=None)
    record(place, "effort.collapsed", slug_in(state), why=why)


def new_work_session(place: Place, why: str = "asked") -> int:
    """Collapse all that is expanded and not pinned; how many there were. `why`: it was asked for, or it was `idle`."""
    with changing(place) as branch:
        pinned = holds.standing(branch).filter(effort__isnull=False).values("effort")
        loose = states_of(branch).exclude(expanded_turn=None).exclude(effort__in=pinned)
        expanded = list(loose.order_by("expanded_turn", "pk"))
        for state in expanded:
            collapse(place, state, "work_session")
        data = {"turn": place.turn, "branch": str(branch.pk), "clock": clock_of(branch), "why": why}
        events.append(branch.session_id, "session.resumed", data, actor=place.actor)
    return len(expanded)


def rename_effort(place: Place, slug: str, name: str) -> EffortState:
    """Another name; the id stays."""
    name = checked_name(name)
    with changing(place) as branch:
        state = known(branch, slug)
        other = named(branch, slug_of(name))
        if other and other.pk != state.pk:
            raise Refused("taken", f"{slug_in(other)} has that name already. Choose another.")
        old = state.effort.name
        if name != old:
            state.effort.name = name
            state.effort.save(update_fields=["name"])
            references.learn_name(state.effort)
            record(place, "effort.renamed", slug_in(state), name=name, old=old)
    return fresh(state)


def move_turn(place: Place, number: int, slug: str | None) -> None:
    """Let a finished turn belong to another effort, or to none; where it is already, nothing happens."""
    with changing(place) as branch:
        turn = finished_turn(branch, number)
        effort = known(branch, slug).effort if slug is not None else None
        label = labels.label_of(branch, turn)
        source = label.effort if label else None
        if source == effort:
            return
        put_label(branch, turn, effort, TurnLabel.By.MOVED)
        left, came_to = slug_or_none(source), slug_or_none(effort)
        record(place, "turn.moved", came_to or left, moved=number, source=left, target=came_to)


def finished_turn(branch: Branch, number: int) -> Turn:
    turn = branch_turns(branch).filter(number=number).select_related("run").first()
    if turn is None:
        raise Refused("unknown_turn", f"There is no turn {number} here.")
    if turn.run is None or turn.run.state in {*UNFINISHED, RunState.CANCELLED}:
        raise Refused("unfinished", f"Turn {number} has not ended. It can be moved when it has.")
    return turn


def use_summary(place: Place, slug: str) -> None:
    """The person's yes to a summary that waits for it: from now on it stands for the effort."""
    with changing(place) as branch:
        state = known(branch, slug)
        if state.summary != SummaryState.WAITING:
            raise Refused("no_draft", f"No summary of {slug_in(state)} is waiting for a yes.")
        tokens = get_counter(settings.CCM_ENCODING).count(state.draft)
        log = read_effort_log(branch, state.effort)
        standing = StandIn(text=state.draft, tokens=tokens, artifact=state.artifact)
        set_pointer(branch, state.effort, log, standing, actor=place.actor, via=Via.CONTROL)
        stands = {**NO_SUMMARY, "summary": SummaryState.STANDS, "artifact": state.artifact}
        EffortState.objects.filter(pk=state.pk).update(**stands)
        drafter = drafter_of(branch, slug_in(state))
        record(place, "effort.summarised", slug_in(state), text=state.draft, tokens=tokens, drafter=drafter)


def drafter_of(branch: Branch, slug: str) -> str:
    here = Event.objects.filter(session=branch.session_id, data__branch=str(branch.pk), data__effort=slug)
    last = here.filter(kind="effort.summary_waiting").order_by("-seq").first()
    return str(last.data.get("drafter", "")) if last else ""


def stop_summary(place: Place, slug: str) -> None:
    """Nobody waits for it any more; the log stays in the prompt."""
    with changing(place) as branch:
        state = known(branch, slug)
        drafting = EffortState.objects.filter(pk=state.pk, summary__in=[SummaryState.DUE, SummaryState.DRAFTING])
        if not drafting.update(**{**NO_SUMMARY, "summary": SummaryState.FAILED, "draft": STOPPED}):
            raise Refused("not_drafted", f"No summary of {slug_in(state)} is being drafted.")
        record(place, "effort.summary_failed", slug_in(state), text=STOPPED)
        transaction.on_commit(events.wake_runners)


def retry_summary(place: Place, slug: str) -> None:
    with changing(place) as branch:
        state = known(branch, slug)
        failed = EffortState.objects.filter(pk=state.pk, summary=SummaryState.FAILED)
        if not failed.update(**SUMMARY_DUE):
            raise Refused("not_failed", f"The summary of {slug_in(state)} has not failed.")
        transaction.on_commit(events.wake_runners)


def concluded_already(state: EffortState) -> str:
    slug = slug_in(state)
    return f'{slug} is concluded. reopen_effort("{slug}") opens it again, expand_effort("{slug}") shows it.'
