"""The list of conversations and what is done to one as a whole."""

from __future__ import annotations

from uuid import UUID

from django.conf import settings
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST

from efforts import actions
from efforts.domain.errors import Refused
from efforts.domain.text.counting import number_in
from efforts.log.timelines import last_used
from efforts.models import Session
from efforts.pages.forms import RenameForm, SessionSettingsForm
from efforts.pages.presenters.conversations import Asked, conversation_list, folders
from efforts.pages.views.shared import OwnRequest, acted, dialog, done, form_view, owned_session, part_or_page


@require_GET
def conversations(request: OwnRequest) -> HttpResponse:
    current = current_session(request)
    # The page says that it is in sight: what was answered there is not new any more.
    if current and request.GET.get("in_sight") == "1":
        for session in Session.objects.owned_by(request.user).filter(pk=current):
            actions.see_session(session)
    asked = Asked(
        query=request.GET.get("q", "").strip(),
        folder=request.GET.get("folder", ""),
        archived=request.GET.get("archived") == "1",
        start=number_in(request.GET.get("start")) or 0,
        shown=number_in(request.GET.get("shown")) or 0,
        current=current,
    )
    context = {"conversations": conversation_list(request.user, asked)}
    rows = "sessions/rows.html" if asked.start else "sessions/list.html"
    return part_or_page(request, rows, "sessions/page.html", context)


def current_session(request: OwnRequest) -> UUID | None:
    try:
        return UUID(request.GET.get("current", ""))
    except ValueError:
        return None


@form_view
def rename(request: OwnRequest, session_id: UUID) -> HttpResponse:
    session = owned_session(request, session_id)
    form = RenameForm(request.POST or None, initial={"title": session.title, "folder": session.folder})
    if request.method == "POST" and form.is_valid():
        try:
            actions.rename_session(session, title=form.cleaned_data["title"], actor=request.user)
            actions.put_in_folder(session, folder=form.cleaned_data["folder"], actor=request.user)
        except Refused as error:
            form.add_error("title", error.text)
        else:
            return done("closeDialog", "conversations") if request.htmx else redirect(session)
    context = {"session": session, "form": form, "title": "Name and folder", "folders": folders(request.user)}
    return dialog(request, "sessions/rename.html", context, status=422 if form.errors else 200)


@require_POST
def archive(request: OwnRequest, session_id: UUID) -> HttpResponse:
    session = owned_session(request, session_id)
    if request.POST.get("archived") == "0":
        actions.unarchive_session(session, actor=request.user)
    else:
        actions.archive_session(session, actor=request.user)
    return done("conversations") if request.htmx else redirect(session)


@require_POST
def favourite(request: OwnRequest, session_id: UUID) -> HttpResponse:
    session = owned_session(request, session_id)
    actions.set_favourite(session, on=request.POST.get("on") == "1", actor=request.user)
    return done("conversations") if request.htmx else redirect(session)


@form_view
def delete(request: OwnRequest, session_id: UUID) -> HttpResponse:
    session = owned_session(request, session_id)
    if request.method != "POST":
        context = {"session": session, "title": "Delete conversation", "seconds": settings.CCM_UNDO_SECONDS}
        return dialog(request, "sessions/delete.html", context)
    actions.delete_session(session, actor=request.user)
    if not request.htmx:
        return redirect("start")
    # Deleted from its own page, that page has to go; from elsewhere only its place in the list.
    if session.get_absolute_url() in (request.htmx.current_url_abs_path or ""):
        return done(go_to=undo_address(session))
    return done("closeDialog", "conversations")


@require_POST
def undelete(request: OwnRequest, session_id: UUID) -> HttpResponse:
    session = get_object_or_404(Session.objects.deleted_by(request.user), pk=session_id)
    try:
        actions.undelete_session(session, actor=request.user)
    except Refused as error:
        raise Http404(error.text) from error
    address = last_used([session])[session.pk].get_absolute_url()
    if not request.htmx:
        return redirect(address)
    # Its own page went with it; who was elsewhere stays there.
    went_with_it = request.htmx.current_url_abs_path == undo_address(session)
    return done("conversations", go_to=address if went_with_it else "")


def undo_address(session: Session) -> str:
    """Where who deleted a conversation on its own page can bring it back."""
    return f"{reverse('start')}#menu-{session.pk}"


@form_view
def session_settings(request: OwnRequest, session_id: UUID) -> HttpResponse:
    session = owned_session(request, session_id)
    form = SessionSettingsForm(session, request.POST or None)
    if acted(form, lambda _: actions.configure_session(session, actor=request.user, **form.chosen())):
        return done("closeDialog", "context") if request.htmx else redirect(session)
    context = {"session": session, "form": form, "title": "Model and budget"}
    return dialog(request, "sessions/settings.html", context, status=422 if form.errors else 200)
