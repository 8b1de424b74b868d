"""What models may draft for a person, and what that has cost."""

from __future__ import annotations

from typing import Any

from django import forms
from django.conf import settings
from django.http import Http404, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from compaction import actions, usage
from compaction.domain.lifecycle import Ended
from compaction.pages import ENDS
from efforts.views.shared import OwnRequest, page, part

LISTED = 200
LEAST_CAP, LARGEST_CAP = 1_000, 1_000_000_000
EVERY = "all"
TOO_FEW = f"At least {LEAST_CAP:,}, as a whole number. To let no model draft, stop all models above."
TOO_MANY = f"At most {LARGEST_CAP:,}."


class DayForm(forms.Form):
    tokens = forms.IntegerField(
        label="Most tokens a day",
        required=False,
        min_value=LEAST_CAP,
        max_value=LARGEST_CAP,
        widget=forms.NumberInput(attrs={"autocomplete": "off"}),
        error_messages={"min_value": TOO_FEW, "max_value": TOO_MANY, "invalid": TOO_FEW},
    )


@never_cache
@require_GET
def drafting(request: OwnRequest) -> HttpResponse:
    return drafting_page(request)


@require_POST
def stop(request: OwnRequest) -> HttpResponse:
    return changed(request, begun_again=actions.stop_models(request.user))


@require_POST
def allow(request: OwnRequest) -> HttpResponse:
    actions.allow_models(request.user)
    return changed(request)


@require_POST
def cap(request: OwnRequest) -> HttpResponse:
    form = DayForm(request.POST)
    if not form.is_valid():
        return drafting_page(request, form=form, status=422)
    actions.cap_day(request.user, form.cleaned_data["tokens"])
    return changed(request, saved=True)


def changed(request: OwnRequest, **more: Any) -> HttpResponse:
    return drafting_page(request, **more) if request.htmx else redirect("drafting")


def drafting_page(request: OwnRequest, *, status: int = 200, form: DayForm | None = None, **more: Any) -> HttpResponse:
    policy = usage.policy_of(request.user)
    uses = usage.usage_of(request.user)
    used, most = usage.used_today(request.user), usage.daily_cap(policy)
    context = {
        "policy": policy,
        "uses": uses,
        "total": usage.total_of(uses),
        "used": used,
        "most": most,
        "left": max(most - used, 0),
        "standard": settings.CCM_DAILY_CAP,
        "form": form or DayForm(initial={"tokens": policy.daily_cap}),
        "drafting_now": usage.being_drafted(request.user),
        **more,
    }
    show = part if request.htmx else page
    return show(request, "drafting/panel.html" if request.htmx else "drafting/page.html", context, status=status)


@never_cache
@require_GET
def runs(request: OwnRequest, purpose: str, days: int) -> HttpResponse:
    """What one number of the page is counted from."""
    names = {str(known): name for known, (name, _) in usage.PURPOSES.items()} | {EVERY: "All drafting"}
    if purpose not in names or days not in usage.WINDOWS:
        raise Http404
    counted = usage.runs_of(request.user, days, "" if purpose == EVERY else purpose)
    newest = counted.select_related("session", "effort").prefetch_related("artifacts").order_by("-pk")[:LISTED]
    context = {
        "name": names[purpose],
        "days": days,
        "used": usage.used_in(counted),
        "runs": [(run, ENDS[Ended(run.ended)]) for run in newest],
        "listed": LISTED,
    }
    return page(request, "drafting/runs.html", context)
