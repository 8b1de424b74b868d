"""Who checks a person's summaries, how well, and the exam taken again."""

from __future__ import annotations

from asgiref.sync import async_to_sync
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from compaction.drafting import costs, examining
from compaction.pages.presenters.checkers import checkers_of
from efforts.context.connections import KeyUnreadable, of_endpoint
from efforts.models import Endpoint
from efforts.pages.views.shared import OwnRequest, page, part

NO_MODEL = "This connection names no such model. Choose one at its settings."


@never_cache
@require_GET
def checkers(request: OwnRequest) -> HttpResponse:
    return shown(request)


@require_POST
def exam(request: OwnRequest, pk: int) -> HttpResponse:
    """A model takes its exam now; what it showed before is kept."""
    endpoint = get_object_or_404(Endpoint, owner=request.user, pk=pk)
    model = request.POST.get("model", "")
    if not model or model not in (endpoint.model, endpoint.draft_model):
        return shown(request, error=NO_MODEL, status=422)
    if why := costs.why_not(request.user, examining.price()):
        return shown(request, error=why, status=422)
    try:
        choice = of_endpoint(endpoint, model)
    except KeyUnreadable as error:
        return shown(request, error=str(error), status=422)
    examining.keep_exam(request.user, choice, async_to_sync(examining.examine)(choice))
    return shown(request) if request.htmx else redirect("checkers")


def shown(request: OwnRequest, *, error: str = "", status: int = 200) -> HttpResponse:
    context = {"checkers": checkers_of(request.user), "error": error}
    show = part if request.htmx else page
    return show(request, "checkers/panel.html" if request.htmx else "checkers/page.html", context, status=status)
