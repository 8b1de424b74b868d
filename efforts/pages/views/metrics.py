"""What context management saved and cost: of one conversation and of all, to read and as JSON."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse, JsonResponse
from django.utils.cache import patch_vary_headers
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from efforts.models import Branch
from efforts.pages.presenters import figures
from efforts.pages.presenters import metrics as metrics_shown
from efforts.pages.presenters.costs import branch_costs, used_so_far
from efforts.pages.presenters.metrics import NEWEST_TURNS
from efforts.pages.views.shared import OwnRequest, about, page, page_of_branch


@page_of_branch
def metrics(request: OwnRequest, branch: Branch) -> HttpResponse:
    found = metrics_shown.branch_metrics(branch)
    costs = branch_costs(branch, found.sent)
    if asked_for_json(request):
        where = {"session": str(branch.session_id), "branch": str(branch.pk)}
        return data({**where, **figures.metrics_json(found), **({"cost": costs.to_json()} if costs else {})})
    context = {
        **about(branch),
        "costs": costs,
        "so_far": used_so_far(branch.session),
        "metrics": found,
        "saved": int((found.figures["naive_tokens_all"] or 0) - (found.figures["context_tokens_all"] or 0)),
        "view": figures.metrics_view(found, dict(branch.session.efforts.values_list("slug", "name"))),
        "newest": NEWEST_TURNS,
    }
    return varied(page(request, "metrics/page.html", context))


@never_cache
@require_GET
def all_metrics(request: OwnRequest) -> HttpResponse:
    found = metrics_shown.all_metrics(request.user)
    if asked_for_json(request):
        return data(figures.all_metrics_json(found))
    context = {
        "all": found,
        "groups": figures.groups_of(found.metrics, overall=True),
        "picture": figures.all_tokens_picture(found.sent),
        "newest": NEWEST_TURNS,
    }
    return varied(page(request, "metrics/all.html", context))


def asked_for_json(request: OwnRequest) -> bool:
    # First what a client gets that accepts anything: this is a page.
    preferred = request.get_preferred_type(["text/html", "application/json"])
    return request.GET.get("format") == "json" or preferred == "application/json"


def data(found: dict[str, Any]) -> HttpResponse:
    return varied(JsonResponse(found, json_dumps_params={"indent": 1}))


def varied(response: HttpResponse) -> HttpResponse:
    patch_vary_headers(response, ["Accept"])
    return response
