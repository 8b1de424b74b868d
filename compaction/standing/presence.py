"""Whether what stands for turns is in the next prompt: not while its turns are expanded, nor when it has left."""

from __future__ import annotations

from collections.abc import Collection
from enum import StrEnum

from django.db.models import Q

from efforts.domain.effort.chosen import RAW
from efforts.models import ContextPointer, EffortState


class Presence(StrEnum):
    SENT = "sent"
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
        expanded, evicted = pointer.expanded_turn, pointer.evicted_clock
    elif effort is None:
        return Presence.SENT
    else:
        expanded = effort.expanded_turn if effort.expanded_what == RAW else None
        evicted = effort.evicted_clock
    if expanded is not None:
        return Presence.EXPANDED
    return Presence.SENT if evicted is None else Presence.LEFT
