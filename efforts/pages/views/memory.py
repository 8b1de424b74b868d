"""Memory: what is where, how it moves, and what keeps an effort in the prompt."""

from __future__ import annotations

from uuid import UUID

from django.http import Http404, HttpResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from efforts.context import plans
from efforts.pages.presenters.memory import chosen_memory, effort_memory, memory_view
from efforts.pages.views.shared import OwnRequest, about, dialog, owned_branch, page


@never_cache
@require_GET
def memory(request: OwnRequest, session_id: UUID, branch_id: UUID | None = None) -> HttpResponse:
    branch = owned_branch(request, session_id, branch_id)
    found = memory_view(branch, plans.preview(branch))
    return page(request, "memory/page.html", {**about(branch), "memory": found, "plan": found.plan})


@never_cache
@require_GET
def of_effort(request: OwnRequest, session_id: UUID, slug: str, branch_id: UUID | None = None) -> HttpResponse:
    branch = owned_branch(request, session_id, branch_id)
    if of_turns := chosen_memory(branch, slug):
        context = {**about(branch), "memory": of_turns, "title": f"Why: {of_turns.span}"}
        return dialog(request, "memory/chosen.html", context)
    found = effort_memory(branch, slug)
    if found is None:
        raise Http404
    context = {**about(branch), "memory": found, "effort": found.effort, "title": f"Why: {found.effort.name}"}
    return dialog(request, "memory/effort.html", context)
