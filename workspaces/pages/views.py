"""Attaching code to a conversation, and looking at what is attached."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection
from contextlib import suppress
from functools import partial
from typing import IO, Any, cast
from uuid import UUID

from django.conf import settings
from django.http import Http404, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils.text import slugify
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from efforts.domain.errors import Refused
from efforts.models import Session
from efforts.pages.views.exports import batches
from efforts.pages.views.shared import OwnRequest, form_view, owned_session, page, part, part_or_page, streamed_lines
from workspaces import actions
from workspaces.commands.listed import offered
from workspaces.domain.states import SourceKind
from workspaces.models import CommandRun, File, ProposedEdit, Workspace
from workspaces.outcomes import lines_of
from workspaces.pages.commands import command_view, newest_views, offered_views
from workspaces.pages.downloads import packed
from workspaces.pages.edits import edit_view
from workspaces.pages.outcomes import outcomes_view
from workspaces.pages.pins import code_pins_view
from workspaces.pages.presenters import WorkspaceView, files_of, source_of, workspace_view
from workspaces.pages.searching import search_view

LISTED = 300


@never_cache
@form_view
def code(request: OwnRequest, session_id: UUID) -> HttpResponse:
    """What a conversation is attached to, and how it gets there."""
    session = owned_session(request, session_id)
    if request.method != "POST":
        return panel(request, session)
    try:
        attach(request, session)
    except Refused as error:
        return panel(request, session, error.text)
    # A folder that is known says Ready until its thread has begun.
    return panel(request, session, begun=True) if request.htmx else redirect("code", session.pk)


def attach(request: OwnRequest, session: Session) -> None:
    upload = request.FILES.get("archive")
    if upload is None:
        actions.attach_folder(session, request.POST.get("path", ""), actor=request.user)
        return
    most = settings.CCM_WORKSPACE_ARCHIVE_BYTES
    if (upload.size or 0) > most:
        raise Refused("archive", f"The archive has more than {most >> 20} MB. Leave out what is no code.")
    actions.attach_archive(session, upload.name or "archive", cast("IO[bytes]", upload.file), actor=request.user)


@require_POST
def detach(request: OwnRequest, session_id: UUID) -> HttpResponse:
    session = owned_session(request, session_id)
    try:
        actions.detach(session, actor=request.user)
    except Refused as error:
        return panel(request, session, error.text)
    return panel(request, session) if request.htmx else redirect("code", session.pk)


def panel(request: OwnRequest, session: Session, error: str = "", *, begun: bool = False) -> HttpResponse:
    standing = session.attachments.filter(detached_at=None).select_related("workspace__current").first()
    context = {
        "session": session,
        "view": workspace_view(standing.workspace) if standing else None,
        "roots": [str(root) for root in settings.CCM_WORKSPACE_ROOTS],
        "has_commands": bool(offered()),
        "largest": settings.CCM_WORKSPACE_ARCHIVE_BYTES >> 20,
        "path": request.POST.get("path", "") if error else "",
        "error": error,
        "begun": begun,
    }
    status = 422 if error else 200
    return part_or_page(request, "workspaces/panel.html", "workspaces/panel_page.html", context, status=status)


@never_cache
@form_view
def edit(request: OwnRequest, session_id: UUID, pk: int) -> HttpResponse:
    """A proposed edit, to be accepted in parts, or rejected."""
    session = owned_session(request, session_id)
    row = get_object_or_404(session.edits.select_related("workspace__current", "run__turn"), pk=pk)
    if request.method != "POST":
        return edit_shown(request, session, row)
    if request.POST.get("verb") == "reject":
        return decided(request, session, row, partial(actions.reject_edit, actor=request.user))
    chosen = {int(number) for number in request.POST.getlist("hunk") if number.isascii() and number.isdigit()}
    return decided(request, session, row, partial(actions.accept_edit, accepted=chosen, actor=request.user), chosen)


@require_POST
def undo(request: OwnRequest, session_id: UUID, pk: int) -> HttpResponse:
    session = owned_session(request, session_id)
    row = get_object_or_404(session.edits.select_related("workspace__current", "run__turn"), pk=pk)
    return decided(request, session, row, partial(actions.undo_edit, actor=request.user))


def decided(
    request: OwnRequest,
    session: Session,
    row: ProposedEdit,
    action: Callable[[ProposedEdit], ProposedEdit],
    chosen: Collection[int] | None = None,
) -> HttpResponse:
    try:
        row = action(row)
    except Refused as error:
        if isinstance(error, actions.Unread):
            # Else the edit could not be proposed anew: that is refused for a file that the index has otherwise.
            actions.index_what_changed(row.workspace)
        row.refresh_from_db()
        return edit_shown(request, session, row, error, chosen)
    return edit_shown(request, session, row) if request.htmx else redirect(row)


def edit_shown(
    request: OwnRequest,
    session: Session,
    row: ProposedEdit,
    error: Refused | None = None,
    chosen: Collection[int] | None = None,
) -> HttpResponse:
    context = {"session": session, "view": edit_view(row, chosen), "error": error}
    status = 422 if error else 200
    return part_or_page(request, "workspaces/edit.html", "workspaces/edit_page.html", context, status=status)


@never_cache
@require_GET
def code_outcomes(request: OwnRequest, session_id: UUID) -> HttpResponse:
    """Whether showing code helped: what was shown, turn by turn, and what came of it."""
    session = owned_session(request, session_id)
    return page(request, "workspaces/outcomes.html", {"session": session, "view": outcomes_view(session)})


@require_GET
def code_outcomes_lines(request: OwnRequest, session_id: UUID) -> StreamingHttpResponse:
    """The same of all turns, a line of JSON for each (docs/export.md)."""
    session = owned_session(request, session_id)
    return streamed_lines(lines_of(session), f"code-{str(session.pk)[:8]}")


@never_cache
@form_view
def code_pins(request: OwnRequest, session_id: UUID) -> HttpResponse:
    """What is pinned of attached code, and what stays for a while by itself."""
    session = owned_session(request, session_id)
    error = None
    if request.method == "POST":
        act = actions.let_go if request.POST.get("verb") == "let_go" else actions.pin_code
        try:
            act(session, request.POST.get("ref", ""), actor=request.user, path=request.POST.get("path", ""))
        except Refused as refused:
            error = refused
        else:
            return redirect("code_pins", session.pk)
    context = {
        "session": session,
        "view": code_pins_view(session),
        "error": error,
        "ref": request.POST.get("ref", "") if error else "",
    }
    return page(request, "workspaces/pins.html", context, status=422 if error else 200)


PIN_VERBS = {
    "unpin": actions.unpin_code,
    "accept": actions.accept_code_pin,
    "dismiss": actions.dismiss_code_pin,
}


@require_POST
def code_pin(request: OwnRequest, session_id: UUID, pk: int) -> HttpResponse:
    session = owned_session(request, session_id)
    row = get_object_or_404(session.code_pins, pk=pk)
    # Done already in another tab: the page shows how it stands.
    with suppress(Refused):
        PIN_VERBS.get(request.POST.get("verb", ""), actions.unpin_code)(row, actor=request.user)
    return redirect("code_pins", session.pk)


@never_cache
@form_view
def commands(request: OwnRequest, session_id: UUID) -> HttpResponse:
    """What may be run in the attached folder, and what was."""
    session = owned_session(request, session_id)
    error = None
    if request.method == "POST":
        name, words = request.POST.get("name", ""), request.POST.get("words", "")
        try:
            row = actions.start_command(session, name, words, actor=request.user)
        except Refused as refused:
            error = refused
        else:
            return command_shown(request, session, row) if request.htmx else redirect(row)
    context = {
        "session": session,
        "offered": offered_views(),
        "is_attached": session.attachments.filter(detached_at=None).exists(),
        "views": newest_views(session),
        "error": error,
        "asked": request.POST,
    }
    status = 422 if error else 200
    return part_or_page(request, "workspaces/commands.html", "workspaces/commands_page.html", context, status=status)


VERBS = {"allow": actions.allow_command, "decline": actions.decline_command, "stop": actions.stop_command}


@never_cache
@form_view
def command(request: OwnRequest, session_id: UUID, pk: int) -> HttpResponse:
    """One command: allowed or not, stopped, and what it prints."""
    session = owned_session(request, session_id)
    row = get_object_or_404(session.commands.select_related("workspace", "turn"), pk=pk)
    if request.method != "POST":
        actions.settle_lost(row)
        row.refresh_from_db()
        return command_shown(request, session, row)
    try:
        VERBS.get(request.POST.get("verb", ""), actions.decline_command)(row, actor=request.user)
    except Refused as error:
        row.refresh_from_db()
        return command_shown(request, session, row, error)
    row.refresh_from_db()
    return command_shown(request, session, row) if request.htmx else redirect(row)


def command_shown(request: OwnRequest, session: Session, row: CommandRun, error: Refused | None = None) -> HttpResponse:
    context = {"session": session, "view": command_view(row, whole=not request.htmx), "error": error}
    status = 422 if error else 200
    return part_or_page(request, "workspaces/command.html", "workspaces/command_page.html", context, status=status)


@never_cache
@require_GET
def workspace(request: OwnRequest, workspace_id: UUID) -> HttpResponse:
    view = owned(request, workspace_id)
    query = request.GET.get("q", "").replace("\x00", " ").strip()
    search = search_view(view.snapshot, query)
    context = {"view": view, "query": query, "search": search, "files": files_of(view, query, LISTED), "most": LISTED}
    if request.htmx:
        return part(request, "workspaces/files.html", context)
    return page(request, "workspaces/page.html", context)


@require_GET
def download(request: OwnRequest, workspace_id: UUID) -> StreamingHttpResponse:
    """What came as an archive, as it is now: whoever runs the server has the other folders."""
    row = get_object_or_404(Workspace.objects.owned_by(request.user), pk=workspace_id, kind=SourceKind.ARCHIVE)
    if not os.path.isdir(row.root):
        raise Http404
    response = StreamingHttpResponse(batches(packed(row.root), b"".join), content_type="application/zip")
    name = slugify(row.name)[:60] or "code"
    response["Content-Disposition"] = f'attachment; filename="{name}.zip"'
    return response


@never_cache
@require_GET
def progress(request: OwnRequest, workspace_id: UUID) -> HttpResponse:
    return part(request, "workspaces/progress.html", {"view": owned(request, workspace_id)})


@require_POST
def index(request: OwnRequest, workspace_id: UUID) -> HttpResponse:
    return changed(request, workspace_id, actions.index_again)


@require_POST
def cancel(request: OwnRequest, workspace_id: UUID) -> HttpResponse:
    return changed(request, workspace_id, actions.cancel_index)


def changed(request: OwnRequest, workspace_id: UUID, action: Any) -> HttpResponse:
    row = get_object_or_404(Workspace.objects.owned_by(request.user), pk=workspace_id)
    error = ""
    try:
        action(row, actor=request.user)
    except Refused as refused:
        error = refused.text
    if not request.htmx:
        return redirect("workspace", workspace_id)
    context = {
        "view": owned(request, workspace_id),
        "error": error,
        "begun": action is actions.index_again and not error,
    }
    return part(request, "workspaces/progress.html", context, status=422 if error else 200)


@require_GET
def source(request: OwnRequest, workspace_id: UUID, number: int, path: str) -> HttpResponse:
    """A file as it was in a snapshot, with the numbers of its lines."""
    view = owned(request, workspace_id)
    snapshot = get_object_or_404(view.workspace.snapshots, number=number)
    if "\x00" in path:
        # PostgreSQL does not compare with it, and no file has it.
        raise Http404
    file = get_object_or_404(File.objects.filter(snapshot.standing), path=path)
    return page(request, "workspaces/source.html", {"view": view, "source": source_of(view, snapshot, file)})


def owned(request: OwnRequest, workspace_id: UUID) -> WorkspaceView:
    rows = Workspace.objects.owned_by(request.user).select_related("current")
    return workspace_view(get_object_or_404(rows, pk=workspace_id))
