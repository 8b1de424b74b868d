"""The tools a model may call: a table of name, schema and function.

Whatever goes wrong goes back to the model as {"error": ...} in words that say what to do, and the turn goes on.
"""

from __future__ import annotations

import json
from typing import Any

from efforts.domain.errors import Refused
from efforts.domain.prompt.conversation import ToolCall
from efforts.domain.prompt.toolbox import TOOLS
from efforts.domain.text.canonical import canonical_json

from . import efforts, ledger, messages
from .base import Function, ToolContext, ToolError
from .repeats import with_hint

__all__ = ["ToolContext", "dispatch", "run_tool"]

FUNCTIONS: dict[str, Function] = {
    "open_effort": efforts.open_effort,
    "close_effort": efforts.close_effort,
    "reopen_effort": efforts.reopen_effort,
    "switch_effort": efforts.switch_effort,
    "expand_effort": efforts.expand_effort,
    "collapse_effort": efforts.collapse_effort,
    "effort_status": efforts.effort_status,
    "search_efforts": efforts.search_efforts,
    "search_messages": messages.search_messages,
    "read_effort": efforts.read_effort,
    "read_message": messages.read_message,
    "record": ledger.record,
    "resolve_open_work": ledger.resolve_open_work,
    "suggest_pin": ledger.suggest_pin,
}
SCHEMAS: dict[str, dict[str, Any]] = {tool["function"]["name"]: tool["function"]["parameters"] for tool in TOOLS}


def run_tool(call: ToolCall, context: ToolContext) -> str:
    """The result as the model gets it, JSON."""
    try:
        return canonical_json(dispatch(call, context))
    except (ToolError, Refused) as error:
        return canonical_json({"error": str(error)})


def dispatch(call: ToolCall, context: ToolContext) -> dict[str, Any]:
    function = FUNCTIONS.get(call.name)
    if function is None:
        raise ToolError(f"There is no tool {call.name!r}. There are: {', '.join(FUNCTIONS)}.")
    return with_hint(call.name, function(context, **arguments_of(call)), context.run)


def arguments_of(call: ToolCall) -> dict[str, Any]:
    try:
        arguments = json.loads(call.arguments or "{}")
    except ValueError as error:
        raise ToolError(f"The arguments are not JSON ({error}). Send one JSON object.") from error
    if not isinstance(arguments, dict):
        raise ToolError("The arguments must be one JSON object.")
    properties = SCHEMAS[call.name]["properties"]
    if unknown := sorted(set(arguments) - set(properties)):
        raise ToolError(f"{call.name} has no argument {unknown[0]!r}. It takes: {', '.join(properties)}.")
    return {key: checked(key, arguments.get(key, schema.get("default")), schema) for key, schema in properties.items()}


def checked(key: str, value: Any, schema: dict[str, Any]) -> Any:
    kind = {"string": str, "integer": int}[schema["type"]]
    if not isinstance(value, kind) or isinstance(value, bool):
        raise ToolError(f"{key} must be of type {schema['type']}.")
    if value not in schema.get("enum", [value]):
        raise ToolError(f"{key} must be one of: {', '.join(schema['enum'])}.")
    if not storable(value):
        raise ToolError(f"{key} holds what no database takes. Send it without.")
    return value


def storable(value: Any) -> bool:
    """JSON can name numbers, NULs and half characters that the database refuses with an exception."""
    if isinstance(value, int):
        return -(2**63) <= value < 2**63
    return "\x00" not in value and not any("\ud800" <= character <= "\udfff" for character in value)
