"""What the model did with a tool, in a line of words."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from efforts.domain.text.canonical import json_object

LONGEST = 80


@dataclass(frozen=True)
class Phrase:
    """`past`: of a call that was done; `infinitive`: of one that failed, or that nothing answers yet. What stands in
    braces is taken from the result of the call and then from its arguments. `found`: where its finds are listed."""

    past: str
    infinitive: str
    found: str = ""


PHRASES = {
    "open_effort": Phrase("Opened the effort {name}", "open the effort {name}"),
    "close_effort": Phrase("Concluded the effort {concluded}", "conclude the effort {id}"),
    "reopen_effort": Phrase("Reopened the effort {id}", "reopen the effort {id}"),
    "switch_effort": Phrase("Switched to the effort {id}", "switch to the effort {id}"),
    "expand_effort": Phrase("Expanded {id}", "expand {id}"),
    "collapse_effort": Phrase("Collapsed {id}", "collapse {id}"),
    "effort_status": Phrase("Listed the efforts", "list the efforts"),
    "search_efforts": Phrase("Searched efforts for “{query}”", "search efforts for “{query}”", "matches"),
    "search_messages": Phrase("Searched messages for “{query}”", "search messages for “{query}”", "matches"),
    "read_effort": Phrase("Read the effort {id}", "read the effort {id}"),
    "read_message": Phrase("Read message {id}", "read message {id}"),
    "record": Phrase("Wrote down: “{text}”", "write down: “{text}”"),
    "resolve_open_work": Phrase("Marked the to-do {id} as done", "mark the to-do {id} as done"),
    "suggest_pin": Phrase("Suggested a pin: {ref}", "suggest a pin: {ref}"),
    "search_code": Phrase("Searched the code for “{query}”", "search the code for “{query}”", "matches"),
    "look_up": Phrase("Looked up {name}", "look up {name}", "matches"),
    "who_calls": Phrase("Looked for callers of {name}", "look for callers of {name}", "callers"),
    "read_span": Phrase("Read {path}, lines {lines}", "read {path}"),
    "propose_edit": Phrase("Proposed an edit of {path}", "propose an edit of {path}"),
    "run_command": Phrase("Proposed to run {line}", "propose to run {name}"),
    "list_folder": Phrase("Listed the folder {path}", "list the folder {path}"),
}
ALREADY_OPEN = Phrase("Switched to the effort {name}", "")
# Of a tool that has none; its braces name what no call has.
UNKNOWN = Phrase("{ }", "{ }")
# By what a phrase names an effort, of the tools that take or give its id.
OF_EFFORTS = ("id", "concluded")
PROPOSED = Phrase("Proposed to write down: “{text}”", "")
WAITING_FOR_A_YES = {"proposed", "suggested"}


def words_of(tool: str, arguments: str, result: str, *, failed: bool, names: Mapping[str, str] | None = None) -> str:
    """Of a call as it was stored, both texts being JSON. A tool without a phrase, or a call that lacks what its phrase
    names, is told by the tool's name. `names`: of efforts, by their ids."""
    asked, answered = json_object(arguments), json_object(result)
    done = bool(result) and not failed
    phrase = _phrase(tool, answered)
    # A folder without a path is the topmost.
    values = {"path": "/"} | _shown({**asked, **answered} if done else asked)
    if names and tool.endswith("_effort"):
        values |= {one: names[values[one]] for one in OF_EFFORTS if values.get(one) in names}
    try:
        words = (phrase.past if done else phrase.infinitive).format_map(values)
    except KeyError:
        words = f"{'Used' if done else 'use'} {tool}"
    if not done:
        return f"Could not {words}" if failed else f"Asked to {words}"
    found = answered.get(phrase.found)
    return f"{words}: {len(found)} found" if isinstance(found, list) else words


def readable(arguments: str) -> str:
    """Texts of several lines stand below the rest as lines: in JSON nobody can read them."""
    asked = json_object(arguments)
    texts = {name: value for name, value in asked.items() if isinstance(value, str) and "\n" in value}
    if not texts:
        return arguments
    rest = {name: value for name, value in asked.items() if name not in texts}
    shown = [json.dumps(rest, ensure_ascii=False, separators=(",", ":"))] if rest else []
    return "\n\n".join([*shown, *(f"{name}:\n{text}" for name, text in texts.items())])


def _phrase(tool: str, answered: dict[str, Any]) -> Phrase:
    if tool == "open_effort" and "already_open" in answered:
        return ALREADY_OPEN
    if tool == "record" and answered.get("state") in WAITING_FOR_A_YES:
        return PROPOSED
    return PHRASES.get(tool, UNKNOWN)


def _shown(values: dict[str, Any]) -> dict[str, str]:
    """What can stand in a line; what is empty is not there."""
    lines = {name: " ".join(str(value).split()) for name, value in values.items() if isinstance(value, str | int)}
    return {name: line if len(line) <= LONGEST else f"{line[:LONGEST]}…" for name, line in lines.items() if line}
