"""The engine's own sentences. Their first lines are how it knows its earlier replies again."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from efforts.llm.builtin.quoting import Quote

SAID = "This was said in the conversation:"
IN_CODE = "This is in the attached code:"
OVERVIEW = "This is how your messages here begin:"
FOUND = "The search found this:"
TOOL_SAID = "This is what the tool returned:"
NOTED = "I have read it."
NOTHING = "Nothing in my prompt answers this."
NOTHING_FOUND = "The search of the earlier turns found nothing that answers this."
TOOL_FAILED = "That did not work."
HELLO = "Hello. I am the built-in engine of CCM Web, not a language model."
WELCOME = "You are welcome."
ABOUT = "I am the built-in engine of CCM Web, not a language model."

# What tools did stands above a reply, with the name of the effort; of most of them the engine knows only its id.
STARTED = "Started the effort {name}."
CONCLUDED = "Concluded the effort."
REOPENED = "Opened the effort again."
SWITCHED = "Switched to the effort."
EXPANDED = "Its log is open now."
COLLAPSED = "Put its log away; what stands for it is sent in its place."
EFFORTS = "These are the efforts here:"
IN_ORDER = "These are the efforts in the order in which they were begun:"
NO_EFFORTS = "There are no efforts here yet."
FOUND_EFFORTS = "The search found these efforts:"
LOG_SAYS = "Its log says:"
DONE = {
    "open_effort": STARTED,
    "close_effort": CONCLUDED,
    "reopen_effort": REOPENED,
    "switch_effort": SWITCHED,
    "expand_effort": EXPANDED,
    "collapse_effort": COLLAPSED,
}

# Old conversations are full of these: a sentence that is worded anew is taken for somebody's words, and quoted.
OPENINGS = (
    *(SAID, IN_CODE, OVERVIEW, FOUND, TOOL_SAID, NOTED, NOTHING, NOTHING_FOUND, TOOL_FAILED, HELLO, WELCOME, ABOUT),
    *(EFFORTS, IN_ORDER, NO_EFFORTS, FOUND_EFFORTS),
)
# What it said in earlier versions: it is still nobody's words.
FORMERLY = (
    "Started the effort {id}.",
    "Concluded the effort {id}.",
    "Opened the effort {id} again.",
    "Switched to the effort {id}.",
    "The log of {id} is open now.",
    "Put the log of {id} away. Its summary stays.",
    "Put its log away. Its summary stays.",
    "Noted.",
    "Suggested it as a pin. Nothing is pinned until you say so.",
    "Noted for the ledger. You say whether it stands.",
    "Said that {id} is done. You say whether it is.",
)
# These begin with what was done.
DEEDS = (*DONE.values(), *FORMERLY)
# An id has no space in it; a name ends with the line.
TAKES = {re.escape("{id}"): r"\S+", re.escape("{name}."): r"(?:(?!\. ).)+\.$"}
TAKEN = re.compile("|".join(map(re.escape, TAKES)))
DONE_LINE = re.compile("|".join(TAKEN.sub(lambda place: TAKES[place[0]], re.escape(line)) for line in DEEDS))

WHAT_WORKS = (
    "I can only quote what was said here. Ask about something from this conversation, in its own words, "
    "or connect a model in Settings."
)
ABILITIES = """I answer by quoting what was said in this conversation, with the turn it comes from.
I do not write anything new.

- Tell me facts, decisions or notes, then ask about them: *When is the release?*
- Begin a piece of work, and say when it is done: *Let's plan the offsite*, *The offsite is booked.*
- Write down a rule, a to-do or a decision: */rule*, */todo*, */decided*, and its words.
- Go back to one, or ask for its words: *Back to the offsite*, *Show me the details of the offsite.*
- Ask me to look further back: *Search our messages for the release date.*
- For real answers, connect a model in Settings. What you said here stays."""
NO_MODEL = f"I am not a language model. {WHAT_WORKS}"
LATER = "I can quote this when you ask about it."
NO_EDITS = "I cannot change code. Connect a model in Settings for that."
OWN_TEXTS = (*OPENINGS, LOG_SAYS, NO_MODEL, LATER, NO_EDITS, ABILITIES)
# The number of an effort, and what stands for those that are not listed.
PLACE = re.compile(r"^\d+\. ")
UNLISTED = re.compile(r"^\[(… [\d,]+ more)\..*\]$")
# Shorter pieces occur in anybody's text.
SHORTEST_PIECE = 16


def is_built_in(lines: Sequence[str]) -> bool:
    """Whether a reply is the engine's: the first line tells, also where Stop left only a part of it."""
    first = lines[0].rstrip() if lines else ""
    if first in OPENINGS or DONE_LINE.match(first):
        return True
    begun = (*OPENINGS, *(line.split("{")[0] for line in DEEDS))
    return len(lines) == 1 and len(first) > 1 and any(opening.startswith(first) for opening in begun)


def is_only_its_own(text: str) -> bool:
    """Whether a reply says nothing but the engine's own sentences and quotes of what stands elsewhere."""
    lines = text.splitlines()
    return is_built_in(lines) and all(
        line.startswith(">") or DONE_LINE.match(line) or any(line.strip() in own for own in OWN_TEXTS) for line in lines
    )


def is_own_line(line: str) -> bool:
    """Whether a line is a piece of the engine's sentences, as a search cuts them out."""
    piece = line.strip("… ")
    return len(piece) >= SHORTEST_PIECE and any(piece in text for text in OWN_TEXTS)


def quoting(opening: str, quotes: Sequence[Quote]) -> str:
    return "\n\n".join([opening, *(_quoted(quote) for quote in quotes)])


def noted(*, has_code: bool = False) -> str:
    """What was said may ask for a change of attached code."""
    return "\n\n".join([NOTED, LATER, *([NO_EDITS] if has_code else [])])


def done(tool: str, name: str) -> str:
    return DONE[tool].format(name=name)


def efforts(listed: object, *, found: bool = False) -> str:
    """Efforts as a tool lists them, a line each."""
    entries = [in_a_line(one) for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []
    return "\n".join([FOUND_EFFORTS if found else EFFORTS, "", *entries]) if entries else NO_EFFORTS


def in_order(lines: Sequence[str]) -> str:
    """Efforts as the prompt lists them."""
    entries = (UNLISTED.sub(r"\1", PLACE.sub("", line)) for line in lines)
    return "\n".join([IN_ORDER, "", *(f"- {entry}" for entry in entries)])


def in_a_line(effort: Mapping[str, Any]) -> str:
    state = ", ".join([str(effort.get("status", "")), *(mark for mark in ("active", "expanded") if effort.get(mark))])
    headline = effort.get("headline")
    return f"- {effort.get('id')}: {state}" + (f". {headline}" if headline else "")


def nothing(*, searched: bool) -> str:
    return f"{NOTHING_FOUND if searched else NOTHING}\n\n{NO_MODEL}"


def failed(error: str) -> str:
    return f"{TOOL_FAILED}\n\n{error}"


def hello() -> str:
    return f"{HELLO}\n\n{WHAT_WORKS}"


def about() -> str:
    return f"{ABOUT}\n\n{ABILITIES}"


def _quoted(quote: Quote) -> str:
    lines = "\n".join(f"> {line}".rstrip() for line in quote.text.splitlines())
    return f"{lines}\n>\n> — {quote.where}"
