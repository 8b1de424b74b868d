"""Chosen turns that a summary stands for: their words come back, and give way to the summary again."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from efforts.context.expansion import price
from efforts.domain.effort.chosen import BODY, RAW
from efforts.domain.effort.states import Via
from efforts.domain.errors import Refused
from efforts.log.timelines import clock_of
from efforts.memory import references
from efforts.models import Branch, ContextPointer
from efforts.standins.chosen import Chosen, chosen_pointers, with_spans

from .places import Place, record, what_is_shown

# What helps whoever asked, where what is expanded does not fit.
FOR_THE_MODEL = "read_effort shows a span. Only the user can raise the budget: say so if a span is not enough."
FOR_A_PERSON = "Pin the turns you mean, or raise the budget in the settings."
WITHOUT_TURNS = "What this conversation starts from has no turns here. Its whole summary can be expanded: what=body."


def expand_chosen(place: Place, branch: Branch, one: Chosen, what: str) -> int:
    """Show what was said, or the whole summary where one line stands. Returns the tokens that this adds to the prompt.
    Raises `Refused` where that is shown already, has no turns here, or finds no room."""
    if what == RAW and not one.first:
        raise Refused("no_turns", WITHOUT_TURNS)
    if one.is_expanded or (what == BODY and one.is_whole):
        raise Refused("expanded", f"{one.id} is expanded already. {what_is_shown(place, branch, one.id, 0, what)}")
    if what == RAW:
        tokens = check_room(place, branch, one.id)
        ContextPointer.objects.filter(pk=one.pointer.pk).update(expanded_turn=place.turn)
    else:
        tokens = price(branch, place.run, one.id, what).tokens
    references.touch_chosen(one.pointer, clock_of(branch))
    tell(place, "compaction.expanded", one, tokens=tokens, what=what)
    return tokens


def check_room(place: Place, branch: Branch, id: str, what: str = RAW) -> int:
    """What expanding an effort, or chosen turns, would add to the prompt, in tokens. Raises `Refused` with what that
    needs and what is free where it does not fit."""
    cost = price(branch, place.run, id, what)
    if not cost.fits:
        sizes = f"{id} needs {cost.needed:,} tokens, {cost.free:,} free."
        raise Refused("no_room", f"{sizes} {FOR_THE_MODEL if place.via == Via.MODEL else FOR_A_PERSON}")
    return cost.tokens


def collapse_chosen(place: Place, one: Chosen, why: str = "asked") -> None:
    """The summary stands again. Raises `Refused` where the turns are not expanded."""
    if not one.is_expanded:
        raise Refused("not_expanded", f"{one.id} is not expanded, so there is nothing to collapse.")
    ContextPointer.objects.filter(pk=one.pointer.pk).update(expanded_turn=None)
    tell(place, "compaction.collapsed", one, why=why)


def collapse_all_chosen(place: Place, branch: Branch, kept: Collection[str]) -> int:
    """As a new work session begins, but for those with an id that is `kept`; how many there were."""
    all_expanded = with_spans(chosen_pointers(branch).filter(expanded_turn__isnull=False))
    expanded = [one for one in all_expanded if one.id not in kept]
    for one in expanded:
        collapse_chosen(place, one, "work_session")
    return len(expanded)


def tell(place: Place, kind: str, one: Chosen, **more: Any) -> None:
    record(place, kind, None, id=one.id, artifact=one.pointer.artifact, **more)
