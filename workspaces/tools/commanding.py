"""A command that a model wants to have run: proposed, and allowed by a person."""

from __future__ import annotations

from typing import Any

from efforts.tools.base import ToolContext
from workspaces import actions
from workspaces.tools.attached import snapshot_of

PROPOSED = "It is not run yet: the user decides. You are told how it ended with the next message."


def run_command(context: ToolContext, *, name: str, words: str, why: str) -> dict[str, Any]:
    workspace = snapshot_of(context).workspace
    command = actions.propose_command(context.run, workspace, name=name, words=words, why=why)
    return {"command": command.pk, "name": name, "line": command.line, "note": PROPOSED}
