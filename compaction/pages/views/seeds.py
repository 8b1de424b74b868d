"""Packages that new conversations start from: what they would take, how they come along, and what comes of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from django.contrib.auth.models import User
from django.db.models import OuterRef, QuerySet, Subquery
from django.db.models.functions import Left
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from compaction.domain.lifecycle import PackageState
from compaction.models import SeedPackage
from compaction.pages.views.packages import package_view, packages_view
from compaction.seeds import packages as seeding
from efforts.domain.errors import Refused, refusal
from efforts.models import Branch, Message, Session
from efforts.pages.views.shared import OwnRequest, form_view, listed_sessions, page, part, part_or_page, status_of

FIRST_WORDS = 120


def owned_packages(request: OwnRequest) -> QuerySet[SeedPackage]:
    return SeedPackage.objects.filter(owner=request.user).select_related("session", "artifact", "owner")


def owned_package(request: OwnRequest, pk: int) -> SeedPackage:
    return get_object_or_404(owned_packages(request), pk=pk)


@never_cache
@require_GET
def packages(request: OwnRequest) -> HttpResponse:
    return page(request, "seeds/list.html", {"packages": packages_view(owned_packages(request))})


@never_cache
@form_view
def new(request: OwnRequest) -> HttpResponse:
    """Looking at what it takes changes nothing: that is a GET with the chosen conversations."""
    posted = request.method == "POST"
    given = request.POST if posted else request.GET
    own = {str(session.pk): session for session in Session.objects.owned_by(request.user).select_related("endpoint")}
    chosen = [own[id] for id in dict.fromkeys(given.getlist("session")) if id in own]
    title = given.get("title", "")
    if not posted:
        return new_page(request, chosen, title)
    try:
        package = seeding.create_package(request.user, chosen, title)
    except Refused as error:
        return new_page(request, chosen, title, error=error)
    return redirect("seed_package", package.pk)


def new_page(request: OwnRequest, chosen: list[Session], title: str, *, error: Refused | None = None) -> HttpResponse:
    context: dict[str, Any] = {
        "chosen": chosen,
        "offer": seeding.offer(request.user, chosen) if chosen else None,
        "title": title,
        "error": error.text if error else "",
        "most_stages": seeding.MOST_STAGES,
    }
    status = status_of(error) if error else 200
    if request.htmx:
        return part(request, "seeds/offer.html", context, status=status)
    picked = {session.pk for session in chosen}
    listed = to_choose_from(request.user)
    titles = Counter(session.title for session in listed)
    twice = {title for title, count in titles.items() if count > 1}
    more = {"listed": listed, "picked": picked, "twice": twice}
    return page(request, "seeds/new.html", {**context, **more}, status=status)


def to_choose_from(user: User) -> list[Session]:
    """Each with the number of its turns and its first words: copies may share a title and a day."""
    trunk = Branch.objects.filter(session=OuterRef("pk"), parent=None).values("head")
    said = Message.objects.filter(session=OuterRef("pk"), role=Message.Role.USER).order_by("pk")
    begins = said.values_list(Left("text", FIRST_WORDS))
    return list(listed_sessions(user).annotate(head=Subquery(trunk[:1]), begins=Subquery(begins[:1])))


@never_cache
@require_GET
def package(request: OwnRequest, pk: int) -> HttpResponse:
    return package_page(request, owned_package(request, pk))


def package_page(request: OwnRequest, package: SeedPackage, error: Refused | None = None) -> HttpResponse:
    context = {"view": package_view(package), "error": error.text if error else ""}
    status = status_of(error) if error else 200
    return part_or_page(request, "seeds/package.html", "seeds/page.html", context, status=status)


@require_POST
def put_together(request: OwnRequest, pk: int) -> HttpResponse:
    return changed(request, pk, lambda package: seeding.put_together(package, request.user))


@require_POST
def redraft(request: OwnRequest, pk: int, place: int) -> HttpResponse:
    get_object_or_404(owned_package(request, pk).stages, place=place)
    return changed(request, pk, lambda package: seeding.redraft_stage(package, place, request.user))


@require_POST
def stop(request: OwnRequest, pk: int) -> HttpResponse:
    return changed(request, pk, lambda package: seeding.stop_package(package, request.user))


@require_POST
def start(request: OwnRequest, pk: int) -> HttpResponse:
    """Started twice, it leads to the same conversation."""
    package = owned_package(request, pk)
    if package.state == PackageState.STARTED and package.session:
        return redirect(package.session)
    try:
        return redirect(seeding.start_conversation(package, request.user))
    except Refused as error:
        return package_page(request, package, error)


def changed(request: OwnRequest, pk: int, act: Callable[[SeedPackage], object]) -> HttpResponse:
    """The package after the act, or why it was not done."""
    package = owned_package(request, pk)
    error = refusal(lambda: act(package))
    if error or request.htmx:
        return package_page(request, owned_package(request, pk), error)
    return redirect("seed_package", pk)
