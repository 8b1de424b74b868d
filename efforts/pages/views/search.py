"""Search over all that one person has said and kept: the page, and the dialog that is a key away."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from efforts.models import Session
from efforts.pages.forms import SearchForm
from efforts.pages.presenters.search import MOST, search_page
from efforts.pages.views.shared import OwnRequest, listed_sessions, page, part

# In the dialog, which is for going somewhere; the page has them all.
MOST_IN_DIALOG = 8


@never_cache
@require_GET
def search(request: OwnRequest) -> HttpResponse:
    # What no database takes is no part of any word.
    text = request.GET.get("q", "").replace("\x00", " ").strip()
    form = SearchForm(conversations(request), request.GET)
    in_dialog = "dialog" in request.GET
    context: dict[str, Any] = {"form": form, "text": text, "in_dialog": in_dialog}
    if form.is_valid() and text:
        most = MOST_IN_DIALOG if in_dialog else MOST
        context["found"] = search_page(request.user, text, form.chosen(), most=most)
    status = 422 if form.errors else 200
    if request.htmx:
        return part(request, "search/results.html", context, status=status)
    return page(request, "search/page.html", context, status=status)


def conversations(request: OwnRequest) -> list[Session]:
    """Those to choose from: the newest, and the one that is chosen."""
    listed = list(listed_sessions(request.user))
    chosen = named_session(request, "session")
    return [*listed, chosen] if chosen and chosen not in listed else listed


def named_session(request: OwnRequest, name: str) -> Session | None:
    try:
        named = UUID(request.GET.get(name, ""))
    except ValueError:
        return None
    return Session.objects.owned_by(request.user).filter(pk=named).first()


@require_GET
def box(request: OwnRequest) -> HttpResponse:
    """The dialog; without script there is the page."""
    if not request.htmx:
        return redirect("search")
    return part(request, "search/box.html", {"title": "Search", "here": named_session(request, "current")})
