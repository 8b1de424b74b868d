"""Efforts: opened, concluded, reopened, switched to, expanded, collapsed; and where turns belong.

People's controls, the model's tools and answered offers call the same functions. Each locks the branch before it looks,
so that no two of them decide on the same state.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import SequenceMatcher, get_close_matches
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.db import transaction
from django.db.models import F, QuerySet

from efforts import events, labels
from efforts.domain.lifecycle import EFFORT_MOVES, UNFINISHED, EffortStatus, PointerState, RunState, SummaryState, Via
from efforts.domain.notices import with_notice
from efforts.domain.resolution import sounds_paused
from efforts.errors import Refused
from efforts.llm.tokens import get_counter
from efforts.models import Branch, Effort, EffortState, Event, Run, Session, Turn, TurnLabel
from efforts.snapshots import branch_turns, main_branch
from efforts.snapshots.expansion import price
from efforts.snapshots.sources import read_effort_log

from .names import checked_name, numbered, slug_of
from .pointers import active_pointers, end_pointers, set_pointer, source_changes

if TYPE_CHECKING:
    from django.contrib.auth.models import User

# Names that are this much alike are one effort to the model that gives them.
NEARLY_THE_SAME = 0.9
# How many ids an error names.
NAMED = 5
NO_SUMMARY = {"summary": SummaryState.NONE, "summary_owner": "", "summary_expires_at": None, "draft": ""}
IN_THE_PROMPT = "Its log is in the prompt already: answer from it."
SUMMARY_DUE = {**NO_SUMMARY, "summary": SummaryState.DUE}


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
        yield locked.select_related("parent", "active_effort", "session").get(pk=place.branch.pk)


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
    state = EffortState.objects.create(branch=branch, effort=effort, opened_turn=place.turn)
    activate(branch, effort, place.turn)
    route(branch, place, effort, TurnLabel.By.OPENED)
    record(place, "effort.opened", effort.slug, name=name, before=before)
    return fresh(state)


def identity(branch: Branch, name: str) -> Effort:
    """A new effort; or one whose opening was taken back, as nothing has it any more."""
    slug, number = slug_of(name), 1
    while twin := Effort.objects.filter(session=branch.session_id, slug=slug).first():
        if not twin.states.exists():
            Effort.objects.filter(pk=twin.pk).update(name=name)
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
        route(branch, place, state.effort, TurnLabel.By.CLOSED)
        activate(branch, latest_open(branch) if was_active else branch.active_effort, place.turn)
        record(place, "effort.concluded", slug_in(state), was_active=was_active, next=active_slug(branch))
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
        cost = price(branch, place.run, slug_in(state))
        if cost.needed > cost.free:
            raise Refused("no_room", no_room(slug_in(state), cost.needed, cost.free))
        EffortState.objects.filter(pk=state.pk).update(expanded_turn=place.turn)
        record(place, "effort.expanded", slug_in(state), tokens=cost.tokens)
    return cost.tokens


def check_expandable(branch: Branch, state: EffortState) -> None:
    slug = slug_in(state)
    if state.status == EffortStatus.OPEN:
        raise Refused("open", f"{slug} is open. {IN_THE_PROMPT}")
    if state.expanded_turn is not None:
        raise Refused("expanded", f"{slug} is expanded already. {IN_THE_PROMPT}")
    if not active_pointers(branch, state.effort).exists():
        raise Refused("awaiting", f"{slug} has no summary yet. {IN_THE_PROMPT}")


def no_room(slug: str, needed: int, free: int) -> str:
    return (
        f"{slug} needs {needed:,} tokens, {free:,} free. read_effort shows a span; "
        "a larger budget in the settings makes room."
    )


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


def new_work_session(place: Place) -> int:
    """Collapse all that is expanded; how many there were."""
    with changing(place) as branch:
        expanded = list(states_of(branch).exclude(expanded_turn=None).order_by("expanded_turn", "pk"))
        for state in expanded:
            collapse(place, state, "work_session")
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
            Effort.objects.filter(pk=state.effort_id).update(name=name)
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
        set_pointer(branch, state.effort, log, text=state.draft, tokens=tokens, actor=place.actor)
        EffortState.objects.filter(pk=state.pk).update(**{**NO_SUMMARY, "summary": SummaryState.STANDS})
        drafter = drafter_of(branch, slug_in(state))
        record(place, "effort.summarised", slug_in(state), text=state.draft, tokens=tokens, drafter=drafter)


def drafter_of(branch: Branch, slug: str) -> str:
    waiting = Event.objects.filter(session=branch.session_id, kind="effort.summary_waiting", data__effort=slug)
    last = waiting.order_by("-seq").first()
    return str(last.data.get("drafter", "")) if last else ""


def retry_summary(place: Place, slug: str) -> None:
    with changing(place) as branch:
        state = known(branch, slug)
        failed = EffortState.objects.filter(pk=state.pk, summary=SummaryState.FAILED)
        if not failed.update(**SUMMARY_DUE):
            raise Refused("not_failed", f"The summary of {slug_in(state)} has not failed.")
        transaction.on_commit(events.wake_runners)


# What the verbs above are made of


def states_of(branch: Branch) -> QuerySet[EffortState]:
    return EffortState.objects.filter(branch=branch).select_related("effort")


def known(branch: Branch, slug: str) -> EffortState:
    """The effort of that id; or of that name, which models give as often."""
    if state := named(branch, slug_of(slug)):
        return state
    raise Refused("unknown", unknown(branch, slug))


def effort_here(branch: Branch, slug: str) -> Effort:
    """The effort of that id or name, as far as the branch has it; else `Refused` names what is close."""
    return known(branch, slug).effort


def named(branch: Branch, slug: str) -> EffortState | None:
    """By id, else by name: a twin's id is not what its name gives."""
    if not slug:
        return None
    if state := states_of(branch).filter(effort__slug=slug).first():
        return state
    return next((state for state in states_of(branch).order_by("pk") if slug_of(state.effort.name) == slug), None)


