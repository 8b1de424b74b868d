"""What a model may call where code is attached: schemas, and the functions behind them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from efforts.domain.prompt.toolbox import tool
from workspaces.commands.listed import offered

from . import commanding, editing, finding, reading

# Each word here is part of every prompt of a conversation with code.
TOOLS: tuple[dict[str, Any], ...] = (
    tool("search_code", "Find code and docs in the attached folder by words.", query={"type": "string"}),
    tool(
        "look_up",
        "Where a class, function or module is defined, with its signature.",
        name={"type": "string", "description": "Its name, or with its module: pkg.mod.Class.method."},
    ),
    tool("who_calls", "What calls or inherits a symbol, tests apart.", name={"type": "string"}),
    tool(
        "read_span",
        "Read lines of a file.",
        path={"type": "string"},
        from_line={"type": "integer", "default": 1},
        to_line={"type": "integer", "description": "0: as far as there is room.", "default": 0},
    ),
    tool("list_folder", "List a folder.", path={"type": "string", "default": ""}),
    tool(
        "propose_edit",
        "Propose a change of one file that is there; the user decides.",
        path={"type": "string"},
        sha256={"type": "string", "description": "As read_span gave it."},
        diff={"type": "string", "description": "Unified."},
        why={"type": "string", "default": ""},
    ),
)


def tools() -> tuple[dict[str, Any], ...]:
    """With the command tool where the operator allows any."""
    if not offered():
        return TOOLS
    return (
        *TOOLS,
        tool(
            "run_command",
            "Propose to run a command in the folder; the user decides.",
            name={"type": "string", "enum": list(offered())},
            words={"type": "string", "description": "More words, no shell.", "default": ""},
            why={"type": "string", "default": ""},
        ),
    )


FUNCTIONS: Mapping[str, Callable[..., dict[str, Any]]] = {
    "search_code": finding.search_code,
    "look_up": finding.look_up,
    "who_calls": finding.who_calls,
    "read_span": reading.read_span,
    "list_folder": reading.list_folder,
    "propose_edit": editing.propose_edit,
    "run_command": commanding.run_command,
}
