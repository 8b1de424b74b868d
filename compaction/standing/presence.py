"""Whether what stands for turns is in the next prompt: not while its turns are expanded, nor when it has left."""

from __future__ import annotations

from collections.abc import Collection
from enum import StrEnum

from django.db.models import Q

from efforts.domain.effort.chosen import BODY, RAW
from efforts.models import ContextPointer, EffortState


class Presence(StrEnum):
    SENT = "sent"
    # All of it is sent, not only what stands first.
    FULL = "full"
    # The model is sent the turns instead.
    EXPANDED = "expanded"
    # Neither is sent: nothing has mentioned them for too long.
    LEFT = "left"


def presence_of(pointer: ContextPointer) -> Presence:
    return presences_of([pointer])[pointer.pk]


def presences_of(pointers: Collection[ContextPointer]) -> dict[int, Presence]:
    """By pointer, of those that stand; one query however many they are."""
    places = [Q(branch=one.branch_id, effort=one.effort_id) for one in pointers if one.effort_id]
    states = EffortState.objects.filter(Q(*places, _connector=Q.OR)) if places else EffortState.objects.none()
    efforts = {(one.branch_id, one.effort_id): one for one in states}
    return {one.pk: presence(one, efforts.get((one.branch_id, one.effort_id or 0))) for one in pointers}


def presence(pointer: ContextPointer, effort: EffortState | None) -> Presence:
    if pointer.effort_id is None:
        expanded, what, evicted = pointer.expanded_turn, RAW, pointer.evicted_clock
    elif effort is None:
        return Presence.SENT
    else:
        expanded, what, evicted = effort.expanded_turn, effort.expanded_what, effort.evicted_clock
    if expanded is not None:
        return Presence.FULL if what == BODY else Presence.EXPANDED
    return Presence.SENT if evicted is None else Presence.LEFT
