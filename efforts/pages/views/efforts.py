"""Efforts: their panel, and every control over them. What the model can do, a person can do here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from django.http import Http404, HttpResponse
from django.shortcuts import redirect

from efforts import actions
from efforts.actions import Place
from efforts.actions.scopes import LONGEST_FOCUS
from efforts.context import expansion, plans
from efforts.context.efforts import EffortView, efforts_view, where_view
from efforts.context.plans import PlanView
from efforts.domain.effort.chosen import BODY
from efforts.domain.effort.notices import span_said
from efforts.domain.effort.states import Via
from efforts.domain.errors import Refused, refusal
from efforts.models import Branch, Turn
from efforts.pages.forms import EffortForm
from efforts.pages.presenters import chat
from efforts.pages.views.chat import command
from efforts.pages.views.shared import (
    OwnRequest,
    about,
    acted,
    dialog,
    done,
    fields,
    form_of_branch,
    page,
    page_of_branch,
    part,
    place,
    text_field,
    turn_here,
)
from efforts.standins.chosen import Chosen, find_chosen

VERBS: Mapping[str, Callable[[Place, str], object]] = {
    "switch": actions.switch_effort,
    "conclude": actions.close_effort,
    "reopen": actions.reopen_effort,
    "expand": actions.expand_effort,
    "expand-summary": partial(actions.expand_effort, what=BODY),
    "collapse": actions.collapse_effort,
    "focus": actions.focus_effort,
    "end-focus": actions.end_focus,
    "use-summary": actions.use_summary,
    "use-excerpts": actions.use_excerpts,
    "stop-summary": actions.stop_summary,
}


@page_of_branch
def efforts(request: OwnRequest, branch: Branch) -> HttpResponse:
    found = efforts_view(branch, query=request.GET.get("efforts", ""), plan=plans.preview(branch))
    context = {**about(branch), "efforts": found}
    if not request.htmx:
        return page(request, "efforts/page.html", context)
    # The composer names the active effort, which a search must not hide.
    everything = efforts_view(branch) if found.query else found
    return part(request, "efforts/answer.html", {**context, "destinations": everything})


@page_of_branch
def where(request: OwnRequest, branch: Branch) -> HttpResponse:
    context = {**about(branch), "where": where_view(branch), "title": "Where was I?"}
    return dialog(request, "efforts/where_dialog.html", context)


@page_of_branch
def expand_price(request: OwnRequest, branch: Branch, slug: str) -> HttpResponse:
    """What expanding would add to the next prompt, before it is done."""
    chosen = find_chosen(branch, slug)
    context: dict[str, Any] = {
        **about(branch),
        "effort": named_chosen(chosen) if chosen else named_effort(branch, slug),
        "plan": plans.preview(branch),
    }
    try:
        if not chosen or chosen.first:
            price = expansion.price(branch, None, slug)
            context |= {"price": price, "after_percent": percent_with(context["plan"], price.tokens)}
        context["summary_tokens"] = whole_tokens(branch, chosen) if chosen else actions.summary_tokens(branch, slug)
    except Refused as error:
        context["error"] = error.text
    return part(request, "efforts/price.html", context)


def named_chosen(chosen: Chosen) -> Mapping[str, Any]:
    """As the page of a price needs it."""
    name = span_said(chosen.first, chosen.last)
    return {"slug": chosen.id, "name": name, "opened_turn": chosen.first, "active_turn": chosen.last}


def whole_tokens(branch: Branch, chosen: Chosen) -> int:
    """What the whole summary adds where one line of it stands, or nothing; else 0."""
    return 0 if chosen.is_whole else expansion.price(branch, None, chosen.id, BODY).tokens


def percent_with(plan: PlanView, more: int) -> int:
    return round(100 * (plan.tokens + more) / plan.budget) if plan.budget else 0


@command
def change(request: OwnRequest, branch: Branch, slug: str, verb: str) -> Mapping[str, Any]:
    if verb not in VERBS:
        raise Http404
    via = Via.OFFER if text_field(fields(request), "via") == Via.OFFER else Via.CONTROL
    VERBS[verb](place(request, branch, via), slug)
    return {"effort": slug}


@command
def undo(request: OwnRequest, branch: Branch, seq: int) -> Mapping[str, Any]:
    actions.undo(place(request, branch), seq)
    return {"undone": seq}


@command
def too_early(request: OwnRequest, branch: Branch, seq: int) -> Mapping[str, Any]:
    actions.too_early(place(request, branch), seq)
    return {"undone": seq}


@command
def work_session(request: OwnRequest, branch: Branch) -> Mapping[str, Any]:
    return {"collapsed": actions.new_work_session(place(request, branch))}


@form_of_branch
def new(request: OwnRequest, branch: Branch) -> HttpResponse:
    return name_form(request, branch, "New effort", lambda name: actions.open_effort(place(request, branch), name))


@form_of_branch
def rename(request: OwnRequest, branch: Branch, slug: str) -> HttpResponse:
    known = named_effort(branch, slug)
    return name_form(
        request,
        branch,
        "Rename effort",
        lambda name: actions.rename_effort(place(request, branch), slug, name),
        initial=known.name,
    )


@form_of_branch
def draft_again(request: OwnRequest, branch: Branch, slug: str) -> HttpResponse:
    known, focus, error = named_effort(branch, slug), request.POST.get("focus", ""), None
    if request.method == "POST":
        error = refusal(lambda: actions.retry_summary(place(request, branch), slug, focus))
        if error is None:
            return changed(request, branch)
    context = {
        **about(branch),
        "title": "Draft the summary",
        "effort": known,
        "focus": focus,
        "longest_focus": LONGEST_FOCUS,
        "error": error.text if error else "",
    }
    return dialog(request, "efforts/draft.html", context, status=422 if error else 200)


def named_effort(branch: Branch, slug: str) -> EffortView:
    known = next((row for row in efforts_view(branch).rows if row.slug == slug), None)
    if known is None:
        raise Http404
    return known


def name_form(
    request: OwnRequest, branch: Branch, title: str, act: Callable[[str], object], *, initial: str = ""
) -> HttpResponse:
    form = EffortForm(request.POST or None, initial={"name": initial})
    if acted(form, lambda given: act(given["name"]), field="name"):
        return changed(request, branch)
    context = {**about(branch), "form": form, "title": title}
    return dialog(request, "efforts/name.html", context, status=422 if form.errors else 200)


@form_of_branch
def move(request: OwnRequest, branch: Branch, number: int) -> HttpResponse:
    turn = turn_here(branch, number)
    if request.method != "POST":
        return move_form(request, branch, turn)
    try:
        slug = text_field(fields(request), "effort")
        actions.move_turn(place(request, branch), turn.number, slug or None)
    except Refused as error:
        return move_form(request, branch, turn, error=error.text)
    return changed(request, branch)


def move_form(request: OwnRequest, branch: Branch, turn: Turn, *, error: str = "") -> HttpResponse:
    context = {
        **about(branch),
        "turn": chat.turn_view(branch, turn.number),
        "efforts": efforts_view(branch),
        "title": f"Move turn {turn.number}",
        "error": error,
    }
    return dialog(request, "efforts/move.html", context, status=422 if error else 200)


def changed(request: OwnRequest, branch: Branch) -> HttpResponse:
    return done("closeDialog", "efforts") if request.htmx else redirect(branch)
