"""The page of one context plan: what a call was sent, what was left out, and why."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.db.models import Prefetch
from django.http import Http404, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from efforts.actions.files.sending import filled
from efforts.context import inspection
from efforts.context.holds import holds_view, with_pins
from efforts.context.inspection import pretty
from efforts.context.naming import with_names
from efforts.context.planning import mode_of
from efforts.context.plans import replay, stored_plan
from efforts.domain.effort.policy import ContextMode
from efforts.log.timelines import branch_plans
from efforts.models import Branch, ContextPlan, Message, RetrievalItem, Session, Verdict
from efforts.pages.presenters import sendings
from efforts.pages.presenters.export import plan_lines
from efforts.pages.presenters.sendings import NEWEST_PLANS
from efforts.pages.views.shared import (
    OwnRequest,
    about,
    dialog,
    owned_session,
    page_of_branch,
    part_or_page,
    streamed_lines,
    turn_here,
)
from efforts.standins import coding


@never_cache
@require_GET
def plan(request: OwnRequest, session_id: UUID, plan_id: UUID) -> HttpResponse:
    session = owned_session(request, session_id)
    stored = owned_plan(session, plan_id)
    beside = neighbours(stored)
    before = beside["previous"]
    holds = holds_view(stored.branch)
    context = {
        **about(stored.branch),
        "stored": stored,
        "plan": with_pins(with_names(stored_plan(stored), session), holds, turn=stored.run.turn.number),
        "holds": holds,
        "difference": inspection.compared(before, stored) if before else None,
        "outcome": outcome_of(stored),
        "raw": inspection.raw_request(stored),
        **beside,
    }
    return part_or_page(request, "plans/drawer.html", "plans/page.html", context)


def owned_plan(session: Session, plan_id: UUID) -> ContextPlan:
    plans = ContextPlan.objects.filter(session=session).select_related("run__turn", "session", "branch__session")
    return get_object_or_404(plans, pk=plan_id)


def outcome_of(stored: ContextPlan) -> dict[str, Any]:
    """What came of the call: what the person thought of it, its tools, what was found. `is_last_attempt`: its run is
    the one whose answer is read, and judged."""
    run = stored.run
    hits = RetrievalItem.objects.select_related("effort", "turn", "message").defer("message__text")
    return {
        "verdict": Verdict.objects.filter(run=run).first(),
        "is_last_attempt": run.turn.run_id == run.pk,
        "tools": stored.tool_traces.all(),
        "proposed": coding.registered().proposed([run.pk]).get(run.pk, ()),
        "recall_is_off": mode_of(run.settings) == ContextMode.OFF,
        "retrievals": stored.retrieval_sets.prefetch_related(Prefetch("items", hits)),
    }


def neighbours(stored: ContextPlan) -> dict[str, ContextPlan | None]:
    plans = ContextPlan.objects.filter(branch=stored.branch_id).select_related("run__turn")
    timeline = branch_plans(stored.branch).select_related("run__turn")
    return {
        "previous": timeline.filter(created_at__lt=stored.created_at).order_by("-created_at").first(),
        "next": plans.filter(created_at__gt=stored.created_at).defer("body").order_by("created_at").first(),
    }


@require_GET
def sent(request: OwnRequest, session_id: UUID, plan_id: UUID) -> HttpResponse:
    """The request to the letter, as a file: nothing in it is cut or masked."""
    stored = owned_plan(owned_session(request, session_id), plan_id)
    try:
        text = pretty(filled(session_id, replay(stored)))
    except (KeyError, OSError) as missing:
        raise Http404 from missing
    response = HttpResponse(text, content_type="application/json")
    response["Content-Disposition"] = f'attachment; filename="request-{str(stored.pk)[:8]}.json"'
    return response


@require_GET
def export(request: OwnRequest, session_id: UUID) -> StreamingHttpResponse:
    """All plans of the conversation, secrets masked, written while they are read (docs/export.md)."""
    session = owned_session(request, session_id)
    return streamed_lines(plan_lines(session), f"plans-{str(session.pk)[:8]}")


@page_of_branch
def of_turn(request: OwnRequest, branch: Branch, number: int) -> HttpResponse:
    turn = turn_here(branch, number)
    context = {
        **about(branch),
        "text": turn.messages.get(role=Message.Role.USER).text,
        "sendings": sendings.sendings_of(branch, turn),
        "newest": NEWEST_PLANS,
        "title": f"Where turn {turn.number} was sent",
    }
    return dialog(request, "plans/of_turn.html", context)
