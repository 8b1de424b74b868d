"""The list of conversations and what is done to one as a whole."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from efforts import actions
from efforts.domain.errors import Refused
from efforts.models import Session
from efforts.pages.forms import DeleteForm, RenameForm, SessionSettingsForm
from efforts.pages.views.shared import OwnRequest, dialog, done, listed_sessions, owned_session, page, part

form_view = require_http_methods(["GET", "HEAD", "POST"])


@require_GET
def conversations(request: OwnRequest) -> HttpResponse:
    query, archived = request.GET.get("q", "").strip(), request.GET.get("archived") == "1"
    context = {
        "conversations": listed_sessions(request.user, query=query, archived=archived),
        "query": query,
        "archived": archived,
        "current": current_session(request),
    }
    if request.htmx:
        return part(request, "sessions/list.html", context)
    return page(request, "sessions/page.html", context)


def current_session(request: OwnRequest) -> UUID | None:
    try:
        return UUID(request.GET.get("current", ""))
    except ValueError:
        return None


@form_view
def rename(request: OwnRequest, session_id: UUID) -> HttpResponse:
    session = owned_session(request, session_id)
    form = RenameForm(request.POST or None, initial={"title": session.title})
    if request.method == "POST" and form.is_valid():
        try:
            actions.rename_session(session, title=form.cleaned_data["title"], actor=request.user)
        except Refused as error:
            form.add_error("title", error.text)
        else:
            return done("closeDialog", "conversations") if request.htmx else redirect(session)
    return form_page(request, "sessions/rename.html", session, form, title="Rename conversation")


@require_POST
def archive(request: OwnRequest, session_id: UUID) -> HttpResponse:
    session = owned_session(request, session_id)
    if request.POST.get("archived") == "0":
        actions.unarchive_session(session, actor=request.user)
    else:
        actions.archive_session(session, actor=request.user)
    return done("conversations") if request.htmx else redirect(session)


@form_view
def delete(request: OwnRequest, session_id: UUID) -> HttpResponse:
    session = owned_session(request, session_id)
    form = DeleteForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            actions.delete_session(session, typed_name=form.cleaned_data["typed_name"], actor=request.user)
        except Refused as error:
            form.add_error("typed_name", error.text)
        else:
            return deleted(request, session_id)
    return form_page(request, "sessions/delete.html", session, form, title="Delete conversation")


def deleted(request: OwnRequest, session_id: UUID) -> HttpResponse:
    if not request.htmx:
        return redirect("start")
    # Deleted from its own page, that page has to go; from elsewhere only its place in the list.
    if str(session_id) in (request.htmx.current_url_abs_path or ""):
        return done(go_to=reverse("start"))
    return done("closeDialog", "conversations")


@form_view
def session_settings(request: OwnRequest, session_id: UUID) -> HttpResponse:
    session = owned_session(request, session_id)
    form = SessionSettingsForm(session, request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            actions.configure_session(session, actor=request.user, **form.chosen())
        except Refused as error:
            form.add_error(error.code if error.code in form.fields else None, error.text)
        else:
            return done("closeDialog", "context") if request.htmx else redirect(session)
    return form_page(request, "sessions/settings.html", session, form, title="Model and budget")


def form_page(
    request: OwnRequest,
    template: str,
    session: Session,
    form: RenameForm | DeleteForm | SessionSettingsForm,
    *,
    title: str,
) -> HttpResponse:
    context = {"session": session, "form": form, "title": title}
    return dialog(request, template, context, status=422 if form.errors else 200)
