"""What the person thinks of an answer: two buttons on it, and a form with a reason."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.http import Http404, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.views.decorators.cache import never_cache

from efforts import actions
from efforts.actions.verdicts import LONGEST_WHY
from efforts.domain.effort.states import VerdictValue
from efforts.domain.errors import Refused
from efforts.models import Branch, Run, Verdict
from efforts.pages.views.shared import (
    OwnRequest,
    about,
    dialog,
    done,
    fields,
    form_of_branch,
    refused_json,
    text_field,
    turn_here,
    wants_json,
)


@never_cache
@form_of_branch
def verdict(request: OwnRequest, branch: Branch, number: int) -> HttpResponse:
    run = turn_here(branch, number).run
    if run is None:
        raise Http404
    context = {**about(branch), "turn": number, "longest": LONGEST_WHY, "title": "Was this a good answer?"}
    if request.method != "POST":
        return dialog(request, "verdicts/form.html", {**context, **standing(run)})
    as_json = wants_json(request) and not request.htmx
    try:
        posted = fields(request)
        say(request, run, posted)
    except Refused as error:
        again = {**context, "value": request.POST.get("value"), "why": request.POST.get("why"), "error": error.text}
        return refused_json(error) if as_json else dialog(request, "verdicts/form.html", again, status=422)
    if as_json:
        return JsonResponse({"turn": number})
    return done("closeDialog", "judged") if request.htmx else redirect(f"{branch.get_absolute_url()}#turn-{number}")


def standing(run: Run) -> dict[str, Any]:
    row = Verdict.objects.filter(run=run).first()
    return {"value": row.value, "why": row.why} if row else {"value": "", "why": ""}


def say(request: OwnRequest, run: Run, posted: Mapping[str, Any]) -> None:
    value = text_field(posted, "value")
    if posted.get("take_back"):
        actions.take_back_verdict(run, actor=request.user)
    elif value not in set(VerdictValue):
        raise Refused("bad_verdict", "Choose good or bad.")
    else:
        actions.judge_run(run, value, why=text_field(posted, "why"), actor=request.user)
