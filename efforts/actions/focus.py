"""The focus: the effort in which recall looks first, and whose summary stays. Only a person names it, and ends it."""

from __future__ import annotations

from efforts.domain.errors import Refused
from efforts.models import Branch, Effort, Event

from .places import Place, changing, known, record, refer, states_of

FOCUSED, UNFOCUSED = "effort.focused", "effort.unfocused"
NO_FOCUS = "The focus is on no effort, so there is none to end."
ELSEWHERE = "The focus is not on {slug}, so there is none to end."
PERSON_ONLY = "Only the user chooses a focus."


def focus_effort(place: Place, slug: str) -> None:
    """Of all that is recalled from now on, what was said in this effort comes first. Raises `Refused` where a person
    does not do it."""
    if place.actor is None:
        raise Refused("person_only", PERSON_ONLY)
    with changing(place) as branch:
        put(place, branch, known(branch, slug).effort)


def end_focus(place: Place, slug: str | None = None) -> None:
    """`slug`: the effort it is to be on. Raises `Refused` where the focus is on none, or on another, or where a person
    does not do it."""
    if place.actor is None:
        raise Refused("person_only", PERSON_ONLY)
    with changing(place) as branch:
        if branch.focus is None:
            raise Refused("no_focus", NO_FOCUS)
        if slug is not None and known(branch, slug).effort != branch.focus:
            raise Refused("no_focus", ELSEWHERE.format(slug=slug))
        put(place, branch, None)


def end_with(place: Place, branch: Branch, effort: Effort) -> None:
    """The effort goes, and the focus with it."""
    if branch.focus == effort:
        put(place, branch, None)


def take_back(place: Place, branch: Branch, event: Event) -> None:
    """Undo of either. Raises `Refused` where the focus has changed since."""
    slug, then = event.data["effort"], event.kind == FOCUSED
    now = branch.focus.slug if branch.focus else None
    if now != (slug if then else None):
        raise Refused("overtaken", "The focus has changed since.")
    back = event.data["before"] if then else slug
    state = states_of(branch).filter(effort__slug=back).first() if back else None
    put(place, branch, state.effort if state else None)


def put(place: Place, branch: Branch, effort: Effort | None) -> None:
    before = branch.focus
    # In another tab it was done already, which is what was wanted.
    if effort == before:
        return
    Branch.objects.filter(pk=branch.pk).update(focus=effort)
    branch.focus = effort
    # What it was on goes on to age from now.
    for one in (before, effort):
        if one:
            refer(branch, one.slug)
    if effort:
        record(place, FOCUSED, effort.slug, before=before.slug if before else None)
    elif before:
        record(place, UNFOCUSED, before.slug)
