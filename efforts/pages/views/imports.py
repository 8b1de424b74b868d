"""Conversations that were exported come back."""

from __future__ import annotations

from collections.abc import Sequence

from django.http import HttpResponse
from django.shortcuts import redirect

from efforts.models import AccountEvent
from efforts.pages.views.shared import OwnRequest, dialog, done, form_view
from efforts.turns.importing import IMPORT_ENDED, LARGEST_IMPORT, Imported, import_files

# Conversations that are listed without being asked for.
LISTED = 10


@form_view
def import_file(request: OwnRequest) -> HttpResponse:
    """The form; with one file its conversation, with several what came of each."""
    if request.method != "POST":
        return form(request)
    outcomes = import_files(request.user, request.FILES.getlist("file"))
    if not outcomes:
        return form(request, error="Choose a file first.")
    if len(outcomes) > 1:
        return form(request, outcomes)
    if (session := outcomes[0].session) is None:
        return form(request, error=outcomes[0].error)
    return done(go_to=session.get_absolute_url()) if request.htmx else redirect(session)


def form(request: OwnRequest, outcomes: Sequence[Imported] = (), error: str = "") -> HttpResponse:
    here = [one for one in outcomes if one.session]
    faults: dict[str, list[str]] = {}
    for one in outcomes:
        if one.session is None:
            faults.setdefault(one.error, []).append(one.name)
    context = {
        "title": "Import conversations",
        "error": error,
        "outcomes": outcomes,
        "come": [one for one in here if one.is_new],
        "known": [one for one in here if not one.is_new],
        # Of hundreds it is read at once what did not come along, and each reason once.
        "faults": faults,
        "here": here,
        "is_long": len(here) > LISTED,
        "most": LARGEST_IMPORT // 1024**2,
        "last": AccountEvent.objects.filter(owner=request.user, kind=IMPORT_ENDED).first(),
    }
    answer = dialog(request, "exports/import.html", context, status=422 if error else 200)
    if outcomes:
        answer["HX-Trigger"] = "conversations"
    return answer