def nearly_named(branch: Branch, name: str) -> EffortState | None:
    def likeness(state: EffortState) -> float:
        return SequenceMatcher(None, slug_in(state), slug_of(name)).ratio()

    alike = max(states_of(branch).filter(status=EffortStatus.OPEN), key=likeness, default=None)
    return alike if alike and likeness(alike) >= NEARLY_THE_SAME else None


def unknown(branch: Branch, slug: str) -> str:
    ids = list(states_of(branch).values_list("effort__slug", flat=True))
    close = get_close_matches(slug_of(slug), ids, n=NAMED)
    hint = f"Close to it: {', '.join(close)}. " if close else ""
    return f"There is no effort {slug[:80]!r} here. {hint}search_efforts finds efforts."


def the_active(branch: Branch) -> EffortState:
    if branch.active_effort_id:
        return states_of(branch).get(effort=branch.active_effort_id)
    ids = open_ids(branch)
    hint = f"Open: {', '.join(ids)}. Name the one to conclude." if ids else "None is open, so none can be concluded."
    raise Refused("none_active", f"No effort is active. {hint}")


def open_ids(branch: Branch) -> list[str]:
    states = states_of(branch).filter(status=EffortStatus.OPEN).order_by("-active_turn", "-pk")
    return list(states.values_list("effort__slug", flat=True)[:NAMED])


def latest_open(branch: Branch) -> Effort | None:
    state = states_of(branch).filter(status=EffortStatus.OPEN).order_by("-active_turn", "-pk").first()
    return state.effort if state else None


def move(state: EffortState, to: EffortStatus, refusal: str, **changes: Any) -> None:
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


def route(branch: Branch, place: Place, effort: Effort, by: str) -> None:
    """The running turn follows what is done in it; what is done between turns moves none."""
    if place.run and not labels.is_stronger(labels.label_of(branch, place.run.turn), by):
        put_label(branch, place.run.turn, effort, by)


def put_label(branch: Branch, turn: Turn, effort: Effort | None, by: str) -> None:
    label = labels.label_of(branch, turn)
    changes = effort != (label.effort if label else None)
    if changes:
        source_changes(branch, turn)
    labels.put(branch, turn, effort, by)
    if changes:
        source_changes(branch, turn)


def record(place: Place, kind: str, slug: str | None, **more: Any) -> int:
    data = {"turn": place.turn, "branch": str(place.branch.pk), "effort": slug, "via": str(place.via), **more}
    return events.append(place.branch.session_id, kind, with_notice(kind, data), actor=place.actor)


def fresh(state: EffortState) -> EffortState:
    return EffortState.objects.select_related("effort", "branch").get(pk=state.pk)


def active_slug(branch: Branch) -> str | None:
    return slug_or_none(branch.active_effort)


def slug_or_none(effort: Effort | None) -> str | None:
    return effort.slug if effort else None


def slug_in(state: EffortState) -> str:
    return state.effort.slug


def concluded_already(state: EffortState) -> str:
    slug = slug_in(state)
    return f'{slug} is concluded. reopen_effort("{slug}") opens it again, expand_effort("{slug}") shows it.'
