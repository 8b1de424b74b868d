"""The tools a model may call: the function behind each name. What the model is told of it, its schema, is in
`domain/prompt/toolbox.py`; of tools for attached code both are in the app `workspaces`.

Whatever goes wrong goes back to the model as {"error": ...} in words that say what to do, and the turn goes on.
"""

from __future__ import annotations

import json
from typing import Any

from efforts.domain.errors import Refused
from efforts.domain.prompt.conversation import ToolCall
from efforts.domain.prompt.toolbox import TOOLS
from efforts.domain.text.canonical import canonical_json
from efforts.standins import coding

from . import efforts, ledger, messages
from .base import Function, ToolContext, ToolError
from .messages import meaning_asked
from .repeats import with_hint

__all__ = ["ToolContext", "ToolError", "error_result", "meaning_asked", "parse_arguments", "run_tool"]

# Characters.
LONGEST_ERROR = 600

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
        hint = " search_efforts finds efforts." if isinstance(error, Refused) and error.code == "unknown" else ""
        return error_result(f"{error}{hint}")


def error_result(text: str) -> str:
    """How every call is answered that came to nothing, JSON; of a very long text beginning and end."""
    # It may quote what the model wrote.
    if len(text) > LONGEST_ERROR:
        text = f"{text[: LONGEST_ERROR // 2]} … {text[-LONGEST_ERROR // 2 :]}"
    return canonical_json({"error": text})


def dispatch(call: ToolCall, context: ToolContext) -> dict[str, Any]:
    function = FUNCTIONS.get(call.name) or coding.registered().functions().get(call.name)
    if function is None:
        raise ToolError(f"There is no tool {call.name!r}. There are: {', '.join(FUNCTIONS)}.")
    return with_hint(call.name, function(context, **arguments_of(call)), context.run)


def arguments_of(call: ToolCall) -> dict[str, Any]:
    arguments = parse_arguments(call.arguments)
    properties = schema_of(call.name)["properties"]
    if unknown := sorted(set(arguments) - set(properties)):
        raise ToolError(f"{call.name} has no argument {unknown[0]!r}. It takes: {', '.join(properties)}.")
    return {key: checked(key, arguments.get(key, schema.get("default")), schema) for key, schema in properties.items()}


def schema_of(name: str) -> dict[str, Any]:
    if name in SCHEMAS:
        return SCHEMAS[name]
    return next(
        tool["function"]["parameters"] for tool in coding.registered().tools() if tool["function"]["name"] == name
    )


def parse_arguments(text: str) -> dict[str, Any]:
    """Raises `ToolError` where they are not one JSON object; nothing at all is an empty one."""
    try:
        arguments = json.loads(text.strip() or "{}", object_pairs_hook=each_once, parse_constant=no_number)
        # Half a character is an escape that JSON allows; no database takes it.
        canonical_json(arguments).encode()
    except UnicodeEncodeError as error:
        raise ToolError("The arguments hold half a character, which no database takes. Send them without.") from error
    except (ValueError, RecursionError) as error:
        why = "they are nested too deeply" if isinstance(error, RecursionError) else error
        begin = f"they begin {text[:60]!r}"
        raise ToolError(f"The arguments are not JSON ({why}); {begin}. Send one JSON object.") from error
    if not isinstance(arguments, dict):
        raise ToolError(f"The arguments must be one JSON object; they begin {text[:60]!r}.")
    return arguments


def each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key is there twice")
    return found


def no_number(name: str) -> None:
    raise ValueError(f"{name} is no number")


def checked(key: str, value: Any, schema: dict[str, Any]) -> Any:
    kind = {"string": str, "integer": int}[schema["type"]]
    if kind is int:
        value = whole_number(value)
    if not isinstance(value, kind) or isinstance(value, bool):
        raise ToolError(f"{key} must be of type {schema['type']}.")
    if value not in schema.get("enum", [value]):
        raise ToolError(f"{key} must be one of: {', '.join(schema['enum'])}.")
    if not storable(value):
        raise ToolError(f"{key} holds what no database takes. Send it without.")
    return value


def whole_number(value: Any) -> Any:
    """Models send numbers as text, and whole ones with a decimal point; what is neither stays as it is."""
    try:
        return int(value) if isinstance(value, str) or (isinstance(value, float) and value.is_integer()) else value
    except ValueError:
        return value


def storable(value: Any) -> bool:
    """JSON can name numbers and NULs that the database refuses with an exception."""
    return -(2**63) <= value < 2**63 if isinstance(value, int) else "\x00" not in value
