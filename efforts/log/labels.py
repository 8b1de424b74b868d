"""Which effort a turn belongs to in a branch, and the sums that follow from it.

Every function belongs inside the transaction of a caller that holds the lock of the branch.
"""

from __future__ import annotations

from django.db.models import Count, Exists, OuterRef, QuerySet, Sum

from efforts.domain.effort.phrases import Known
from efforts.domain.effort.states import EffortStatus
from efforts.models import Branch, ContextPointer, Effort, EffortState, PointerTurn, Turn, TurnLabel
from efforts.models.prepared import first, prepared

STRENGTH = [str(by) for by in TurnLabel.By]


def label_of(branch: Branch, turn: Turn) -> TurnLabel | None:
    return first(labels_of(branch, turn.pk))


@prepared
def labels_of(branch: Branch, turn: int) -> QuerySet[TurnLabel]:
    return TurnLabel.objects.filter(branch=branch, turn=turn).select_related("effort")


def begin(branch: Branch, turn: Turn, *, attempt: int, aside: bool = False) -> None:
    """A turn starts: the first time in the effort that is active then, or `aside` of it."""
    label = label_of(branch, turn)
    # Only then: tried again it stays where it is, whatever has become active since or where a person moved it.
    if label is None and attempt == 1 and not aside and branch.active_effort_id:
        began = TurnLabel.By.BEGAN
        label = TurnLabel.objects.create(branch=branch, turn=turn, effort_id=branch.active_effort_id, by=began)
    count(branch, turn, label)


def fields(label: TurnLabel | None) -> dict[str, str | None]:
    """What the event of a turn's end says of it, so that the log alone tells where each turn belongs."""
    return {"effort": label.effort.slug, "by": label.by} if label else {"effort": None, "by": ""}


def settle(branch: Branch, turn: Turn) -> TurnLabel | None:
    """What the turn adds may be another now: the sums of its effort follow."""
    label = label_of(branch, turn)
    count(branch, turn, label)
    return label


def count(branch: Branch, turn: Turn, label: TurnLabel | None) -> None:
    if label:
        recount(branch, label.effort_id)
        touch(branch, label.effort_id, turn.number)


def touch(branch: Branch, effort: Effort | int, number: int) -> None:
    """The effort is active, or has a turn, in turn `number`."""
    EffortState.objects.filter(branch=branch, effort=effort, active_turn__lt=number).update(active_turn=number)


def put(branch: Branch, turn: Turn, effort: Effort | None, by: str) -> None:
    """Label the turn; None makes it ambient. The sums of both efforts follow."""
    before = label_of(branch, turn)
    if effort is None:
        TurnLabel.objects.filter(branch=branch, turn=turn).delete()
    else:
        TurnLabel.objects.update_or_create(branch=branch, turn=turn, defaults={"effort": effort, "by": by})
        recount(branch, effort)
    if before and before.effort != effort:
        recount(branch, before.effort)
    chosen = ContextPointer.objects.filter(branch=branch, effort=None, scope__turn=turn, scope__active=True)
    for pointer in chosen:
        recount_chosen(pointer)


def is_stronger(label: TurnLabel | None, by: str) -> bool:
    return label is not None and STRENGTH.index(label.by) > STRENGTH.index(by)


def recount(branch: Branch, effort: Effort | int) -> None:
    labelled = TurnLabel.objects.filter(branch=branch, effort=effort)
    sums = labelled.aggregate(turns=Count("id"), tokens=Sum("turn__tokens", default=0))
    EffortState.objects.filter(branch=branch, effort=effort).update(**sums)


def recount_chosen(pointer: ContextPointer) -> None:
    ContextPointer.objects.filter(pk=pointer.pk).update(ambient_tokens=ambient_tokens(pointer))


def ambient_tokens(pointer: ContextPointer) -> int:
    """What those of its turns that belong to no effort add to a prompt."""
    labelled = TurnLabel.objects.filter(branch=pointer.branch_id, turn=OuterRef("turn"))
    ambient = PointerTurn.objects.filter(~Exists(labelled), pointer=pointer)
    return int(ambient.aggregate(tokens=Sum("turn__tokens", default=0))["tokens"])


def open_efforts(branch: Branch) -> Known:
    """What a message of the branch can conclude, for `phrases.wishes`."""
    states = open_states(branch)
    names = {state.effort.slug: state.effort.name for state in states}
    active = next((state.effort.slug for state in states if state.effort_id == branch.active_effort_id), "")
    return Known(active=active, open=tuple(names), names=names)


@prepared
def open_states(branch: Branch) -> QuerySet[EffortState]:
    return EffortState.objects.filter(branch=branch, status=EffortStatus.OPEN).select_related("effort")
