"""What the owner of a conversation says of its summaries: who reviews them, who may check them, whether they roll."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from compaction import review
from compaction.drafting import storing
from compaction.models import CheckerRefused
from compaction.standing import rolling as rolling_summaries
from efforts.domain.errors import Refused, refusal
from efforts.models import Session
from efforts.pages.views.shared import OwnRequest, dialog, form_view, owned_session, part_or_page, status_of


@never_cache
@form_view
def reviewers(request: OwnRequest, session_id: UUID) -> HttpResponse:
    session = owned_session(request, session_id)
    if request.method != "POST":
        return listed(request, session)
    username = request.POST.get("username", "")
    if error := refusal(lambda: review.name_reviewer(session, username, actor=request.user)):
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


@form_view
def rolling(request: OwnRequest, session_id: UUID) -> HttpResponse:
    session = owned_session(request, session_id)
    if request.method != "POST":
        return rolling_page(request, session)
    on = request.POST.get("on") == "1"
    error = refusal(lambda: rolling_summaries.set_rolling(session, on, actor=request.user))
    return rolling_page(request, session, error) if error or request.htmx else redirect("rolling", session.pk)


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
    status = status_of(error) if error else 200
    return part_or_page(request, "sessions/rolling.html", "sessions/rolling_page.html", context, status=status)


@never_cache
@form_view
def elsewhere(request: OwnRequest, session_id: UUID) -> HttpResponse:
    """Whether this conversation's log may be sent to a checker at another address."""
    session = owned_session(request, session_id)
    if request.method == "POST":
        storing.refuse_checker(session, request.POST.get("refused") == "1", actor=request.user)
        if not request.htmx:
            return redirect("checker_elsewhere", session.pk)
    context = {"session": session, "refused": CheckerRefused.objects.filter(session=session).exists()}
    return part_or_page(request, "sessions/checker.html", "sessions/checker_page.html", context)
