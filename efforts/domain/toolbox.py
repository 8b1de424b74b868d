"""The tools a model is offered, as the request carries them."""

from __future__ import annotations

from typing import Any


def tool(name: str, description: str, **parameters: dict[str, Any]) -> dict[str, Any]:
    """A function schema; parameters with a default are optional."""
    required = [key for key, value in parameters.items() if "default" not in value]
    schema = {"type": "object", "properties": parameters, "required": required, "additionalProperties": False}
    return {"type": "function", "function": {"name": name, "description": description, "parameters": schema}}


SEARCH_MESSAGES = tool(
    "search_messages",
    "Find what was said earlier in this conversation and is not shown: the best passages with turn and message id.",
    query={"type": "string", "description": "The most telling words: names, numbers, topics."},
)
READ_MESSAGE = tool(
    "read_message",
    "Read one stored message from a position on, when a passage of it is cut.",
    id={"type": "integer", "description": "The message's id."},
    offset={"type": "integer", "description": "First character to read.", "default": 0},
)
# Part of every request: a new word or another order makes providers read each prompt anew.
TOOLS: tuple[dict[str, Any], ...] = (SEARCH_MESSAGES, READ_MESSAGE)
