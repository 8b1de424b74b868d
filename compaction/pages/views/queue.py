"""The queue of reviews."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from compaction.pages.presenters.queue import Tab, queue_of
from efforts.pages.views.shared import OwnRequest, done, page, part


@never_cache
@require_GET
def queue(request: OwnRequest) -> HttpResponse:
    """While it is open it asks again, with the stamp of what it shows: nothing is answered where that is all."""
    asked = request.GET.get("tab", "")
    tab = Tab(asked) if asked in set(Tab) else Tab.NEEDS_ME
    found = queue_of(request.user, tab, request.GET.get("page", 1))
    if not request.htmx:
        return page(request, "review/queue.html", {"queue": found})
    if request.GET.get("seen") == found.stamp:
        return done()
    return part(request, "review/queue_list.html", {"queue": found})


@never_cache
@require_GET
def waiting(request: OwnRequest) -> HttpResponse:
    """How many wait, for the badge that every page has."""
    return part(request, "review/waiting.html", {}) if request.htmx else redirect("reviews")
