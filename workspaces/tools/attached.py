"""The snapshot that a run works on."""

from __future__ import annotations

from efforts.tools.base import ToolContext, ToolError
from workspaces.models import Snapshot, Workspace

NOTHING = "No code is attached to this conversation. The user attaches a folder in its settings."
NOT_YET = "The attached folder is not indexed yet. Say so, and answer from what is in the prompt."


def snapshot_of(context: ToolContext) -> Snapshot:
    """As it is now: a folder may have been indexed again since the run began. Raises `ToolError`."""
    workspace = context.run.settings.get("workspace")
    owner = context.run.turn.session.owner_id
    row = Workspace.objects.filter(pk=workspace, owner=owner).select_related("current").first() if workspace else None
    if row is None:
        raise ToolError(NOTHING)
    if row.current is None:
        raise ToolError(NOT_YET)
    return row.current
