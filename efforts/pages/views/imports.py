"""A conversation that was exported comes back."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods

from efforts.domain.errors import Refused
from efforts.pages.views.shared import OwnRequest, dialog, done
from efforts.turns.importing import LARGEST_IMPORT, check_import_size, import_conversation


@require_http_methods(["GET", "HEAD", "POST"])
def import_file(request: OwnRequest) -> HttpResponse:
    """The form; with a file, the conversation of it."""
    if request.method != "POST":
        return form(request)
    if (upload := request.FILES.get("file")) is None:
        return form(request, error="Choose a file first.")
    try:
        # Before any of it is read into memory.
        check_import_size(upload.size or 0)
        session, _ = import_conversation(request.user, upload.read())
    except Refused as refused:
        return form(request, error=refused.text)
    return done(go_to=session.get_absolute_url()) if request.htmx else redirect(session)


def form(request: OwnRequest, error: str = "") -> HttpResponse:
    context = {"title": "Import a conversation", "error": error, "most": LARGEST_IMPORT // 1024**2}
    return dialog(request, "exports/import.html", context, status=422 if error else 200)
