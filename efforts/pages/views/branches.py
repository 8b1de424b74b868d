"""Branches: other words for a message, the same again, a fork; their tree, and two side by side."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import wraps
from typing import Any
from uuid import UUID, uuid4

from django.http import Http404, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from efforts import actions
from efforts.domain.errors import Refused, refusal
from efforts.models import Branch, Message
from efforts.pages.forms import BranchForm
from efforts.pages.presenters.branches import branches_view, compared_branches
from efforts.pages.presenters.files import sent_views
from efforts.pages.presenters.siblings import turn_address
from efforts.pages.views.chat import refused, turn_number
from efforts.pages.views.shared import (
    OwnRequest,
    about,
    acted,
    dialog,
    done,
    fields,
    form_of_branch,
    of_branch,
    owned_branch,
    page,
    page_of_branch,
    part,
    status_of,
    text_field,
    turn_here,
    wants_json,
)
from efforts.turns import verbs


@page_of_branch
def branches(request: OwnRequest, branch: Branch) -> HttpResponse:
    return tree(request, branch)


def tree(request: OwnRequest, branch: Branch, *, error: str = "", status: int = 200) -> HttpResponse:
    context = {**about(branch), "branches": branches_view(branch), "title": "Branches", "error": error}
    return dialog(request, "branches/tree.html", context, status=status)


@page_of_branch
def chip(request: OwnRequest, branch: Branch) -> HttpResponse:
    if not request.htmx:
        return redirect(branch.address("branches"))
    return part(request, "branches/chip.html", {**about(branch), "branches": branches_view(branch)})


@form_of_branch
def rename(request: OwnRequest, branch: Branch) -> HttpResponse:
    form = BranchForm(request.POST or None, initial={"name": branch.name})
    if acted(form, lambda given: actions.rename_branch(branch, **given, actor=request.user), field="name"):
        return done("closeDialog", "branches") if request.htmx else redirect(branch.address("branches"))
    context = {**about(branch), "form": form, "title": "Rename branch"}
    return dialog(request, "branches/name.html", context, status=422 if form.errors else 200)


@require_POST
@of_branch
def archive(request: OwnRequest, branch: Branch) -> HttpResponse:
    """`at`: the branch whose page shows the list."""
    at = owned_branch(request, branch.session_id, chosen(request.POST.get("at")))
    act = actions.unarchive_branch if request.POST.get("archived") == "0" else actions.archive_branch
    if error := refusal(lambda: act(branch, actor=request.user)):
        return tree(request, at, error=error.text, status=422)
    if not request.htmx:
        return redirect(at.address("branches"))
    answer = tree(request, at)
    answer["HX-Trigger"] = "branches"
    return answer


def chosen(value: str | None) -> UUID | None:
    if not value:
        return None
    try:
        return UUID(value)
    except ValueError as error:
        raise Http404 from error


@form_of_branch
def edit(request: OwnRequest, branch: Branch, number: int) -> HttpResponse:
    """Other words for the message of a turn, sent in a sibling branch."""
    said = message_of(branch, number)
    if request.method != "POST":
        return editor(request, branch, number, said.text, uuid4().hex)
    text, client_id = request.POST.get("text", ""), request.POST.get("client_id", "")
    try:
        verbs.refuse_while_it_plays(branch.session)
        turn = actions.edit_turn(branch, number, text=text, client_id=client_id, actor=request.user)
    except Refused as error:
        return editor(request, branch, number, text, client_id, error=error)
    address = turn_address(turn.branch, turn.number)
    return done(go_to=address) if request.htmx else redirect(address)


def editor(
    request: OwnRequest, branch: Branch, number: int, text: str, client_id: str, *, error: Refused | None = None
) -> HttpResponse:
    context = {**about(branch), "number": number, "text": text, "client_id": client_id, "error": error}
    context["files"] = sent_views([turn_here(branch, number)]).values()
    context["title"] = f"Edit the message of turn {number}"
    template = "branches/editor.html" if request.htmx else "branches/editor_page.html"
    return dialog(request, template, context, status=status_of(error) if error else 200)


def message_of(branch: Branch, number: int) -> Message:
    said: Message = turn_here(branch, number).messages.get(role=Message.Role.USER)
    return said


def leads_elsewhere(act: Callable[..., str]) -> Callable[..., HttpResponse]:
    """A change by POST after which another branch is to be looked at; `act` gives its address."""

    @require_POST
    @of_branch
    @wraps(act)
    def answered(request: OwnRequest, branch: Branch, **which: Any) -> HttpResponse:
        try:
            address = act(request, branch, **which)
        except Refused as error:
            return refused(request, branch, error)
        return JsonResponse({"go": address}) if wants_json(request) else redirect(address)

    return answered


@leads_elsewhere
def again(request: OwnRequest, branch: Branch, number: int) -> str:
    """With `answer`: by that model."""
    verbs.refuse_while_it_plays(branch.session)
    answer = text_field(fields(request), "answer")
    turn = actions.regenerate(branch, number, actor=request.user, answer=answer)
    return turn_address(turn.branch, turn.number)


@leads_elsewhere
def fork(request: OwnRequest, branch: Branch, number: int) -> str:
    """At the end of the turn; with `before`, at the end of the one before it, its text and files in the composer."""
    if not text_field(fields(request), "before"):
        return actions.fork(branch, after=number, actor=request.user).get_absolute_url()
    said = message_of(branch, number)
    child = actions.fork(branch, after=number - 1, actor=request.user)
    # What has no room there any more is where it was, and can be added again.
    with suppress(Refused):
        actions.put_back_files(branch.session, said.turn, actor=request.user)
    return f"{child.get_absolute_url()}?words={said.pk}"


@never_cache
@require_GET
def compare(request: OwnRequest, session_id: UUID) -> HttpResponse:
    """`a` and `b`: two branches; the main one and the newest where none is named."""
    first = owned_branch(request, session_id, chosen(request.GET.get("a")))
    every = branches_view(first)
    others = [row.branch for row in every.rows if row.branch != first]
    named = chosen(request.GET.get("b"))
    newest = max(others, key=lambda row: row.created_at, default=first)
    second = owned_branch(request, session_id, named) if named else newest
    start = turn_number(request.GET.get("from"))
    context = {**about(first), "branches": every, "comparison": compared_branches(first, second, start=start)}
    return page(request, "branches/compare.html", context)
