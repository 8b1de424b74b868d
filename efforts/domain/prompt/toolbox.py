"""The tools a model is offered, as the request carries them; `tools/__init__.py` has the functions behind them."""

from __future__ import annotations

from typing import Any


def tool(name: str, description: str, /, **parameters: dict[str, Any]) -> dict[str, Any]:
    """A function schema; parameters with a default are optional. That there are no others is said where a call has
    one (`tools/__init__.py`): in each schema it would be part of every prompt."""
    required = [key for key, value in parameters.items() if "default" not in value]
    schema = {"type": "object", "properties": parameters, **({"required": required} if required else {})}
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
    "Conclude an effort when the user says that it is solved, works now, is answered or no longer needed, or asks to "
    "close it. Pausing, waiting, switching topic or starting something new ends nothing by itself.",
    id={"type": "string", "description": "Its id.", "default": ""},
    said={
        "type": "string",
        "description": "The user's own words in this message that end it, copied letter by letter.",
        "default": "",
    },
)
REOPEN_EFFORT = tool(
    "reopen_effort",
    "Make a concluded effort open and active, when the user goes on working on it.",
    id=EFFORT,
)
SWITCH_EFFORT = tool("switch_effort", "Go on with another open effort that the user comes back to.", id=EFFORT)
EXPAND_EFFORT = tool(
    "expand_effort",
    "Show the log of a concluded effort, or of noted turns (id turns-3-9), instead of its note, when the user asks "
    "for details that the note lacks.",
    id=EFFORT,
    what={"type": "string", "enum": ["raw", "body"], "description": "body: a longer note.", "default": "raw"},
)
COLLAPSE_EFFORT = tool(
    "collapse_effort",
    "Show the note instead of the log again, when the details are no longer needed.",
    id=EFFORT,
)
EFFORT_STATUS = tool("effort_status", "List efforts and open work with state and tokens, when the user asks for them.")
SEARCH_EFFORTS = tool("search_efforts", "Find the effort in which something was done.", query=WORDS)
SEARCH_MESSAGES = tool(
    "search_messages",
    "Find what was said in turns not shown, by words and meaning, or what is like a turn.",
    query={"type": "string", "default": ""},
    like_turn={"type": "integer", "default": 0},
    effort={"type": "string", "default": ""},
    speaker={"type": "string", "enum": ["", "user", "assistant"], "default": ""},
    since={"type": "string", "description": "2026-03-05", "default": ""},
    until={"type": "string", "default": ""},
    page={"type": "integer", "default": 1},
)
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
    "Keep what the user decided, what is still to be done, or a rule (constraint) for all the work ahead.",
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
    "Suggest to the user to keep something in the prompt for good.",
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
    {
        *("search_messages", "search_efforts", "read_message", "read_effort", "expand_effort", "effort_status"),
        # Of attached code.
        *("search_code", "look_up", "who_calls", "read_span", "list_folder"),
    }
)
