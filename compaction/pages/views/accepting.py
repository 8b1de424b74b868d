"""Accepting and rolling back, with what each would change, and the history of both."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from compaction.drafting.costs import spent_on
from compaction.models import Artifact
from compaction.pages.presenters.artifact import artifact_view, title_of
from compaction.pages.views.shared import reviewable
from compaction.standing.accepting import LONGEST_REASON, REVIEW, accept_compaction, rollback_compaction
from compaction.standing.blockers import log_would_leave_in, standing_of
from compaction.standing.history import history_in, history_of, standing_in
from compaction.standing.previewing import Saving, effect_of_accepting, effect_of_rolling_back, saving_of
from efforts.actions.efforts import IN_THE_CHAT
from efforts.domain.effort.states import PointerState
from efforts.domain.errors import Refused, refusal
from efforts.models import Branch
from efforts.pages.views.shared import OwnRequest, about, dialog, done, form_view, owned_branch, page, part


@never_cache
@form_view
def accept(request: OwnRequest, artifact_id: str) -> HttpResponse:
    """`branch` as for rolling back; `unchecked` says yes to what nobody has checked."""
    row = reviewable(request, artifact_id)
    branch = branch_of(row, request.POST.get("branch") or request.GET.get("branch", ""))
    if request.method != "POST":
        return accept_form(request, row, branch)
    posted = request.POST
    try:
        accept_compaction(
            row.pk,
            posted.get("session", ""),
            number(posted.get("first")),
            number(posted.get("last")),
            actor=request.user,
            branch=branch,
            via=via_of(request, row),
            unchecked="unchecked" in posted,
            larger="larger" in posted,
        )
    except Refused as error:
        return accept_form(request, row, branch, error.text)
    return settled(request, row)


def accept_form(request: OwnRequest, row: Artifact, branch: Branch, error: str = "") -> HttpResponse:
    found = standing_of(row, request.user, branch)
    context = {
        **shown(request, row),
        "title": "Use again" if found.pointer and found.pointer.state == PointerState.ROLLED_BACK else "Accept",
        "at": branch,
        "standing": found,
        "error": error,
    }
    if not found.blockers and not found.stands:
        try:
            context["effect"] = effect_of_accepting(row, request.user, branch)
        except Refused as refused:
            context["error"] = error or refused.text
    return dialog(request, "review/accept.html", context, status=422 if error else 200)


@never_cache
@form_view
def rollback(request: OwnRequest, artifact_id: str) -> HttpResponse:
    """`branch` names another than the artifact's own, where a fork has taken it along."""
    row = reviewable(request, artifact_id)
    branch = branch_of(row, request.POST.get("branch") or request.GET.get("branch", ""))
    if request.method != "POST":
        return rollback_form(request, row, branch)
    reason = request.POST.get("reason", "").strip()
    via = via_of(request, row)
    if error := refusal(lambda: rollback_compaction(row.pk, actor=request.user, reason=reason, branch=branch, via=via)):
        return rollback_form(request, row, branch, error.text)
    return settled(request, row)


def rollback_form(request: OwnRequest, row: Artifact, branch: Branch, error: str = "") -> HttpResponse:
    context = {
        **shown(request, row),
        "title": "What rolling back changes",
        "at": branch,
        "standing": standing_of(row, request.user, branch),
        "leaves_in": log_would_leave_in(row, branch),
        "longest": LONGEST_REASON,
        "reason": request.POST.get("reason", ""),
        "error": error,
    }
    try:
        context["effect"] = effect_of_rolling_back(row, request.user, branch)
    except Refused as refused:
        context["error"] = error or refused.text
    return dialog(request, "review/rollback.html", context, status=422 if error else 200)


