"""The pages of artifacts."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from efforts.models import Session
from efforts.views.shared import OwnRequest, about, page

from .models import Artifact
from .pages import artifact_view


@never_cache
@require_GET
def artifact(request: OwnRequest, artifact_id: str) -> HttpResponse:
    mine = Artifact.objects.filter(session__in=Session.objects.owned_by(request.user))
    row = get_object_or_404(
        mine.select_related("session__endpoint", "branch__session", "effort", "run"), pk=artifact_id
    )
    return page(request, "review/artifact.html", {**about(row.branch), "view": artifact_view(row)})
