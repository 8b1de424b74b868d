"""Whom the owner of a conversation has review its summaries."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from compaction import review
from efforts.domain.errors import Refused
from efforts.models import Session
from efforts.pages.views.shared import OwnRequest, dialog, owned_session


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def reviewers(request: OwnRequest, session_id: UUID) -> HttpResponse:
    session = owned_session(request, session_id)
    if request.method != "POST":
        return listed(request, session)
    try:
        review.name_reviewer(session, request.POST.get("username", ""), actor=request.user)
    except Refused as error:
        return listed(request, session, error.text)
    return listed(request, session) if request.htmx else redirect("reviewers", session.pk)


@require_POST
def remove(request: OwnRequest, session_id: UUID, pk: int) -> HttpResponse:
    session = owned_session(request, session_id)
    review.remove_reviewer(session, pk, actor=request.user)
    return listed(request, session) if request.htmx else redirect("reviewers", session.pk)


def listed(request: OwnRequest, session: Session, error: str = "") -> HttpResponse:
    context = {
        "session": session,
        "title": "Reviewers",
        "named": session.reviewers.select_related("user"),
        "username": request.POST.get("username", "") if error else "",
        "error": error,
    }
    return dialog(request, "review/reviewers.html", context, status=422 if error else 200)
