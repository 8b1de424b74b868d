"""The page of one context plan: what a call was sent, what was left out, and why."""

from __future__ import annotations

import json
from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_GET

from efforts import snapshots
from efforts.models import ContextPlan, Session

from .shared import OwnRequest, owned_session, page, part

# More text in one element makes a browser slow.
LARGEST_RAW = 400_000


@require_GET
def plan(request: OwnRequest, session_id: UUID, plan_id: UUID) -> HttpResponse:
    session = owned_session(request, session_id)
    plans = ContextPlan.objects.filter(session=session)
    stored = get_object_or_404(plans.select_related("run__turn", "session", "branch"), pk=plan_id)
    context = {
        "session": session,
        "stored": stored,
        "plan": snapshots.stored_plan(stored),
        **neighbours(stored, session),
        **raw_request(stored),
    }
    return part(request, "plans/body.html", context) if request.htmx else page(request, "plans/page.html", context)


def neighbours(stored: ContextPlan, session: Session) -> dict[str, ContextPlan | None]:
    plans = ContextPlan.objects.filter(session=session, branch=stored.branch_id).defer("body")
    return {
        "previous": plans.filter(created_at__lt=stored.created_at).order_by("-created_at").first(),
        "next": plans.filter(created_at__gt=stored.created_at).order_by("created_at").first(),
    }


def raw_request(stored: ContextPlan) -> dict[str, Any]:
    try:
        request = snapshots.replay(stored)
    # What a replay needs is missing: all else about the plan can still be read.
    except KeyError:
        return {"raw": ""}
    text = json.dumps(request, indent=2, ensure_ascii=False)
    return {"raw": text[:LARGEST_RAW], "raw_cut": len(text) > LARGEST_RAW}
