"""What the views of artifacts stand on."""

from __future__ import annotations

from django.http import Http404
from django.shortcuts import get_object_or_404

from compaction.models import Artifact
from efforts.pages.views.shared import OwnRequest


def reviewable(request: OwnRequest, artifact_id: str) -> Artifact:
    """404 and not 403, as for conversations."""
    rows = Artifact.objects.reviewable_by(request.user)
    return get_object_or_404(
        rows.select_related("session__endpoint", "session__owner", "branch__session", "effort", "run", "edited_by"),
        pk=artifact_id,
    )


def current(request: OwnRequest, artifact_id: str) -> Artifact:
    """One whose claims can be read, decided and judged: there is no such thing of an earlier form."""
    row = reviewable(request, artifact_id)
    if not row.is_current:
        raise Http404
    return row
