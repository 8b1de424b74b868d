"""Search over all that one person has said and kept: the page, and the dialog that is a key away."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from efforts.models import Passage, Session
from efforts.pages.forms import SearchForm
from efforts.pages.presenters.destinations import destinations
from efforts.pages.presenters.owner_search import Filters
from efforts.pages.presenters.search import (
    MOST,
    FoundView,
    address_with,
    efforts_to_choose,
    page_of,
    passage_of,
    search_page,
)
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
    like = passage_of(request.user, request.GET.get("like", ""))
    context: dict[str, Any] = {"form": form, "text": text, "in_dialog": in_dialog}
    if in_dialog and not request.GET.get("session"):
        context["destinations"] = destinations(request.user, text, named_session(request, "current"))
    if form.is_valid() and (text or like):
        context["found"] = found(request, text, form.chosen(), like, MOST_IN_DIALOG if in_dialog else MOST)
        context["links"] = links(request, context["found"])
    status = 422 if form.errors else 200
    if request.htmx:
        return part(request, "search/results.html", context, status=status)
    return page(
        request, "search/page.html", {**context, "effort_names": efforts_to_choose(request.user)}, status=status
    )


def found(request: OwnRequest, text: str, filters: Filters, like: Passage | None, most: int) -> FoundView:
    """Words first, which never wait; the page then asks for meanings too."""
    asked = request.GET
    by_meaning = "meaning" in asked
    return search_page(
        request.user, text, filters, most=most, page=page_of(asked.get("page", "")), by_meaning=by_meaning, like=like
    )


def links(request: OwnRequest, shown: FoundView) -> dict[str, str]:
    """Other pages of the same search, and the same with meanings."""
    more = {"meaning": 1} if shown.by_meaning and not shown.like else {}
    return {
        "earlier": address_with(request.GET, page=shown.earlier, **more) if shown.earlier else "",
        "later": address_with(request.GET, page=shown.later, **more) if shown.later else "",
        "meaning": address_with(request.GET, page=shown.page, meaning=1) if shown.compares else "",
    }


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
    here = named_session(request, "current")
    context = {"title": "Search", "here": here, "in_dialog": True, "destinations": destinations(request.user, "", here)}
    return part(request, "search/box.html", context)
