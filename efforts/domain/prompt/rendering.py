"""From a recipe to the request: the one function that sends, previews, counts and replays a plan.

A recipe is JSON: a list of entries, each one of
  {"role": r, "parts": [part, ...]}                one message put together from parts
  {"turns": [first, last], "labels": {number: [part, ...]}, "marks": {mark: sha256}, "cuts": {message id: cut},
   "left"?: {number: {"ids": [message id], "f": sha256}}, "recalled"?: {number: part}, "number"?: sha256 of the mark of
   a turn that no label stands before, "escaped"?: [message id], "pictures"?: [message id of those shown]}
                                                   finished turns in their own roles, a label before a turn's text; of
                                                   messages that are left out a line after the user's; before it
                                                   what was recalled for the turn
  {"messages": [id, ...]}                          log messages as they are
  {"files": [{"m": message id, "cut"?: cut, "escaped"?: true, "picture"?: true}, ...]}
                                                   files of the current message
where a part is {"f": sha256} (a fragment), {"l": sha256} (a fragment that lists others, a line each),
{"r": sha256} (a fragment that lists lines and parts of messages) or
{"m": message id, "span"?: [start, end], "cut"?: cut, "quote"?: mark before each of its lines, "escaped"?: true}, and a
cut is
{"head": characters, "tail": characters, "f": sha256 of the line that stands between}.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from efforts.domain.effort.states import RunState
from efforts.domain.prompt import pictures
from efforts.domain.prompt.conversation import MESSAGE_OVERHEAD, OF_PERSON, PRIMING, LogMessage, PastTurn, ToolCall
from efforts.domain.text.canonical import canonical_json

JOIN = "\n\n"
MARKS = {
    "stopped": "[stopped here]",
    "unanswered": "[no reply: this turn was stopped]",
    "failed": "[no reply: this turn failed]",
    "interrupted": "[no reply: this turn was interrupted]",
    "noted": "[noted: no reply was asked for]",
    "cut_off": "[cut off at the reply limit]",
}

# Lines that a person wrote and a model could take for the program's. Plans name this rule as "escaped" and are rendered
# by it for ever: a new rule needs another name.
LIKE_OURS = re.compile(
    r"^(?=[ \t]*\[(?:Conversation|Effort|Turns?|Notes|End of notes|no reply|stopped here|cut off|noted|…))",
    re.IGNORECASE | re.MULTILINE,
)

Recipe = list[dict[str, Any]]


@dataclass(frozen=True, kw_only=True)
class Sources:
    """What a recipe refers to."""

    fragments: Mapping[str, str]
    messages: Mapping[int, LogMessage]
    turns: Mapping[int, PastTurn]


def render(recipe: Recipe, params: Mapping[str, Any], sources: Sources) -> dict[str, Any]:
    """The complete request body. Raises KeyError when a source is missing."""
    request = dict(params)
    tools = request.pop("tools", None)
    request["messages"] = list(join_neighbours(render_messages(recipe, sources)))
    # Some providers refuse an empty list of tools.
    if tools:
        request["tools"] = schemas(tools, sources.fragments)
    return request


def schemas(tools: str | list[str], fragments: Mapping[str, str]) -> list[Any]:
    """All schemas are one fragment; in plans before version 4 of the planner each was one."""
    if isinstance(tools, str):
        found: list[Any] = json.loads(fragments[tools])
        return found
    return [json.loads(fragments[sha]) for sha in tools]


def named_messages(recipe: Recipe, fragments: Mapping[str, str]) -> set[int]:
    """Ids of the messages that a recipe names by themselves, beside those of its turns."""
    parts = [part for entry in recipe for part in (*entry.get("parts", ()), *entry.get("recalled", {}).values())]
    listed = (line for part in parts if "r" in part for line in json.loads(fragments[part["r"]]))
    files = (part for entry in recipe for part in entry.get("files", ()))
    named = (part for part in (*parts, *listed, *files) if isinstance(part, dict) and "m" in part)
    return {part["m"] for part in named} | {id for entry in recipe for id in entry.get("messages", ())}


def render_messages(recipe: Recipe, sources: Sources) -> Iterator[dict[str, Any]]:
    """The messages of a request, as the API takes them."""
    for entry in recipe:
        if "parts" in entry:
            yield {"role": entry["role"], "content": join_parts(entry["parts"], sources)}
        elif "turns" in entry:
            yield from render_turns(entry, sources)
        elif "files" in entry:
            for part in entry["files"]:
                message = sources.messages[part["m"]]
                yield chat_message(message, part_text(part, sources), picture="picture" in part)
        else:
            messages = [sources.messages[id] for id in entry["messages"]]
            yield from joined_replies((message, chat_message(message)) for message in messages)


def render_turns(entry: dict[str, Any], sources: Sources) -> Iterator[dict[str, Any]]:
    first, last = entry["turns"]
    for number in range(first, last + 1):
        # A cancelled message leaves its number behind, and nothing else.
        if turn := sources.turns.get(number):
            yield from render_turn(turn, entry, sources)


def render_turn(turn: PastTurn, entry: dict[str, Any], sources: Sources) -> Iterator[dict[str, Any]]:
    shown: list[tuple[LogMessage, dict[str, Any]]] = []
    left = entry.get("left", {}).get(str(turn.number))
    for message in turn.visible:
        if left and message.id in left["ids"]:
            continue
        # Keys are text: a stored recipe has been through JSON, where all keys are.
        cut = entry["cuts"].get(str(message.id))
        text = cut_text(message.text, cut, sources.fragments) if cut else message.text
        text = escaped(text) if message.id in entry.get("escaped", ()) else text
        picture = message.id in entry.get("pictures", ())
        shown.append((message, chat_message(message, text, picture=picture)))
    rendered = list(joined_replies(shown))
    label = join_parts(entry["labels"].get(str(turn.number), []), sources)
    if not label and "number" in entry:
        label = sources.fragments[entry["number"]].format(number=turn.number)
    after = sources.fragments[left["f"]] if left else ""
    rendered[0]["content"] = join_texts([rendered[0]["content"], after], "\n")
    if recalled := entry.get("recalled", {}).get(str(turn.number)):
        # A message of its own, as in the turn it was recalled for: the same bytes, whatever stands beside it.
        rendered.insert(0, {"role": "user", "content": part_text(recalled, sources)})
    # A turn begins with a message of the user's side, so that a label needs none of its own.
    rendered[0]["content"] = join_texts([label, rendered[0]["content"]], "\n")
    mark = mark_of(turn)
    if mark:
        rendered += marked(rendered.pop(), sources.fragments[entry["marks"][mark]])
    yield from rendered


def joined_replies(shown: Iterable[tuple[LogMessage, dict[str, Any]]]) -> Iterator[dict[str, Any]]:
    """A reply that went on where it was cut off is one message: the cut may be in the middle of a word."""
    held: dict[str, Any] | None = None
    for message, rendered in shown:
        if held and message.continues and held["role"] == rendered["role"] and "tool_calls" not in held:
            held = {**rendered, "content": held["content"] + rendered["content"]}
            continue
        if held:
            yield held
        held = rendered
    if held:
        yield held


def marked(last: dict[str, Any], mark: str) -> list[dict[str, Any]]:
    """The last message of a turn with its mark; after a tool's result the mark is what the assistant says."""
    if last["role"] == "tool":
        return [last, {"role": "assistant", "content": mark}]
    return [{**last, "content": join_contents(last["content"], mark, "\n")}]


