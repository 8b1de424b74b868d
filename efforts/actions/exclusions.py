"""A turn is left out of prompts, and put back. Only a person does either."""

from __future__ import annotations

from efforts.domain.errors import Refused
from efforts.log.exclusions import left_out
from efforts.models import Branch, Event, Exclusion, Turn, TurnLabel

from .efforts import finished_turn
from .places import Place, changing, record
from .pointers import restore_latest, source_changes, words_change

LEFT_OUT, PUT_BACK = "turn.left_out", "turn.put_back"
# Each is read for every plan.
MOST = 200


def leave_out(place: Place, number: int) -> None:
    """From the next call on no prompt has anything of the turn. What was summarised with it is summarised anew. Raises
    `Refused` where too many are left out."""
    with changing(place) as branch:
        turn = finished_turn(branch, number)
        # In another tab it was left out already, which is what was wanted.
        if left_out(branch).filter(turn=turn).exists():
            return
        if left_out(branch).count() >= MOST:
            raise Refused("too_many", f"{MOST} messages are left out already. Put one back first.")
        Exclusion.objects.create(branch=branch, turn=turn)
        summarise_anew(place, branch, turn)
        record(place, LEFT_OUT, None, left=number)


def put_back(place: Place, number: int) -> None:
    """The turn is in prompts again; what was summarised without it is summarised anew."""
    with changing(place) as branch:
        turn = finished_turn(branch, number)
        if left_out(branch).filter(turn=turn).delete()[0]:
            summarise_anew(place, branch, turn)
            record(place, PUT_BACK, None, left=number)


def take_back(place: Place, branch: Branch, event: Event) -> None:
    """Undo of either. Raises `Refused` where the turn was changed again since."""
    number = event.data["left"]
    is_out = left_out(branch).filter(turn__number=number).exists()
    if is_out != (event.kind == LEFT_OUT):
        raise Refused("overtaken", f"Turn {number} was changed again since.")
    (put_back if is_out else leave_out)(place, number)


def summarise_anew(place: Place, branch: Branch, turn: Turn) -> None:
    """What stands for the turn was made of other words; a summary that was made of just these stands again."""
    if place.actor is None:
        raise Refused("person_only", "Only the user leaves messages out, and puts them back.")
    source_changes(branch, turn)
    words_change(branch, turn, place.actor)
    for label in TurnLabel.objects.filter(branch=branch, turn=turn).select_related("effort"):
        restore_latest(branch, label.effort)


def copy_exclusions(source: Branch, fork: Branch) -> list[int]:
    """What is left out of `source` is left out of the fork too, as far as it has it; the numbers of the turns."""
    rows = left_out(source).filter(turn__number__lte=fork.fork_turn).select_related("turn")
    shared = [row.turn for row in rows.order_by("turn__number") if fork.has(row.turn)]
    Exclusion.objects.bulk_create(Exclusion(branch=fork, turn=turn) for turn in shared)
    return [turn.number for turn in shared]
