"""Files in messages: added in the composer, taken away, downloaded, read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.http import FileResponse, Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from efforts import actions
from efforts.actions.files import storing
from efforts.domain.errors import Refused
from efforts.domain.text.files import clean_name, inside
from efforts.models import MessageFile, Session
from efforts.pages.presenters.files import Refusal, in_composer, together
from efforts.pages.views.chat import chat_page, command
from efforts.pages.views.shared import OwnRequest, form_view, owned_branch, owned_session, part, turn_here

if TYPE_CHECKING:
    from collections.abc import Mapping

    from django.core.files.uploadedfile import UploadedFile

    from efforts.models import Branch


@never_cache
@form_view
def files(request: OwnRequest, session_id: UUID) -> HttpResponse:
    """Those in the composer; more of them by POST, each taken or refused by itself."""
    session = owned_session(request, session_id)
    refused = []
    if request.method == "POST":
        for upload in request.FILES.getlist("file"):
            if fault := add(request, session, upload):
                refused.append(fault)
    if request.htmx:
        return waiting(request, session, refused)
    if refused:
        return chat_page(request, owned_branch(request, session_id), error=together(refused), status=422)
    return redirect(session)


def add(request: OwnRequest, session: Session, upload: UploadedFile[bytes]) -> Refusal | None:
    name = clean_name(upload.name or "")
    try:
        # Before any of it is read into memory.
        actions.check_size(upload.size or 0)
        actions.add_file(session, name=name, data=upload.read(), actor=request.user)
    except Refused as error:
        return Refusal(name=name, text=error.text)
    return None


def waiting(request: OwnRequest, session: Session, refused: list[Refusal]) -> HttpResponse:
    context = {"session": session, **in_composer(session), "refused": refused}
    return part(request, "files/waiting.html", context)


@require_POST
def remove(request: OwnRequest, session_id: UUID, file_id: UUID) -> HttpResponse:
    session = owned_session(request, session_id)
    refused = []
    try:
        actions.remove_file(session, file_id, actor=request.user)
    except Refused as error:
        refused.append(Refusal(name=file_of(session, file_id).name, text=error.text))
    return waiting(request, session, refused) if request.htmx else redirect(session)


@command
def back(request: OwnRequest, branch: Branch, number: int) -> Mapping[str, Any]:
    """The files of a message that was taken back."""
    rows = actions.put_back_files(branch.session, turn_here(branch, number), actor=request.user)
    return {"files": len(rows)}


@require_GET
def download(request: OwnRequest, session_id: UUID, file_id: UUID) -> HttpResponse | FileResponse:
    session = owned_session(request, session_id)
    row = file_of(session, file_id)
    try:
        file = storing.path_of(session.pk, row.sha256).open("rb")
    except OSError as error:
        raise Http404 from error
    # Never shown as a page, whatever is in it: nosniff comes with every answer.
    response = FileResponse(file, as_attachment=True, filename=row.name, content_type=row.media_type)
    # Of one content for ever; and of one person alone.
    response["Cache-Control"] = "private, max-age=86400, immutable"
    return response


@never_cache
@require_GET
def text(request: OwnRequest, session_id: UUID, file_id: UUID) -> HttpResponse:
    """What a prompt has of it."""
    session = owned_session(request, session_id)
    row = file_of(session, file_id)
    said = row.message.text if row.message else row.text
    return part(request, "files/text.html", {"name": row.name, "text": inside(said)})


def file_of(session: Session, file_id: UUID) -> MessageFile:
    return get_object_or_404(session.files.select_related("message"), pk=file_id)
