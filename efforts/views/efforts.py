"""Efforts: their panel, and every control over them. What the model can do, a person can do here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any
from uuid import UUID

from django.http import Http404, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods

from efforts import actions, snapshots
from efforts.actions import Place
from efforts.domain.lifecycle import Via
from efforts.errors import Refused
from efforts.forms import EffortForm
from efforts.models import Session, Turn
from efforts.snapshots import EffortView, PlanView, expansion

from .chat import command, owned_turn
from .shared import OwnRequest, dialog, done, fields, owned_session, page, part, text_field

form_view = require_http_methods(["GET", "HEAD", "POST"])

VERBS: Mapping[str, Callable[[Place, str], object]] = {
    "switch": actions.switch_effort,
    "conclude": actions.close_effort,
    "reopen": actions.reopen_effort,
    "expand": actions.expand_effort,
    "collapse": actions.collapse_effort,
    "use-summary": actions.use_summary,
    "retry-summary": actions.retry_summary,
}


def place(request: OwnRequest, session: Session, via: Via = Via.CONTROL) -> Place:
    return actions.here(session, actor=request.user, via=via)


@never_cache
@require_GET
def efforts(request: OwnRequest, session_id: UUID) -> HttpResponse:
    session = owned_session(request, session_id)
    found = snapshots.efforts_view(session, query=request.GET.get("efforts", ""), plan=snapshots.preview(session))
    context = {"session": session, "efforts": found}
    if not request.htmx:
        return page(request, "efforts/page.html", context)
    # The composer names the active effort, which a search must not hide.
    everything = snapshots.efforts_view(session) if found.query else found
    return part(request, "efforts/answer.html", {**context, "destinations": everything})


@never_cache
@require_GET
def where(request: OwnRequest, session_id: UUID) -> HttpResponse:
    session = owned_session(request, session_id)
    context = {"session": session, "where": snapshots.where_view(session), "title": "Where was I?"}
    return dialog(request, "efforts/where_dialog.html", context)


@never_cache
@require_GET
def expand_price(request: OwnRequest, session_id: UUID, slug: str) -> HttpResponse:
    """What expanding would add to the next prompt, before it is done."""
    session = owned_session(request, session_id)
    named_effort(session, slug)
    context: dict[str, Any] = {"session": session, "plan": snapshots.preview(session)}
    try:
        price = expansion.price(snapshots.main_branch(session), None, slug)
        context |= {"price": price, "after_percent": percent_with(context["plan"], price.tokens)}
    except Refused as error:
        context["error"] = error.text
    return part(request, "efforts/price.html", context)


def percent_with(plan: PlanView, more: int) -> int:
    return round(100 * (plan.tokens + more) / plan.budget) if plan.budget else 0


@command
def change(request: OwnRequest, session: Session, slug: str, verb: str) -> Mapping[str, Any]:
    if verb not in VERBS:
        raise Http404
    via = Via.OFFER if text_field(fields(request), "via") == Via.OFFER else Via.CONTROL
    VERBS[verb](place(request, session, via), slug)
    return {"effort": slug}


@command
def undo(request: OwnRequest, session: Session, seq: int) -> Mapping[str, Any]:
    actions.undo(place(request, session), seq)
    return {"undone": seq}


@command
def work_session(request: OwnRequest, session: Session) -> Mapping[str, Any]:
    return {"collapsed": actions.new_work_session(place(request, session))}


@form_view
def new(request: OwnRequest, session_id: UUID) -> HttpResponse:
    session = owned_session(request, session_id)
    return name_form(request, session, "New effort", lambda name: actions.open_effort(place(request, session), name))


@form_view
def rename(request: OwnRequest, session_id: UUID, slug: str) -> HttpResponse:
    session = owned_session(request, session_id)
    known = named_effort(session, slug)
    return name_form(
        request,
        session,
        "Rename effort",
        lambda name: actions.rename_effort(place(request, session), slug, name),
        initial=known.name,
    )


def named_effort(session: Session, slug: str) -> EffortView:
    known = next((row for row in snapshots.efforts_view(session).rows if row.slug == slug), None)
    if known is None:
        raise Http404
    return known


def name_form(
    request: OwnRequest, session: Session, title: str, act: Callable[[str], object], *, initial: str = ""
) -> HttpResponse:
    form = EffortForm(request.POST or None, initial={"name": initial})
    if request.method == "POST" and form.is_valid():
        try:
            act(form.cleaned_data["name"])
        except Refused as error:
            form.add_error("name", error.text)
        else:
            return changed(request, session)
    context = {"session": session, "form": form, "title": title}
    return dialog(request, "efforts/name.html", context, status=422 if form.errors else 200)


@form_view
def move(request: OwnRequest, session_id: UUID, number: int) -> HttpResponse:
    session = owned_session(request, session_id)
    turn = owned_turn(session, number)
    if request.method != "POST":
        return move_form(request, session, turn)
    try:
        slug = text_field(fields(request), "effort")
        actions.move_turn(place(request, session), turn.number, slug or None)
    except Refused as error:
        return move_form(request, session, turn, error=error.text)
    return changed(request, session)


def move_form(request: OwnRequest, session: Session, turn: Turn, *, error: str = "") -> HttpResponse:
    context = {
        "session": session,
        "turn": snapshots.turn_view(session, turn.number),
        "efforts": snapshots.efforts_view(session),
        "title": f"Move turn {turn.number}",
        "error": error,
    }
    return dialog(request, "efforts/move.html", context, status=422 if error else 200)


def changed(request: OwnRequest, session: Session) -> HttpResponse:
    return done("closeDialog", "efforts") if request.htmx else redirect(session)
