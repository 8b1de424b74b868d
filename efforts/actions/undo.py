"""One change taken back: of an effort as long as nothing else has happened to it since, of a rule while it holds, of a
pin that ended by itself, of a proposal that the model dropped."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from efforts.context.courses import Read, course_now
from efforts.domain.effort.chosen import BODY
from efforts.domain.effort.reducer import BEGAN, INVERSES, Course, Happening, Label
from efforts.domain.effort.states import UNFINISHED, EffortStatus
from efforts.domain.errors import Refused
from efforts.log.events import AGED_EVENTS
from efforts.log.timelines import branch_turns, clock_of
from efforts.memory import holds, references
from efforts.models import Branch, ContextPointer, Effort, EffortState, Event, TurnLabel
from efforts.standins import compacting
from efforts.standins.chosen import Chosen, find_chosen

from . import focus
from .chosen import check_room
from .constraints import revoke_set
from .efforts import check_expandable, finished_turn
from .exclusions import LEFT_OUT, PUT_BACK, take_back
from .focus import FOCUSED, UNFOCUSED
from .holds import pin_again
from .ledger import propose_again
from .places import (
    Place,
    activate,
    changing,
    fresh,
    known,
    put_label,
    record,
    states_of,
    where_of,
)
from .pointers import NO_SUMMARY, end_pointer, restore_latest, settle_effort, summary_due, summary_rolled_back

UNDONE = ("effort.undone", "compaction.undone")


def undo(place: Place, seq: int) -> None:
    """Take event `seq` back. The log keeps it, and says that it was taken back. Raises `Refused` where it cannot be
    taken back, or something else has changed the same since."""
    event = of_branch(place.branch).filter(seq=seq).first()
    if event is None:
        raise Refused("unknown_event", "There is no such change here.")
    if event.kind not in OWN and not can_be_undone(event):
        raise Refused("not_undoable", "This cannot be taken back.")
    # Read before others have to wait: a long log takes its time.
    before = course_now(place.branch) if event.kind in INVERSES else None
    with changing(place) as branch:
        if event.kind in OWN:
            OWN[event.kind](place, branch, event)
            return
        check_last(branch, event)
        if event.kind in OF_CHOSEN:
            OF_CHOSEN[event.kind](place, branch, chosen_of(branch, event))
        else:
            take_effort_back(place, branch, event, before)
        tell(place, event, "undone", undone=event.kind)


def too_early(place: Place, seq: int) -> None:
    """An expansion ended before the person was done with it: it stands again, and that is counted. Raises `Refused`
    where nothing has ended by itself there."""
    with changing(place) as branch:
        event = of_branch(branch).filter(seq=seq, kind__in=AGED_EVENTS).first()
        if event is None:
            raise Refused("unknown_event", "Nothing has ended by itself there.")
        undo(place, seq)
        tell(place, event, "too_early")


def tell(place: Place, event: Event, what: str, **more: Any) -> None:
    """That this has become of the event: as of its effort, or of its chosen turns."""
    if event.kind in OF_CHOSEN:
        more |= {"id": event.data["id"], "artifact": event.data["artifact"]}
        record(place, f"compaction.{what}", None, of=event.seq, **more)
    else:
        record(place, f"effort.{what}", event.data["effort"], of=event.seq, **more)


def of_branch(branch: Branch) -> Any:
    return Event.objects.filter(session=branch.session_id, data__branch=str(branch.pk))


def can_be_undone(event: Event) -> bool:
    # The whole of a summary that came back leaves again by itself; nobody knows how long one line had stood before.
    whole_summary = event.kind == "compaction.expanded" and event.data["what"] == BODY
    return event.kind in {*INVERSES, *OF_CHOSEN} and not whole_summary


def check_last(branch: Branch, event: Event) -> None:
    changing_kinds = [*INVERSES, *OF_CHOSEN]
    since = list(of_branch(branch).filter(seq__gt=event.seq, kind__in=[*changing_kinds, *UNDONE]))
    taken_back = {later.data["of"] for later in since if later.kind in UNDONE}
    if event.seq in taken_back:
        raise Refused("undone", "This was taken back already.")
    standing = [later for later in since if later.kind in changing_kinds and later.seq not in taken_back]
    if any(touches(later, event) for later in standing):
        raise Refused("overtaken", f"More has happened to {subject(event)} since. Use its controls.")


def subject(event: Event) -> str:
    """The id of an effort, or of chosen turns: no effort has such a one."""
    return str(event.data["id"] if event.kind in OF_CHOSEN else event.data["effort"])


def touches(later: Event, event: Event) -> bool:
    """Whether `later` changed what `event` had made."""
    if event.kind == "turn.moved":
        return later.kind == "turn.moved" and later.data["moved"] == event.data["moved"]
    if later.kind == "turn.moved":
        # Only an opening took turns with it that would have to go back.
        slugs = (later.data["source"], later.data["target"])
        return event.kind == "effort.opened" and event.data["effort"] in slugs
    return subject(later) == subject(event)


# Efforts


def take_effort_back(place: Place, branch: Branch, event: Event, before: Read | None) -> None:
    """The rows are what the log comes to once it says so; of what stands for an effort it does not tell. `before`: what
    was read of the log."""
    efforts = {effort.slug: effort for effort in Effort.objects.filter(session=branch.session_id)}
    effort = efforts[event.data["effort"]]
    if event.kind in BEFORE:
        BEFORE[event.kind](place, branch, effort, event.data)
    course = by_now(branch, before)
    labels, epoch = dict(course.labels), course.epoch
    told = {"turn": place.turn, "clock": clock_of(branch), "effort": effort.slug, "of": event.seq}
    course.take(Happening(seq=0, kind="effort.undone", data=told))
    states = EffortState.objects.filter(branch=branch, effort=effort)
    if effort.slug in course.efforts:
        states.update(**vars(course.efforts[effort.slug]))
    else:
        states.delete()
    for number in labels.keys() | course.labels.keys():
        label = course.labels.get(number)
        if label != labels.get(number):
            turn = branch_turns(branch).get(number=number)
            put_label(branch, turn, efforts[label.slug] if label else None, label.by if label else BEGAN)
    if course.epoch > epoch:
        activate(branch, efforts.get(course.active or ""), place.turn)
    if event.kind in AFTER:
        AFTER[event.kind](place, branch, effort, event.data)


def by_now(branch: Branch, before: Read | None) -> Course:
    """By its log; of a turn that has not ended this does not tell yet."""
    course, _ = course_now(branch, before)
    running = TurnLabel.objects.filter(branch=branch, turn__run__state__in=UNFINISHED).select_related("turn", "effort")
    course.labels |= {row.turn.number: Label(slug=row.effort.slug, by=row.by) for row in running}
    return course


def end_summary(place: Place, branch: Branch, effort: Effort, data: dict[str, Any]) -> None:
    EffortState.objects.filter(branch=branch, effort=effort).update(**NO_SUMMARY)
    end_pointer(branch, effort)


def check_switch(place: Place, branch: Branch, effort: Effort, data: dict[str, Any]) -> None:
    before = data["before"]
    is_open = before is None or states_of(branch).filter(effort__slug=before, status=EffortStatus.OPEN).exists()
    if branch.active_effort != effort or not is_open:
        raise Refused("overtaken", f"{effort} or the effort before it has changed since. Use their controls.")


def check_expansion(place: Place, branch: Branch, effort: Effort, data: dict[str, Any]) -> None:
    state = known(branch, effort.slug)
    check_expandable(place, branch, state)
    check_room(place, branch, effort.slug, state.expanded_what)


def summarise_again(place: Place, branch: Branch, effort: Effort, data: dict[str, Any]) -> None:
    """Its summary stands again if what it was made from is still all there is."""
    state, rolled_back = known(branch, effort.slug), data.get("rolled_back")
    states = EffortState.objects.filter(pk=state.pk)
    if rolled_back is not None:
        states.update(**summary_rolled_back(rolled_back))
        return
    states.update(**summary_due(branch))
    # Events from before do not say what stood.
    stood = {"pk": data["stood"]} if "stood" in data else {}
    if restore_latest(branch, effort, **stood) is None:
        settle_effort(branch, fresh(state))
    elif beside := data.get("beside"):
        states.update(**beside)


def await_summary(place: Place, branch: Branch, effort: Effort, data: dict[str, Any]) -> None:
    """As its log did before."""
    EffortState.objects.filter(branch=branch, effort=effort).update(**data["was"])


Step = Callable[[Place, Branch, Effort, dict[str, Any]], object]
BEFORE: dict[str, Step] = {
    "effort.opened": lambda place, branch, effort, data: focus.end_with(place, branch, effort),
    "effort.concluded": end_summary,
    "effort.switched": check_switch,
    "effort.collapsed": check_expansion,
    "effort.decayed": check_expansion,
    "effort.aged": lambda place, branch, effort, data: compacting.registered().roll_back(
        data["artifact"], place.actor, branch
    ),
    "turn.moved": lambda place, branch, effort, data: finished_turn(branch, data["moved"]),
}
AFTER: dict[str, Step] = {
    "effort.opened": lambda place, branch, effort, data: holds.end_with(branch, effort, where_of(place)),
    "effort.reopened": summarise_again,
    "effort.aged": await_summary,
}


# Chosen turns


def chosen_of(branch: Branch, event: Event) -> Chosen:
    """As they stand now; by the same summary still."""
    one = find_chosen(branch, event.data["id"])
    if one is None or one.pointer.artifact != event.data["artifact"]:
        raise Refused("overtaken", f"{event.data['id']} has another summary now, or none. Look again.")
    return one


def collapse_again(place: Place, branch: Branch, one: Chosen) -> None:
    ContextPointer.objects.filter(pk=one.pointer.pk).update(expanded_turn=None)


def expand_again(place: Place, branch: Branch, one: Chosen) -> None:
    check_room(place, branch, one.id)
    ContextPointer.objects.filter(pk=one.pointer.pk).update(expanded_turn=place.turn)
    references.touch_chosen(one.pointer, clock_of(branch))


OF_CHOSEN: dict[str, Callable[[Place, Branch, Chosen], None]] = {
    "compaction.expanded": collapse_again,
    "compaction.collapsed": expand_again,
    "compaction.decayed": expand_again,
}

# Each looks by itself at what has happened since, and tells it.
OWN: dict[str, Callable[[Place, Branch, Event], object]] = {
    "constraint.set": lambda place, branch, event: revoke_set(place, event.data["constraint"], event.seq),
    "hold.ended": pin_again,
    "ledger.dismissed": lambda place, branch, event: propose_again(place, event),
    LEFT_OUT: take_back,
    PUT_BACK: take_back,
    FOCUSED: focus.take_back,
    UNFOCUSED: focus.take_back,
}
