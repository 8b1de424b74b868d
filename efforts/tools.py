"""The tools a model may call: a table of name, schema and function.

Whatever goes wrong goes back to the model as {"error": ...} in words that say what to do, and the turn goes on.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.db.models import Q

from efforts.domain.canonical import canonical_json
from efforts.domain.conversation import ToolCall
from efforts.domain.lifecycle import RunState
from efforts.domain.toolbox import TOOLS
from efforts.models import Message, Run
from efforts.snapshots import branch_turns

MATCHES = 8
PASSAGE = 400
# About a thousand tokens: a quarter of the smallest budget.
PIECE = 4_000
# Each word is one more comparison with every message of the conversation.
WORDS = 12


class ToolError(Exception):
    """What the model did wrong, and what it should do."""


@dataclass(frozen=True, kw_only=True)
class ToolContext:
    """Where a call happens: a tool sees this branch up to this turn, and nothing else."""

    run: Run


Function = Callable[..., dict[str, Any]]


def run_tool(call: ToolCall, context: ToolContext) -> str:
    """The result as the model gets it, JSON."""
    try:
        return canonical_json(dispatch(call, context))
    except ToolError as error:
        return canonical_json({"error": str(error)})


def dispatch(call: ToolCall, context: ToolContext) -> dict[str, Any]:
    function = FUNCTIONS.get(call.name)
    if function is None:
        raise ToolError(f"There is no tool {call.name!r}. There are: {', '.join(FUNCTIONS)}.")
    return function(context, **arguments_of(call))


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
        raise ToolError(f"{key} must be of type {schema['type']}: {schema['description']}")
    if not storable(value):
        raise ToolError(f"{key} holds what no database takes. Send it without.")
    return value


def storable(value: Any) -> bool:
    """JSON can name numbers, NULs and half characters that the database refuses with an exception."""
    if isinstance(value, int):
        return -(2**63) <= value < 2**63
    return "\x00" not in value and not any("\ud800" <= character <= "\udfff" for character in value)


def search_messages(context: ToolContext, *, query: str) -> dict[str, Any]:
    words = list(dict.fromkeys(word.strip(".,;:!?\"'()").casefold() for word in query.split()))[:WORDS]
    words = [word for word in words if word]
    if not words:
        raise ToolError("The query is empty. Give the most telling words.")
    wanted = Q()
    for word in words:
        # SQLite ignores the case of ASCII letters only.
        for spelling in {word, word.capitalize(), word.upper()}:
            wanted |= Q(text__icontains=spelling)
    # The newest thousand: ranking reads their texts, and must not grow with the log.
    found = said_before(context).filter(wanted).select_related("turn").order_by("-id")[:1_000]
    ranked = sorted(found, key=lambda row: (-hits(row.text, words), -row.pk))
    matches = [
        {"turn": row.turn.number, "role": row.role, "message": row.pk, "text": passage(row.text, words)}
        for row in ranked[:MATCHES]
    ]
    return {"matches": matches, "of": len(ranked)}


def said_before(context: ToolContext) -> Any:
    """The log of this branch before this turn; results of tools are not what anybody said."""
    turns = branch_turns(context.run.branch).filter(number__lt=context.run.turn.number)
    turns = turns.exclude(run__state=RunState.CANCELLED)
    counts = Q(role=Message.Role.USER) | Q(run__in=turns.values("run"))
    return Message.objects.filter(counts, turn__in=turns).exclude(role=Message.Role.TOOL)


def hits(text: str, words: list[str]) -> int:
    folded = text.casefold()
    return sum(word in folded for word in words)


def passage(text: str, words: list[str]) -> str:
    """The piece of a message around its first hit."""
    folded = text.casefold()
    # Folding can change lengths (ß becomes ss): near enough for a passage, not for a quotation.
    first = min((at for word in words if (at := folded.find(word)) >= 0), default=0)
    start = max(0, first - PASSAGE // 3)
    piece = text[start : start + PASSAGE]
    return ("…" if start else "") + piece + ("…" if start + PASSAGE < len(text) else "")


def read_message(context: ToolContext, *, id: int, offset: int) -> dict[str, Any]:
    row = Message.objects.filter(pk=id, turn__in=branch_turns(context.run.branch)).select_related("turn").first()
    if row is None:
        raise ToolError(f"There is no message {id} here. search_messages gives the ids.")
    if not 0 <= offset <= len(row.text):
        raise ToolError(f"Message {id} has {len(row.text)} characters; offset must lie within.")
    piece = row.text[offset : offset + PIECE]
    after = offset + len(piece)
    return {
        "turn": row.turn.number,
        "role": row.role,
        "text": piece,
        "of": len(row.text),
        "next_offset": after if after < len(row.text) else None,
    }


FUNCTIONS: dict[str, Function] = {"search_messages": search_messages, "read_message": read_message}
SCHEMAS: dict[str, dict[str, Any]] = {tool["function"]["name"]: tool["function"]["parameters"] for tool in TOOLS}
