"""Chosen turns: asked to be summarised, what that takes before it is done, and what stands for them taken back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.cache import never_cache

from efforts import actions
from efforts.actions import Place
from efforts.actions.scopes import LONGEST_FOCUS
from efforts.context import efforts
from efforts.domain.errors import Refused
from efforts.domain.text.counting import number_in
from efforts.models import Branch, ScopeDraft
from efforts.pages.views.chat import command
from efforts.pages.views.shared import OwnRequest, about, dialog, done, form_of_branch, page_of_branch, part, place

VERBS: Mapping[str, Callable[[Place, ScopeDraft], object]] = {
    "stop": actions.stop_compaction,
    "again": actions.redraft_turns,
}
WHICH_TURNS = "Which turns? Give the number of the first and of the last."


@never_cache
@form_of_branch
def compact(request: OwnRequest, branch: Branch) -> HttpResponse:
    if request.method != "POST":
        return scope_form(request, branch, request.GET)
    try:
        focus = request.POST.get("focus", "")
        actions.compact_turns(place(request, branch), *chosen(request.POST, branch), focus=focus)
    except Refused as error:
        return scope_form(request, branch, request.POST, error=error.text)
    return done("closeDialog", "efforts") if request.htmx else redirect(branch)


def chosen(sent: Mapping[str, str], branch: Branch) -> tuple[int, int]:
    """To the newest turn where no other is named."""
    first = number_in(sent.get("first", "").strip())
    last = number_in(sent.get("last", "").strip() or str(branch.head))
    if first is None or last is None:
        raise Refused("which_turns", WHICH_TURNS)
    return first, last


def scope_form(request: OwnRequest, branch: Branch, sent: Mapping[str, str], *, error: str = "") -> HttpResponse:
    context = {
        **about(branch),
        **looked_at(branch, sent),
        "first": sent.get("first", ""),
        "last": sent.get("last", "") or branch.head,
        "focus": sent.get("focus", ""),
        "longest_focus": LONGEST_FOCUS,
        "title": "Summarise turns",
        "error": error,
    }
    return dialog(request, "scopes/form.html", context, status=422 if error else 200)


def looked_at(branch: Branch, sent: Mapping[str, str]) -> dict[str, Any]:
    ends = [begun(branch, sent.get("first", "")), begun(branch, sent.get("last", "") or str(branch.head))]
    try:
        return {"ends": ends, "look": actions.look_at_turns(branch, *chosen(sent, branch))}
    except Refused as error:
        return {"ends": ends, "refusal": error.text}


def begun(branch: Branch, number: str) -> str:
    """The first words of a turn, by which it is known where turns have no numbers; empty where there is none."""
    return efforts.words_of_turn(branch, number_in(number.strip()) or 0)


@page_of_branch
def look(request: OwnRequest, branch: Branch) -> HttpResponse:
    """What summarising would take, while the turns are being chosen."""
    return part(request, "scopes/look.html", {**about(branch), **looked_at(branch, request.GET), "swapped": True})


@command
def change(request: OwnRequest, branch: Branch, pk: int, verb: str) -> Mapping[str, Any]:
    if verb not in VERBS:
        raise Http404
    VERBS[verb](place(request, branch), get_object_or_404(ScopeDraft, branch=branch, pk=pk))
    return {"draft": pk}
