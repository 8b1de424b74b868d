"""Pointers: the text that stands in for the turns of a concluded effort, set and taken back.

Every function belongs inside the transaction of a caller that holds the lock of the branch.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db import models

from efforts import compacting, references
from efforts.domain.lifecycle import EffortStatus, PointerState, SummaryState
from efforts.models import Branch, ContextPointer, Effort, EffortState, PointerTurn, TurnLabel

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from efforts.models import Turn
    from efforts.snapshots.sources import EffortLog


@dataclass(frozen=True, kw_only=True)
class StandIn:
    """What stands in, its tokens, and the id of the artifact that it is of; of none where it is too short for one."""

    text: str
    tokens: int
    artifact: str = ""


def set_pointer(
    branch: Branch, effort: Effort, log: EffortLog, standing: StandIn, *, actor: User | None, via: str
) -> ContextPointer:
    """`standing` stands in for all turns of `log`; the pointer before it is superseded and kept as previous.

    Raises `Refused` where the gates no longer say that it may.
    """
    earlier = list(active_pointers(branch, effort))
    end_pointers(branch, effort, PointerState.SUPERSEDED)
    pointer = ContextPointer.objects.create(
        branch=branch, effort=effort, source_sha256=log.source.sha256, actor=actor, **vars(standing)
    )
    PointerTurn.objects.bulk_create(
        [PointerTurn(pointer=pointer, branch=branch, turn_id=turn_id) for turn_id in log.turn_ids]
    )
    pointer.previous.set(earlier)
    if standing.artifact:
        compacting.registered().accept(standing.artifact, pointer, log, actor, via)
    references.learn_headline(effort, standing.text, log.turn_ids)
    return pointer


def end_pointers(branch: Branch, effort: Effort, state: PointerState) -> int:
    """Take the effort's active pointer away; how many there were."""
    ending = list(active_pointers(branch, effort).values_list("pk", flat=True))
    PointerTurn.objects.filter(pointer__in=ending).update(active=False)
    return ContextPointer.objects.filter(pk__in=ending).update(state=state)


def source_changes(branch: Branch, turn: Turn) -> None:
    """A concluded effort that `turn` belongs to is summarised anew: what it said is about to be another."""
    for label in TurnLabel.objects.filter(branch=branch, turn=turn).select_related("effort"):
        concluded = EffortState.objects.filter(branch=branch, effort=label.effort, status=EffortStatus.CONCLUDED)
        if concluded.update(summary=SummaryState.DUE, summary_owner="", summary_expires_at=None, draft="", artifact=""):
            end_pointers(branch, label.effort, PointerState.INVALIDATED)


def active_pointers(branch: Branch, effort: Effort) -> models.QuerySet[ContextPointer]:
    return ContextPointer.objects.filter(branch=branch, effort=effort, state=PointerState.ACTIVE)
