"""What models may draft and check for a person, and what that has cost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from asgiref.sync import async_to_sync
from django import forms
from django.conf import settings
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from compaction.domain.limits import Purpose
from compaction.drafting import costs, examining, storing
from compaction.models import Checker
from compaction.pages.presenters.checkers import checkers_of
from compaction.pages.presenters.usage import asked_for
from efforts.context.connections import KeyUnreadable, of_endpoint
from efforts.models import Endpoint
from efforts.pages.views.shared import OwnRequest, page, part_or_page

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    EndpointField = forms.ModelChoiceField[Endpoint]
else:
    EndpointField = forms.ModelChoiceField

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


class CheckerForm(forms.Form):
    endpoint = EndpointField(
        label="Connection", queryset=Endpoint.objects.none(), required=False, empty_label="The conversation's own model"
    )
    model = forms.CharField(
        label="Model",
        required=False,
        max_length=200,
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
        help_text="Model ID, for example gpt-4o. Leave empty to use the connection's model.",
    )

    def __init__(self, user: User, data: Any = None) -> None:
        chosen = Checker.objects.filter(user=user).first()
        stands = {"endpoint": chosen.endpoint_id, "model": chosen.model} if chosen else {}
        super().__init__(data, initial=stands, prefix="checker")
        field = self.fields["endpoint"]
        assert isinstance(field, forms.ModelChoiceField)
        field.queryset = Endpoint.objects.filter(owner=user)


@never_cache
@require_GET
def drafting(request: OwnRequest) -> HttpResponse:
    return drafting_page(request)


@require_POST
def stop(request: OwnRequest) -> HttpResponse:
    return changed(request, begun_again=storing.stop_models(request.user))


@require_POST
def allow(request: OwnRequest) -> HttpResponse:
    storing.allow_models(request.user)
    return changed(request)


@require_POST
def cap(request: OwnRequest) -> HttpResponse:
    form = DayForm(request.POST)
    if not form.is_valid():
        return drafting_page(request, form=form, status=422)
    storing.cap_day(request.user, form.cleaned_data["tokens"])
    return changed(request, saved=True)


@require_POST
def checker(request: OwnRequest) -> HttpResponse:
    """Who reads this person's summaries from now on."""
    form = CheckerForm(request.user, request.POST)
    if not form.is_valid():
        return drafting_page(request, checker_form=form, status=422)
    storing.choose_checker(request.user, form.cleaned_data["endpoint"], form.cleaned_data["model"].strip())
    return changed(request, chosen=True)


def changed(request: OwnRequest, **more: Any) -> HttpResponse:
    return drafting_page(request, **more) if request.htmx else redirect("drafting")


def drafting_page(request: OwnRequest, *, status: int = 200, form: DayForm | None = None, **more: Any) -> HttpResponse:
    policy = costs.policy_of(request.user)
    uses = costs.usage_of(request.user)
    used, most = costs.used_today(request.user), costs.daily_cap(policy)
    context = {
        "policy": policy,
        "uses": uses,
        "total": costs.total_of(uses),
        "recorded": costs.recorded_of(request.user),
        "used": used,
        "most": most,
        "left": max(most - used, 0),
        "standard": settings.CCM_DAILY_CAP,
        "form": form or DayForm(initial={"tokens": policy.daily_cap}),
        "drafting_now": costs.being_drafted(request.user),
        "checker": Checker.objects.filter(user=request.user).select_related("endpoint").first(),
        "checker_form": CheckerForm(request.user),
        **more,
    }
    return part_or_page(request, "drafting/panel.html", "drafting/page.html", context, status=status)


@never_cache
@require_GET
def runs(request: OwnRequest, purpose: str, days: int) -> HttpResponse:
    """What one number of the page is counted from."""
    names = {str(known): name for known, (name, _) in costs.PURPOSES.items()} | {EVERY: "All drafting"}
    if purpose not in names or days not in costs.WINDOWS:
        raise Http404
    used = costs.used_by_purpose(request.user, days)
    context = {
        "name": names[purpose],
        "days": days,
        "used": costs.summed(used.values()) if purpose == EVERY else used.get(Purpose(purpose), costs.Used()),
        "asked": asked_for(request.user, "" if purpose == EVERY else purpose, days, LISTED),
        "listed": LISTED,
    }
    return page(request, "drafting/runs.html", context)


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
    try:
        choice = of_endpoint(endpoint, model)
    except KeyUnreadable as error:
        return shown(request, error=str(error), status=422)
    reserved, why = storing.reserve_exam(request.user, choice)
    if why:
        return shown(request, error=why, status=422)
    try:
        examining.keep_exam(request.user, choice, async_to_sync(examining.examine)(choice))
    finally:
        storing.release(reserved)
    return shown(request) if request.htmx else redirect("checkers")


def shown(request: OwnRequest, *, error: str = "", status: int = 200) -> HttpResponse:
    context = {"checkers": checkers_of(request.user), "error": error}
    return part_or_page(request, "checkers/panel.html", "checkers/page.html", context, status=status)
