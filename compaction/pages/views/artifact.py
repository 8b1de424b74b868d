"""The page of one artifact, and its panels, each at an address of its own."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

from django.http import Http404, HttpResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from compaction.models import Artifact
from compaction.pages.presenters.artifact import ArtifactView, artifact_view, drafted_of, title_of
from compaction.pages.views.accepting import history_on
from compaction.pages.views.shared import current, reviewable
from compaction.standing.blockers import standing_of
from efforts.pages.views.shared import OwnRequest, about, page, part

ALL = "all"
DROPPED = "dropped"


def review_context(request: OwnRequest, row: Artifact, show: str = "") -> dict[str, Any]:
    """What the page and each of its panels show."""
    view = artifact_view(row, request.user)
    show = show or request.GET.get("show", ALL)
    if show != ALL and show not in {key for key, *_ in filters_of(view)}:
        show = ALL
    return {
        **about(row.branch),
        "view": view,
        # Called where it is shown: a verdict's answer shows no filters, and what is dropped takes reading.
        "filters": partial(filters_of, view),
        "show": show,
        "groups": [group for group in view.claims.groups if show in (ALL, group.section)],
    }


def filters_of(view: ArtifactView) -> list[tuple[str, str, int | None]]:
    """The key of each, its title, and how many it shows."""
    if view.is_digest:
        return []
    of_groups = [(one.section, one.title, len(one.claims)) for one in view.claims.groups]
    return [(ALL, "All", len(view.claims.all)), *of_groups, (DROPPED, missing(view), view.missed or None)]


def missing(view: ArtifactView) -> str:
    """No "Missing 0": far more may be left out, which nobody listed."""
    return "Missing" if view.missed else "List: nothing missing" if view.is_listed else "Nothing listed"


def whole(request: OwnRequest, row: Artifact, context: dict[str, Any], *, status: int = 200) -> HttpResponse:
    """The page, with where the artifact stands at its foot."""
    foot = {"standing": context["view"], **history_on(row)}
    return page(request, "review/artifact.html", {**context, **foot}, status=status)


def earlier(request: OwnRequest, row: Artifact, error: str | None = None) -> HttpResponse:
    """Of an earlier form: its texts, where it stands, and how to have it drafted again. `error`: what came of asking
    for that, empty where it is on its way."""
    context = {
        **about(row.branch),
        "row": row,
        "title": title_of(row),
        "is_owner": row.session.owner_id == request.user.pk,
        "error": error,
        "asked": error == "",
    }
    if request.htmx:
        return part(request, "review/earlier_note.html", context, status=422 if error else 200)
    foot = {"standing": standing_of(row, request.user), **history_on(row)}
    return page(request, "review/earlier.html", {**context, **foot}, status=422 if error else 200)


@never_cache
@require_GET
def panel(request: OwnRequest, artifact_id: str, template: str) -> HttpResponse:
    """One panel for htmx; else the whole page, which has it."""
    row = current(request, artifact_id)
    context = review_context(request, row)
    return part(request, template, context) if request.htmx else whole(request, row, context)


@never_cache
@require_GET
def artifact(request: OwnRequest, artifact_id: str) -> HttpResponse:
    row = reviewable(request, artifact_id)
    return whole(request, row, review_context(request, row)) if row.is_current else earlier(request, row)


@never_cache
@require_GET
def top(request: OwnRequest, artifact_id: str) -> HttpResponse:
    """`waiting`: the page has asked whether a check is over, and `drafting`, whether another draft is there; once it
    is, the rest of the page is told."""
    if request.htmx and "drafting" in request.GET:
        return after_draft(request, current(request, artifact_id))
    if not request.htmx or "waiting" not in request.GET:
        return panel(request, artifact_id, "review/top.html")
    context = review_context(request, current(request, artifact_id))
    again = context["view"].recheck
    answer = part(request, "review/top.html", {**context, "waited": True})
    if again is None or again.state in ("done", "failed"):
        answer["HX-Trigger-After-Swap"] = "standing"
    return answer


def after_draft(request: OwnRequest, row: Artifact) -> HttpResponse:
    context = review_context(request, row)
    if context["view"].redrafting:
        return part(request, "review/top.html", context)
    drafted, why = drafted_of(row)
    answer = part(request, "review/top.html", {**context, "drafted": drafted, "why_drafted": why})
    answer["HX-Trigger-After-Swap"] = json.dumps({"standing": None, "desk": None})
    return answer


@never_cache
@require_GET
def gate(request: OwnRequest, artifact_id: str, letter: str) -> HttpResponse:
    """How one gate came to its verdict."""
    context = review_context(request, current(request, artifact_id))
    found = next((one for one in context["view"].gates if one.letter == letter), None)
    if found is None:
        raise Http404
    if request.htmx:
        return part(request, "review/gate.html", {**context, "gate": found})
    return page(request, "review/gate_page.html", {**context, "gate": found})
