"""The tools a model is offered, as the request carries them."""

from __future__ import annotations

from typing import Any


def tool(name: str, description: str, /, **parameters: dict[str, Any]) -> dict[str, Any]:
    """A function schema; parameters with a default are optional."""
    required = [key for key, value in parameters.items() if "default" not in value]
    schema = {"type": "object", "properties": parameters, "required": required, "additionalProperties": False}
    return {"type": "function", "function": {"name": name, "description": description, "parameters": schema}}


# Each word here is part of every prompt: what a parameter's name says is not said again.
EFFORT = {"type": "string"}
WORDS = {"type": "string"}
OPEN_EFFORT = tool(
    "open_effort",
    "Start an effort when the user begins a new piece of work, such as a bug to find, a trip to plan, a pain to treat. "
    "Follow the procedure first.",
    name={"type": "string", "description": "1-4 words, e.g. payment webhook."},
)
CLOSE_EFFORT = tool(
    "close_effort",
    "Conclude an effort when the user says that it is solved, works now, is answered or no longer needed. NEVER when "
    "the user says pause, hold on, wait, later or tomorrow, switches topic or starts something new: leave it open.",
    id={"type": "string", "description": "Its id.", "default": ""},
    said={
        "type": "string",
        "description": "The user's own words in this message that end it, copied letter by letter.",
        "default": "",
    },
)
REOPEN_EFFORT = tool("reopen_effort", "Work again on a concluded effort.", id=EFFORT)
SWITCH_EFFORT = tool("switch_effort", "Go on with another open effort that the user comes back to.", id=EFFORT)
EXPAND_EFFORT = tool(
    "expand_effort",
    "Bring back the whole log of a concluded effort, or of noted turns (id turns-3-9), when the user asks for details "
    "that its note lacks.",
    id=EFFORT,
    what={"type": "string", "enum": ["raw", "body"], "description": "body: a longer note.", "default": "raw"},
)
COLLAPSE_EFFORT = tool(
    "collapse_effort",
    "Show what is expanded as its note again, when the user has the details or goes on.",
    id=EFFORT,
)
EFFORT_STATUS = tool("effort_status", "List the efforts with state and tokens, when the user asks for them.")
SEARCH_EFFORTS = tool("search_efforts", "Find the effort in which something was done.", query=WORDS)
SEARCH_MESSAGES = tool("search_messages", "Find what was said in turns that are not shown.", query=WORDS)
READ_EFFORT = tool(
    "read_effort",
    "Read turns of an effort that are not shown, or too long to expand.",
    id=EFFORT,
    from_turn={"type": "integer", "default": 0},
    to_turn={"type": "integer", "description": "0: to the end.", "default": 0},
)
READ_MESSAGE = tool(
    "read_message",
    "Read on in a message of which a passage is cut.",
    id={"type": "integer"},
    offset={"type": "integer", "default": 0},
)
RECORD = tool(
    "record",
    "Keep a decision, work still to be done, or a rule (constraint) that the user states for all the work ahead.",
    kind={"type": "string", "enum": ["decision", "open_work", "constraint"]},
    text={"type": "string", "description": "The sentence, word for word."},
)
RESOLVE_OPEN_WORK = tool(
    "resolve_open_work",
    "Say that recorded work (id work-12) is done.",
    id={"type": "string"},
)
SUGGEST_PIN = tool(
    "suggest_pin",
    "Suggest to the user to keep something in the prompt for good, where all further work rests on it.",
    ref={"type": "string", "description": "turn 12, or the id of a concluded effort."},
    why={"type": "string"},
)
# Part of every request: a new word or another order makes providers read each prompt anew.
TOOLS: tuple[dict[str, Any], ...] = (
    OPEN_EFFORT,
    CLOSE_EFFORT,
    REOPEN_EFFORT,
    SWITCH_EFFORT,
    EXPAND_EFFORT,
    COLLAPSE_EFFORT,
    EFFORT_STATUS,
    SEARCH_EFFORTS,
    SEARCH_MESSAGES,
    READ_EFFORT,
    READ_MESSAGE,
    RECORD,
    RESOLVE_OPEN_WORK,
    SUGGEST_PIN,
)
# They change where efforts stand, or suggest to, and tell nothing that was said.
CONTROLS = frozenset(
    {
        "open_effort",
        "close_effort",
        "reopen_effort",
        "switch_effort",
        "collapse_effort",
        "suggest_pin",
        "resolve_open_work",
    }
)
# What they return was said elsewhere, and can be found again at any time.
FINDERS = frozenset(
    {"search_messages", "search_efforts", "read_message", "read_effort", "expand_effort", "effort_status"}
)
