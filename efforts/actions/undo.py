"""One change taken back: of an effort as long as nothing else has happened to it since, of a rule while it holds, of a
pin that ended by itself, of a proposal that the model dropped."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from efforts.context.expansion import price
from efforts.domain.effort.chosen import BODY
from efforts.domain.effort.states import EffortStatus, PointerState, Via
from efforts.domain.errors import Refused
from efforts.log import labels
from efforts.log.events import AGED_EVENTS
from efforts.log.timelines import branch_turns, clock_of
from efforts.memory import holds, references
from efforts.models import Branch, ContextPointer, Effort, EffortState, Event, TurnLabel
from efforts.standins import compacting
from efforts.standins.chosen import Chosen, find_chosen

from . import focus
from .chosen import check_room
from .constraints import revoke_set
from .efforts import check_affordable, check_expandable, finished_turn
from .exclusions import LEFT_OUT, PUT_BACK, take_back
from .focus import FOCUSED, UNFOCUSED
from .holds import pin_again
from .ledger import propose_again
from .places import (
    Place,
    activate,
    active_slug,
    changing,
    fresh,
    known,
    latest_open,
    move,
    put_label,
    record,
    refer,
    slug_or_none,
    states_of,
    where_of,
)
from .pointers import NO_SUMMARY, end_pointers, restore_latest, settle_effort, summary_due, summary_rolled_back

Inverse = Callable[[Place, Branch, dict[str, Any]], None]


def undo(place: Place, seq: int) -> None:
    """Take event `seq` back. The log keeps it, and says that it was taken back. Raises `Refused` where it cannot be
    taken back, or something else has changed the same since."""
    with changing(place) as branch:
        event = of_branch(branch).filter(seq=seq).first()
        if event is None:
            raise Refused("unknown_event", "There is no such change here.")
        if event.kind in OWN:
            OWN[event.kind](place, branch, event)
            return
        if not can_be_undone(event):
            raise Refused("not_undoable", "This cannot be taken back.")
        check_last(branch, event)
        if event.kind in OF_CHOSEN:
            OF_CHOSEN[event.kind](place, branch, chosen_of(branch, event))
        else:
            if event.kind != "turn.moved":
                refer(branch, event.data["effort"])
            INVERSES[event.kind](place, branch, event.data)
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


def unopen(place: Place, branch: Branch, data: dict[str, Any]) -> None:
    """Its turns go back to the effort that was active before; nothing remains of it in this branch."""
    state, before = known(branch, data["effort"]), effort_of(branch, data["before"])
    for label in TurnLabel.objects.filter(branch=branch, effort=state.effort).select_related("turn"):
        put_label(branch, label.turn, before, TurnLabel.By.BEGAN)
    focus.end_with(place, branch, state.effort)
    state.delete()
    holds.end_with(branch, state.effort, where_of(place))
    give_way(place, branch, state.effort, data["before"])


def unconclude(place: Place, branch: Branch, data: dict[str, Any]) -> None:
    state = known(branch, data["effort"])
    changes = {"concluded_turn": None, "via": "", "said": "", **NO_SUMMARY}
    move(state, EffortStatus.OPEN, "It is open already.", **changes)
    end_pointers(branch, state.effort, PointerState.INVALIDATED)
    if not data["was_active"]:
        return_turn(branch, data, by=TurnLabel.By.CLOSED, before=data["next"])
    # Where the person has gone elsewhere since, they are not called back.
    back = data["was_active"] and active_slug(branch) == data["next"]
    activate(branch, state.effort if back else branch.active_effort, place.turn)


def conclude_again(place: Place, branch: Branch, data: dict[str, Any]) -> None:
    """As it was concluded before; its summary stands again if what it was made from is still all there is."""
    state = known(branch, data["effort"])
    rolled_back = data.get("rolled_back")
    summary = summary_due(branch) if rolled_back is None else summary_rolled_back(rolled_back)
    # Events from before there were such words.
    said = data.get("concluded_said", "")
    changes = {"concluded_turn": data["concluded_turn"], "via": data["concluded_via"], "said": said, **summary}
    move(state, EffortStatus.CONCLUDED, "It is concluded already.", **changes)
    return_turn(branch, data, by=TurnLabel.By.OPENED, before=data["before"])
    give_way(place, branch, state.effort, data["before"])
    # Events from before do not say what stood.
    stood = {"pk": data["stood"]} if "stood" in data else {}
    if rolled_back is not None:
        return
    if restore_latest(branch, state.effort, **stood) is None:
        settle_effort(branch, fresh(state))
    elif beside := data.get("beside"):
        EffortState.objects.filter(pk=state.pk).update(**beside)


def switch_back(place: Place, branch: Branch, data: dict[str, Any]) -> None:
    before = effort_of(branch, data["before"], status=EffortStatus.OPEN)
    if active_slug(branch) != data["effort"] or slug_or_none(before) != data["before"]:
        raise Refused("overtaken", f"{data['effort']} or the effort before it has changed since. Use their controls.")
    return_turn(branch, data, by=TurnLabel.By.OPENED, before=data["before"])
    activate(branch, before, place.turn)


def unexpand(place: Place, branch: Branch, data: dict[str, Any]) -> None:
    states_of(branch).filter(effort__slug=data["effort"]).update(expanded_turn=None)


def expand_again(place: Place, branch: Branch, data: dict[str, Any]) -> None:
    state = known(branch, data["effort"])
    check_expandable(place, branch, state)
    check_affordable(branch, place, state, state.expanded_what)
    EffortState.objects.filter(pk=state.pk).update(expanded_turn=place.turn)


def unage(place: Place, branch: Branch, data: dict[str, Any]) -> None:
    """Its log awaits a summary again, as it did before."""
    state = known(branch, data["effort"])
    compacting.registered().roll_back(data["artifact"], place.actor, branch)
    EffortState.objects.filter(pk=state.pk).update(**data["was"])


def move_back(place: Place, branch: Branch, data: dict[str, Any]) -> None:
    turn = finished_turn(branch, data["moved"])
    source = known(branch, data["source"]).effort if data["source"] else None
    put_label(branch, turn, source, TurnLabel.By.MOVED)


INVERSES: dict[str, Inverse] = {
    "effort.opened": unopen,
    "effort.concluded": unconclude,
    "effort.reopened": conclude_again,
    "effort.switched": switch_back,
    "effort.expanded": unexpand,
    "effort.collapsed": expand_again,
    "effort.decayed": expand_again,
    "effort.aged": unage,
    "turn.moved": move_back,
}


def chosen_of(branch: Branch, event: Event) -> Chosen:
    """As they stand now; by the same summary still."""
    one = find_chosen(branch, event.data["id"])
    if one is None or one.pointer.artifact != event.data["artifact"]:
        raise Refused("overtaken", f"{event.data['id']} has another summary now, or none. Look again.")
    return one


def unexpand_chosen(place: Place, branch: Branch, one: Chosen) -> None:
    ContextPointer.objects.filter(pk=one.pointer.pk).update(expanded_turn=None)


def expand_chosen_again(place: Place, branch: Branch, one: Chosen) -> None:
    check_room(one, price(branch, place.run, one.id))
    ContextPointer.objects.filter(pk=one.pointer.pk).update(expanded_turn=place.turn)
    references.touch_chosen(one.pointer, clock_of(branch))


OF_CHOSEN: dict[str, Callable[[Place, Branch, Chosen], None]] = {
    "compaction.expanded": unexpand_chosen,
    "compaction.collapsed": expand_chosen_again,
    "compaction.decayed": expand_chosen_again,
}
UNDONE = ("effort.undone", "compaction.undone")


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


def effort_of(branch: Branch, slug: str | None, **wanted: Any) -> Effort | None:
    state = states_of(branch).filter(effort__slug=slug, **wanted).first() if slug else None
    return state.effort if state else None


def give_way(place: Place, branch: Branch, effort: Effort, before: str | None) -> None:
    """The effort is not open any more: where it was active, the one before it is, or the one that was last."""
    if branch.active_effort == effort:
        back = effort_of(branch, before, status=EffortStatus.OPEN) if before else None
        activate(branch, back or (latest_open(branch) if before else None), place.turn)
    else:
        activate(branch, branch.active_effort, place.turn)


def return_turn(branch: Branch, data: dict[str, Any], *, by: str, before: str | None) -> None:
    """The turn that followed the model's change goes back with it."""
    turn = branch_turns(branch).filter(number=data["turn"]).first() if data["via"] == Via.MODEL else None
    label = labels.label_of(branch, turn) if turn else None
    if turn and label and (label.by, label.effort.slug) == (by, data["effort"]):
        put_label(branch, turn, effort_of(branch, before), TurnLabel.By.BEGAN)