def mark_of(turn: PastTurn) -> str | None:
    """How a turn that did not complete is marked in later prompts."""
    # Stopped before the first word: under the user's message "[stopped here]" would say that it broke off.
    if turn.state == RunState.STOPPED and len(turn.visible) == len(turn.asked):
        return "unanswered"
    if turn.cut_off:
        return "cut_off"
    return str(turn.state) if turn.state in MARKS else None


def chat_message(message: LogMessage, text: str | None = None, *, picture: bool = False) -> dict[str, Any]:
    """A message as the API takes it; `text` replaces its own. `picture`: with the picture that it is of."""
    content = message.text if text is None else text
    if message.role == "tool":
        return {"role": "tool", "tool_call_id": message.tool_call_id, "content": content}
    if message.role == "file":
        parts = [pictures.text_part(content), pictures.content_part(message.picture)] if picture else content
        return {"role": "user", "content": parts}
    if not message.tool_calls:
        return {"role": message.role, "content": content}
    return {"role": message.role, "content": content, "tool_calls": wire_calls(message.tool_calls)}


def wire_calls(calls: Iterable[ToolCall]) -> list[dict[str, Any]]:
    """Calls of tools as the API takes them."""
    return [
        {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
        for call in calls
    ]


def count_request(request: Mapping[str, Any], count: Callable[[str], int]) -> int:
    """Tokens of the rendered request with schemas and overhead: the count that is held against the budget."""
    messages = sum(count_chat_message(message, count) + MESSAGE_OVERHEAD for message in request["messages"])
    tools = count(canonical_json(request["tools"])) if "tools" in request else 0
    return PRIMING + messages + tools


def count_chat_message(message: Mapping[str, Any], count: Callable[[str], int]) -> int:
    """Tokens of one rendered message without overhead: what a log message stores, what a request sums."""
    calls = message.get("tool_calls")
    return count_content(message["content"], count) + (count(canonical_json(calls)) if calls else 0)


def count_content(content: str | list[dict[str, Any]], count: Callable[[str], int]) -> int:
    if isinstance(content, str):
        return count(content)
    seen = sum(pictures.tokens_of(picture) for part in content if (picture := pictures.picture_in(part)))
    return seen + sum(count(part["text"]) for part in content if part["type"] == "text")


def join_parts(parts: Iterable[dict[str, Any]], sources: Sources) -> str:
    """The text of one message of the request."""
    return join_texts((part_text(part, sources) for part in parts), "\n")


def part_text(part: dict[str, Any], sources: Sources) -> str:
    if "f" in part:
        return sources.fragments[part["f"]]
    if "l" in part:
        listed = json.loads(sources.fragments[part["l"]])
        return join_texts((sources.fragments[sha] for sha in listed), "\n")
    if "r" in part:
        return listed_text(json.loads(sources.fragments[part["r"]]), sources)
    text = sources.messages[part["m"]].text
    if "span" in part:
        text = text[slice(*part["span"])]
    if "cut" in part:
        text = cut_text(text, part["cut"], sources.fragments)
    text = escaped(text) if "escaped" in part else text
    return quoted(text, part["quote"]) if "quote" in part else text


def listed_text(lines: Iterable[str | dict[str, Any]], sources: Sources) -> str:
    """Lines and parts as one text."""
    return join_texts((line if isinstance(line, str) else part_text(line, sources) for line in lines), "\n")


def needs_escape(message: LogMessage) -> bool:
    """Whether a line that the person wrote, or of a file of theirs, looks like one of the program's."""
    return message.role in OF_PERSON and LIKE_OURS.search(message.text) is not None


def escaped(text: str) -> str:
    """Such lines behind a backslash."""
    return LIKE_OURS.sub(r"\\", text)


def quoted(text: str, mark: str) -> str:
    """Each line behind `mark`."""
    # Not splitlines(), which takes form feeds and other rare characters out of the text.
    return "\n".join(mark + line for line in text.split("\n"))


def cut_text(text: str, cut: Mapping[str, Any], fragments: Mapping[str, str]) -> str:
    """Head and tail of a text, with the line between them that says what is left out."""
    # Not text[-tail:], which is the whole text where the tail is 0.
    head, tail = text[: cut["head"]], text[len(text) - cut["tail"] :]
    return join_texts([head, fragments[cut["f"]], tail], "\n")


def join_texts(texts: Iterable[str], by: str) -> str:
    return by.join(text for text in texts if text)


def content_parts(content: str | list[dict[str, Any]]) -> list[dict[str, Any]]:
    if isinstance(content, str):
        return [pictures.text_part(content)] if content else []
    return list(content)


def join_contents(first: str | list[dict[str, Any]], second: str | list[dict[str, Any]], by: str) -> Any:
    """As texts are joined; beside pictures texts are parts, and neighbours among these are one."""
    if isinstance(first, str) and isinstance(second, str):
        return join_texts([first, second], by)
    begin, end = content_parts(first), content_parts(second)
    if begin and end and begin[-1]["type"] == end[0]["type"] == "text":
        middle = pictures.text_part(join_texts([begin.pop()["text"], end.pop(0)["text"]], by))
        return [*begin, middle, *end]
    return [*begin, *end]


def join_neighbours(messages: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Strict chat templates want roles to alternate: plain neighbours of one role become one message."""
    held: dict[str, Any] | None = None
    for message in messages:
        # A tool's result answers one call, and nothing may come between a call and its results: these stay apart.
        if held and held["role"] == message["role"] != "tool" and "tool_calls" not in held:
            held = {**message, "content": join_contents(held["content"], message["content"], JOIN)}
        else:
            if held:
                yield held
            held = message
    if held:
        yield held