@never_cache
@require_GET
def saving(request: OwnRequest, artifact_id: str) -> HttpResponse:
    """What it saves, or would, and has cost: the one place that tells it to pages; only the latter where it can't be
    accepted."""
    row = reviewable(request, artifact_id)
    if not request.htmx:
        return redirect(row)
    try:
        found = saving_of(row, request.user, branch_of(row, request.GET.get("branch", "")))
    except Refused:
        found = Saving(saved=None, spent=spent_on(row.family))
    return part(request, "efforts/saving.html", {"saving": found})


def via_of(request: OwnRequest, row: Artifact) -> str:
    """The dialog opens over the chat too."""
    at = urlsplit(request.htmx.current_url or "").path if request.htmx else ""
    return IN_THE_CHAT if at.startswith(row.session.get_absolute_url()) else REVIEW


def settled(request: OwnRequest, row: Artifact) -> HttpResponse:
    """Where it stands now; where the page shows something else, that reads itself again."""
    if not request.htmx:
        return redirect(row)
    if urlsplit(request.htmx.current_url or "").path != row.get_absolute_url():
        return done("closeDialog", "standing", "context", "efforts")
    answer = standing_part(request, row)
    if row.is_current:
        # In the same answer: a page whose head says otherwise than its foot would be doubted.
        answer.write(head(request, row))
    answer["HX-Retarget"], answer["HX-Reswap"], answer["HX-Trigger"] = "#standing", "outerHTML", "closeDialog"
    answer["HX-Trigger-After-Swap"] = "settled"
    return answer


def head(request: OwnRequest, row: Artifact) -> bytes:
    """Of the page, beside what is asked for."""
    context = {**about(row.branch), "view": artifact_view(row, request.user), "oob": True}
    return part(request, "review/top.html", context).content


@never_cache
@require_GET
def standing(request: OwnRequest, artifact_id: str) -> HttpResponse:
    row = reviewable(request, artifact_id)
    return standing_part(request, row) if request.htmx else redirect(row)


def standing_part(request: OwnRequest, row: Artifact) -> HttpResponse:
    found = standing_of(Artifact.objects.select_related("session", "branch", "effort").get(pk=row.pk), request.user)
    return part(request, "review/standing.html", {**shown(request, row), "standing": found, **history_on(row)})


@never_cache
@require_GET
def history(request: OwnRequest, artifact_id: str) -> HttpResponse:
    row = reviewable(request, artifact_id)
    context = {**shown(request, row), **history_on(row, request.GET.get("page", 1))}
    if request.htmx:
        return part(request, "review/history.html", context)
    return page(request, "review/history_page.html", context)


@never_cache
@require_GET
def summaries(request: OwnRequest, session_id: UUID, branch_id: UUID | None = None) -> HttpResponse:
    """What stands in the prompt of a branch instead of its log, and how that came about."""
    branch = owned_branch(request, session_id, branch_id)
    found = history_in(branch, request.GET.get("page", 1))
    context = {**about(branch), "history": found, "address": branch.address("summaries")}
    if request.htmx and "page" in request.GET:
        return part(request, "review/history.html", context)
    context["standing"] = standing_in(branch)
    if request.htmx:
        return part(request, "review/summaries_body.html", context)
    return page(request, "review/summaries.html", context)


def history_on(row: Artifact, number: int | str = 1) -> dict[str, Any]:
    return {"history": history_of(row, number), "address": reverse("history", args=[row.pk])}


def shown(request: OwnRequest, row: Artifact) -> dict[str, Any]:
    return {**about(row.branch), "row": row, "name": title_of(row), "owns": row.session.owner_id == request.user.pk}


def branch_of(row: Artifact, posted: str) -> Branch:
    if not posted:
        return row.branch
    try:
        return get_object_or_404(Branch.objects.select_related("session"), pk=UUID(posted), session=row.session)
    except ValueError as error:
        raise Http404 from error


def number(posted: str | None) -> int:
    """Of a turn; what is none is no turn of any scope."""
    return int(posted) if posted and posted.isdecimal() and len(posted) < 10 else -1
