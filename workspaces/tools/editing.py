"""What a model wants to change: proposed, and decided by a person."""

from __future__ import annotations

from typing import Any

from efforts.tools.base import ToolContext
from workspaces import actions
from workspaces.tools.attached import snapshot_of
from workspaces.tools.reading import stored

PROPOSED = "Nothing is written yet: the user sees the diff and decides. You are told with the next message."


def propose_edit(context: ToolContext, *, path: str, sha256: str, diff: str, why: str) -> dict[str, Any]:
    snapshot = snapshot_of(context)
    try:
        path = stored(snapshot, path)
        edit = actions.propose_edit(context.run, snapshot, path=path, sha256=sha256, diff=diff, why=why)
    except actions.Unread:
        actions.index_what_changed(snapshot.workspace)
        raise
    return {"edit": edit.pk, "path": edit.path, "hunks": len(edit.hunks), "note": PROPOSED}
