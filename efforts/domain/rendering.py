"""From a recipe to the request: the one function that sends, previews, counts and replays a plan.

A recipe is JSON: a list of entries, each one of
  {"role": r, "parts": [part, ...]}                one message put together from parts
  {"turns": [first, last], "head": [part, ...], "marks": {mark: sha256}, "cuts": {message id: cut}}
                                                   finished turns in their own roles, `head` before the first text
  {"messages": [id, ...]}                          log messages as they are
where a part is {"f": sha256} (a fragment) or {"m": message id, "cut"?: cut}, and a cut is
{"head": characters, "tail": characters, "f": sha256 of the line that stands between}.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from .conversation import LogMessage, PastTurn
from .lifecycle import RunState

JOIN = "\n\n"
MARKS: dict[RunState, str] = {
    RunState.STOPPED: "[stopped here]",
    RunState.FAILED: "[no reply: this turn failed]",
    RunState.INTERRUPTED: "[no reply: this turn was interrupted]",
}

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
    if tools:
        request["tools"] = [sources_tool(sha, sources) for sha in tools]
    return request


def sources_tool(sha: str, sources: Sources) -> Any:
    import json

    return json.loads(sources.fragments[sha])


def render_messages(recipe: Recipe, sources: Sources) -> Iterator[dict[str, Any]]:
    for entry in recipe:
        if "parts" in entry:
            yield {"role": entry["role"], "content": join_parts(entry["parts"], sources)}
        elif "turns" in entry:
            yield from render_turns(entry, sources)
        else:
            yield from (chat_message(sources.messages[id]) for id in entry["messages"])


def render_turns(entry: dict[str, Any], sources: Sources) -> Iterator[dict[str, Any]]:
    head = join_parts(entry["head"], sources)
    first, last = entry["turns"]
    for number in range(first, last + 1):
        turn = sources.turns.get(number)
        if turn is None:  # a cancelled message left its number behind
            continue
        for message in render_turn(turn, entry, sources):
            if head:
                message["content"], head = head + "\n" + message["content"], ""
            yield message


def render_turn(turn: PastTurn, entry: dict[str, Any], sources: Sources) -> Iterator[dict[str, Any]]:
    rendered = []
    for message in turn.visible:
        cut = entry["cuts"].get(str(message.id))
        text = cut_text(message.text, cut, sources) if cut else message.text
        rendered.append(chat_message(message, text))
    mark = entry["marks"].get(turn.state)
    if mark:
        rendered[-1]["content"] = join_texts([rendered[-1]["content"], sources.fragments[mark]], "\n")
    yield from rendered


def chat_message(message: LogMessage, text: str | None = None) -> dict[str, Any]:
    content = message.text if text is None else text
    if message.role == "tool":
        return {"role": "tool", "tool_call_id": message.tool_call_id, "content": content}
    if not message.tool_calls:
        return {"role": message.role, "content": content}
    calls = [
        {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
        for call in message.tool_calls
    ]
    return {"role": message.role, "content": content, "tool_calls": calls}


def join_parts(parts: Iterable[dict[str, Any]], sources: Sources) -> str:
    return join_texts((part_text(part, sources) for part in parts), "\n")


def part_text(part: dict[str, Any], sources: Sources) -> str:
    if "f" in part:
        return sources.fragments[part["f"]]
    text = sources.messages[part["m"]].text
    return cut_text(text, part["cut"], sources) if "cut" in part else text


def cut_text(text: str, cut: dict[str, Any], sources: Sources) -> str:
    head, tail = text[: cut["head"]], text[len(text) - cut["tail"] :]
    return join_texts([head, sources.fragments[cut["f"]], tail], "\n")


def join_texts(texts: Iterable[str], by: str) -> str:
    return by.join(text for text in texts if text)


def join_neighbours(messages: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Strict chat templates want roles to alternate: plain neighbours of one role become one message."""
    held: dict[str, Any] | None = None
    for message in messages:
        if held and held["role"] == message["role"] != "tool" and "tool_calls" not in held:
            held = {**message, "content": join_texts([held["content"], message["content"]], JOIN)}
        else:
            if held:
                yield held
            held = message
    if held:
        yield held
