"""Pins: set on a turn or an effort, for good or for a while, and taken back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.http import HttpResponse
from django.shortcuts import redirect

from efforts import actions
from efforts.context import holds
from efforts.domain.effort.policy import PIN_TURNS, PIN_UNREFERENCED
from efforts.domain.effort.states import HoldScope, Via
from efforts.domain.errors import Refused, refusal
from efforts.domain.text.counting import number_in
from efforts.models import Branch, Hold
from efforts.pages.views.chat import Verbs, change_row, command
from efforts.pages.views.shared import (
    OwnRequest,
    about,
    back_to,
    dialog,
    done,
    fields,
    form_of_branch,
    place,
    text_field,
)

VERBS: Verbs = {
    "unpin": (actions.unpin, Via.CONTROL),
    "accept": (actions.accept_pin, Via.OFFER),
    "dismiss": (actions.dismiss_pin, Via.OFFER),
}
TURNS = {HoldScope.TURNS: PIN_TURNS, HoldScope.UNREFERENCED: PIN_UNREFERENCED}
WHICH_TURN = "Which turn? Enter its number."


@command
def pin(request: OwnRequest, branch: Branch) -> Mapping[str, Any]:
    """With one click: for good."""
    return {"pin": pin_posted(request, branch).pk}


@command
def change(request: OwnRequest, branch: Branch, pk: int, verb: str) -> Mapping[str, Any]:
    change_row(request, branch, Hold.objects.filter(branch=branch), pk, VERBS, verb)
    return {"pin": pk}


@form_of_branch
def new(request: OwnRequest, branch: Branch) -> HttpResponse:
    """`turn` or `effort` is what shall be pinned; `first` and `last`: one of these turns, which the person names."""
    if request.method != "POST":
        return pin_form(request, branch)
    if error := refusal(lambda: pin_or_unpin(request, branch)):
        return pin_form(request, branch, error=error.text)
    return done("closeDialog", "context") if request.htmx else redirect(back_to(request, branch))


def pin_or_unpin(request: OwnRequest, branch: Branch) -> None:
    if standing := text_field(fields(request), "unpin"):
        actions.unpin(place(request, branch), number_of(standing))
    else:
        pin_posted(request, branch)


def pin_posted(request: OwnRequest, branch: Branch) -> Hold:
    posted = fields(request)
    scope = scope_of(text_field(posted, "scope"))
    if effort := text_field(posted, "effort"):
        return actions.pin_effort(place(request, branch), effort, scope, TURNS.get(scope, 0))
    return actions.pin_turn(place(request, branch), number_of(text_field(posted, "turn")), scope, TURNS.get(scope, 0))


def scope_of(value: str) -> HoldScope:
    try:
        return HoldScope(value or HoldScope.ALWAYS)
    except ValueError as error:
        raise Refused("bad_scope", "A pin cannot last so long. Choose one of those offered.") from error


def number_of(value: str) -> int:
    number = number_in(value)
    if number is None:
        raise Refused("which_turn", WHICH_TURN)
    return number


def pin_form(request: OwnRequest, branch: Branch, *, error: str = "") -> HttpResponse:
    sent = request.POST if request.method == "POST" else request.GET
    turn, effort, first, last = (sent.get(name, "") for name in ("turn", "effort", "first", "last"))
    named = effort or (f"turn {turn}" if turn.isdecimal() and not first else "")
    context = {
        **about(branch),
        "turn": turn,
        "effort": effort,
        "first": first,
        "last": last,
        "next": sent.get("next", ""),
        "asks_turn": not named,
        "title": f"Pin {named or 'a turn'}",
        "turns": PIN_TURNS,
        "unreferenced": PIN_UNREFERENCED,
        "held": held(branch, turn, effort),
        "error": error,
    }
    return dialog(request, "pins/form.html", context, status=422 if error else 200)


def held(branch: Branch, turn: str, effort: str) -> holds.HoldView | None:
    standing = holds.standing_holds(branch)
    return next((one for one in standing if (str(one.turn or ""), one.effort) == (turn, effort)), None)
