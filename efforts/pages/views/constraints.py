"""Rules: set, edited and taken back, in one conversation or standing for all."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.views.decorators.http import require_POST

from efforts import actions
from efforts.actions.constraints import LONGEST_RULE
from efforts.domain.effort.states import Via
from efforts.domain.errors import Refused
from efforts.domain.text.locating import one_line
from efforts.models import Branch, Constraint, Message
from efforts.pages.forms import RuleForm
from efforts.pages.views.chat import Verbs, change_row, command, turn_number
from efforts.pages.views.shared import (
    OwnRequest,
    about,
    acted,
    dialog,
    form_of_branch,
    form_view,
    place,
    saved,
    turn_here,
)

VERBS: Verbs = {
    "set": (actions.accept_constraint, Via.OFFER),
    "dismiss": (actions.dismiss_constraint, Via.OFFER),
    "revoke": (actions.revoke_constraint, Via.CONTROL),
}


@form_of_branch
def new(request: OwnRequest, branch: Branch) -> HttpResponse:
    """`turn`: the user's message it is made from; `text`: what of it is selected."""
    sent = request.POST if request.method == "POST" else request.GET
    number = turn_number(sent.get("turn"))
    context = {**about(branch), "turn": number, "title": "New rule", "verb": "Set"}
    here = place(request, branch)
    initial = request.GET.get("text") or (words_of(branch, number) if number else "")
    return rule_form(request, context, initial, lambda text: actions.set_constraint(here, text, turn=number))


def words_of(branch: Branch, number: int) -> str:
    return one_line(turn_here(branch, number).messages.get(role=Message.Role.USER).text)[:LONGEST_RULE]


@form_of_branch
def edit(request: OwnRequest, branch: Branch, pk: int) -> HttpResponse:
    rule = get_object_or_404(Constraint, session=branch.session, pk=pk)
    context = {**about(branch), "title": "Edit rule", "verb": "Save"}
    here = place(request, branch)
    return rule_form(request, context, rule.text, lambda text: actions.edit_constraint(here, pk, text))


@command
def change(request: OwnRequest, branch: Branch, pk: int, verb: str) -> Mapping[str, Any]:
    change_row(request, branch, Constraint.objects.filter(session=branch.session), pk, VERBS, verb)
    return {"rule": pk}


@form_view
def standing_new(request: OwnRequest) -> HttpResponse:
    context = {"title": "New rule for all conversations", "verb": "Set"}
    return rule_form(request, context, "", lambda text: actions.set_standing_rule(request.user, text))


@form_view
def standing_edit(request: OwnRequest, pk: int) -> HttpResponse:
    rule = owned_standing_rule(request, pk)
    context = {"title": "Edit rule", "verb": "Save"}
    return rule_form(request, context, rule.text, lambda text: actions.edit_standing_rule(request.user, pk, text))


@require_POST
def standing_revoke(request: OwnRequest, pk: int) -> HttpResponse:
    owned_standing_rule(request, pk)
    try:
        actions.revoke_standing_rule(request.user, pk)
    # In another tab it is gone already, which is what was wanted.
    except Refused as error:
        if error.code != "changed":
            raise
    return redirect(f"{reverse('settings')}#rules")


def owned_standing_rule(request: OwnRequest, pk: int) -> Constraint:
    return get_object_or_404(Constraint, owner=request.user, session=None, pk=pk)


def rule_form(
    request: OwnRequest, context: Mapping[str, Any], initial: str, act: Callable[[str], object]
) -> HttpResponse:
    form = RuleForm(request.POST if request.method == "POST" else None, initial={"text": initial})
    if acted(form, lambda given: act(given["text"]), field="text"):
        return saved(request, context.get("branch"))
    return dialog(request, "constraints/form.html", {**context, "form": form}, status=422 if form.errors else 200)
