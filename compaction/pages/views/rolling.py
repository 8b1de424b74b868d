"""Rolling summaries of one conversation: whether they are on, and what is missing where they are not possible yet."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods

from compaction.standing import rolling as rolling_summaries
from efforts.domain.errors import Refused
from efforts.models import Session
from efforts.pages.views.shared import OwnRequest, owned_session, page, part, status_of


@require_http_methods(["GET", "HEAD", "POST"])
def rolling(request: OwnRequest, session_id: UUID) -> HttpResponse:
    session = owned_session(request, session_id)
    if request.method != "POST":
        return rolling_page(request, session)
    try:
        rolling_summaries.set_rolling(session, request.POST.get("on") == "1", actor=request.user)
    except Refused as error:
        return rolling_page(request, session, error)
    return rolling_page(request, session) if request.htmx else redirect("rolling", session.pk)


def rolling_page(request: OwnRequest, session: Session, error: Refused | None = None) -> HttpResponse:
    context = {
        "session": session,
        "standing": rolling_summaries.standing_of(session.owner),
        "enough": rolling_summaries.ENOUGH,
        "least": rolling_summaries.least_of(rolling_summaries.ENOUGH),
        "most": int(rolling_summaries.MOST_ROLLED_BACK * rolling_summaries.ENOUGH),
        "cadence": rolling_summaries.CADENCE,
        "newest": rolling_summaries.NEWEST,
        "error": error.text if error else "",
    }
    show = part if request.htmx else page
    template = "sessions/rolling.html" if request.htmx else "sessions/rolling_page.html"
    return show(request, template, context, status=status_of(error) if error else 200)
