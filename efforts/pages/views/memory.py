"""Memory: what is where, how it moves, and what keeps an effort in the prompt."""

from __future__ import annotations

from django.http import Http404, HttpResponse

from efforts.context import plans
from efforts.models import Branch
from efforts.pages.presenters.memory import chosen_memory, effort_memory, memory_view
from efforts.pages.views.shared import OwnRequest, about, dialog, page, page_of_branch


@page_of_branch
def memory(request: OwnRequest, branch: Branch) -> HttpResponse:
    plan = plans.preview(branch)
    return page(request, "memory/page.html", {**about(branch), "memory": memory_view(branch, plan), "plan": plan})


@page_of_branch
def of_effort(request: OwnRequest, branch: Branch, slug: str) -> HttpResponse:
    if of_turns := chosen_memory(branch, slug):
        context = {**about(branch), "memory": of_turns, "title": f"Why: {of_turns.span}"}
        return dialog(request, "memory/chosen.html", context)
    found = effort_memory(branch, slug)
    if found is None:
        raise Http404
    context = {**about(branch), "memory": found, "effort": found.effort, "title": f"Why: {found.effort.name}"}
    return dialog(request, "memory/effort.html", context)
