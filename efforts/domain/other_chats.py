"""Conversations out of ChatGPT and Claude, as both hand them out: one list in JSON of all that a person has there.

Of each comes what its page showed last. What was worded or answered anew, pictures, thinking, and what the program told
its model out of sight are passed over.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import groupby
from typing import Any
from unicodedata import category

from efforts.domain.effort.states import RunState
from efforts.domain.errors import Refused
from efforts.domain.exported import EMPTY, LONGEST_ID, Conversation, Part, SaidTurn, Timeline

# In an archive, where other files lie beside it; of a large account there are several, with numbers, as browsers number
# what is saved again.
FILE_OF_MANY = re.compile(r"(?:.*/)?conversations[\w.() -]*\.json", re.IGNORECASE)
BREAKS_OFF = "The file is no whole JSON: it was not saved to its end, or was changed. Download it again."
UNKNOWN = "This is a list in JSON, and not one of conversations that ChatGPT or Claude gave you."
# ChatGPT's marks in a text: sources, pictures, and things with a name and links, which alone say something here; then
# ends of what a source bears out. Its replies of before have sources in another form, in which what its browser read
# has links.
MARK = re.compile("\ue200(\\w++)\ue202?+([^\ue200\ue201]*+)\ue201|[\ue203\ue204]")
SOURCE = re.compile("【[\\d:]++†[^【】\\n]*+】")
# In Claude's replies of 2024 thinking and documents stand within the text.
THINKING, THOUGHT = "<antThinking>", "</antThinking>"
ARTIFACT, ATTRIBUTE = re.compile(r"<antArtifact\b([^<>]*)>\n?|\n?</antArtifact>"), re.compile(r'(\w+)="([^"]*)"')
# What no database takes, or only one of them.
UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
NO_TOOL_NAME = re.compile(r"[^A-Za-z0-9_-]+")
LONGEST_TOOL_NAME = 64
LONGEST_TITLE = 200
# A message of pictures alone, of which not even names have come along.
WORDLESS = "…"
OF_CHATGPT, OF_CLAUDE = "mapping", "chat_messages"
# In the texts of a file of ours no such mark stands bare.
ONE_OF_THEIRS = re.compile(f'"(?:{OF_CHATGPT}|{OF_CLAUDE})"\\s*+:')

# What is small in a file can be large in memory: lists with objects, and their parts. 64 MB of talk have 350,000 and
# 950,000.
MOST_LISTS, MOST_PARTS = 500_000, 1_500_000
TOO_MANY = "The file has more parts than can be read at once. Import less of it."

Values = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Said:
    """`role`: user, assistant or tool. An assistant's with a `tool` is a call, its text the arguments; of some the
    result is known at once."""

    role: str
    text: str
    at: datetime | None
    model: str = ""
    tool: str = ""
    result: str = ""


def listed(text: str, now: datetime) -> list[Values] | None:
    """The conversations of such a file, oldest first, as they are in it; one alone is a list of one. None for a file of
    another kind. `now`: for what has no time.

    Raises `Refused` for a list that breaks off, or is one of other things; and for what would take too much memory.
    """
    is_list = text.lstrip().startswith("[")
    if not is_list and not ONE_OF_THEIRS.search(text):
        return None
    if text.count("{") + text.count("[") > MOST_LISTS or text.count(",") > MOST_PARTS:
        raise Refused("too_many_parts", TOO_MANY)
    try:
        values = json.loads(text)
    except (ValueError, RecursionError) as error:
        if is_list:
            raise Refused("no_json", BREAKS_OFF) from error
        return None
    told = values if is_list else [values]
    if told and all(isinstance(one, dict) and (OF_CHATGPT in one or OF_CLAUDE in one) for one in told):
        return sorted(told, key=lambda one: began(one) or now)
    if is_list:
        raise Refused("no_export", UNKNOWN)
    return None


def source_of(values: Values) -> str:
    return "chatgpt" if OF_CHATGPT in values else "claude"


def title_of(values: Values) -> str:
    line = "".join(" " if category(c) == "Cc" else c for c in clean(values.get("title") or values.get("name")))
    return " ".join(line.split())[:LONGEST_TITLE]


def read_other(values: Values, now: datetime) -> Conversation:
    """`now`: for what has no time. Raises `Refused` where nobody said anything in it."""
    said = of_chatgpt(values) if OF_CHATGPT in values else of_claude(values)
    turns = turns_of(said, began(values) or now)
    if not turns:
        raise Refused("empty", EMPTY)
    id = str(values.get("conversation_id") or values.get("id") or values.get("uuid") or "")
    branch = Timeline(id="main", name="", owners={"main": None}, turns=turns)
    return Conversation(
        id=clean(id)[:LONGEST_ID],
        title=title_of(values),
        created_at=turns[0].at,
        branches=(branch,),
        entries=(),
        archived=values.get("is_archived") is True,
    )


def turns_of(said: Iterable[Said], since: datetime) -> list[SaidTurn]:
    """What comes before the person's first word answers nothing, and is left out. `since`: for what has no time."""
    asked: list[tuple[str, datetime, list[Said]]] = []
    at = since
    for one in said:
        at = one.at or at
        if one.role == "user":
            asked.append((one.text, at, []))
        elif asked:
            asked[-1][2].append(one)
    return [turn_of(number, *one) for number, one in enumerate(asked, 1)]


def turn_of(number: int, user: str, at: datetime, answers: Sequence[Said]) -> SaidTurn:
    return SaidTurn(
        number=number,
        at=at,
        effort="",
        state=RunState.COMPLETED if answers else RunState.STOPPED,
        user=user,
        model=next((one.model for one in reversed(answers) if one.model), ""),
        reply=parts_of(answers),
        error="",
    )


def parts_of(answers: Iterable[Said]) -> tuple[Part, ...]:
    """Results belong to the call before them; where that was out of sight, to one without a word."""
    parts: list[Part] = []
    for are_results, group in groupby(answers, lambda one: one.role == "tool"):
        told = list(group)
        if not are_results:
            parts += map(part_of, told)
            continue
        hidden = Part(tool=tool_name(told[0].tool), arguments="{}")
        call = parts.pop() if parts and parts[-1].tool else hidden
        parts.append(replace(call, result="\n\n".join(one.text for one in told if one.text)))
    return tuple(parts)


def part_of(one: Said) -> Part:
    return Part(tool=tool_name(one.tool), arguments=one.text, result=one.result) if one.tool else Part(text=one.text)


def tool_name(name: str) -> str:
    return NO_TOOL_NAME.sub("_", name)[:LONGEST_TOOL_NAME] or "tool"


def as_arguments(text: str) -> str:
    """An object in JSON, as calls have it: the text itself, or with the text in it."""
    try:
        if isinstance(json.loads(text), dict):
            return text
    except (ValueError, RecursionError):
        pass
    return json.dumps({"input": text}, ensure_ascii=False)


# ChatGPT: a tree, in which each edit and each new answer is a further child


def of_chatgpt(values: Values) -> Iterator[Said]:
    nodes = {str(key): node for key, node in dict_of(values, OF_CHATGPT).items() if isinstance(node, dict)}
    parents = {key: str(node.get("parent")) for key, node in nodes.items()}
    leaf = str(values.get("current_node"))
    for key in path(parents, leaf if leaf in nodes else next(reversed(nodes), "")):
        yield from said_in(dict_of(nodes[key], "message"))


def said_in(message: Values) -> Iterator[Said]:
    author, content, more = dict_of(message, "author"), dict_of(message, "content"), dict_of(message, "metadata")
    role, kind, recipient = author.get("role"), content.get("content_type"), message.get("recipient") or "all"
    if more.get("is_visually_hidden_from_conversation") or kind == "user_editable_context":
        return
    at, text = time_of(message.get("create_time")), text_of(content)
    if role == "user":
        yield Said(role="user", text=spoken(text, list_of(more, "attachments"), "name"), at=at)
    elif role == "tool":
        yield Said(role="tool", text=text, at=at, tool=clean(author.get("name")))
        yield from report_in(more)
    elif role == "assistant" and text.strip() and kind not in ("thoughts", "reasoning_recap"):
        model = clean(more.get("model_slug"))[:LONGEST_TITLE]
        if recipient == "all":
            yield Said(role="assistant", text=SOURCE.sub("", text), at=at, model=model)
        else:
            yield Said(role="assistant", text=as_arguments(text), at=at, model=model, tool=clean(recipient))


def report_in(more: Values) -> Iterator[Said]:
    """Of a research: the message that its tool showed, in JSON within what is known of the tool."""
    try:
        state = json.loads(dict_of(more, "chatgpt_sdk").get("widget_state") or "")
    except (ValueError, TypeError, RecursionError):
        return
    if isinstance(state, dict):
        yield from (one for one in said_in(dict_of(state, "report_message")) if one.role == "assistant")


def text_of(content: Values) -> str:
    parts = content.get("parts")
    if isinstance(parts, list):
        # Objects are pictures and recordings; of these there may be what was said.
        texts = [clean(part.get("text") if isinstance(part, dict) else part) for part in parts]
        return "\n".join(text for text in texts if text)
    return clean(content.get("text") or content.get("result") or content.get("output_str"))


# Claude: a list, in newer files with the message that each answers


def of_claude(values: Values) -> Iterator[Said]:
    told = [one for one in list_of(values, OF_CLAUDE) if isinstance(one, dict)]
    by_id = {str(one.get("uuid") or place): one for place, one in enumerate(told)}
    # What names no message answers the one before it.
    before = dict(zip(by_id, ["", *by_id], strict=False))
    parents = {key: str(one.get("parent_message_uuid") or before[key]) for key, one in by_id.items()}
    if any(parent in by_id for parent in parents.values()):
        told = [by_id[key] for key in path(parents, next(reversed(by_id)))]
    for message in told:
        at = time_of(message.get("created_at"))
        if message.get("sender") == "human":
            text = "\n".join(one.text for one in blocks_of(message, at) if one.role == "assistant" and not one.tool)
            files = [one for name in ("attachments", "files") for one in list_of(message, name)]
            yield Said(role="user", text=spoken(text, files, "file_name"), at=at)
        elif message.get("sender") == "assistant":
            yield from blocks_of(message, at)


def blocks_of(message: Values, at: datetime | None) -> Iterator[Said]:
    blocks = [one for one in list_of(message, "content") if isinstance(one, dict)]
    # Of calls made at once the results come as they are ready; where they name no call, each follows its own.
    results = {str(one.get("tool_use_id")): result_of(one) for one in blocks if one.get("tool_use_id")}
    called = {str(one.get("id")) for one in blocks if one.get("type") == "tool_use"}
    # The text beside the blocks has a note where a tool was used.
    for block in blocks or [{"type": "text", "text": message.get("text")}]:
        text = clean(block.get("text"))
        shown = unfolded(text) if message.get("sender") == "assistant" else text
        if block.get("type") == "text" and shown.strip():
            yield Said(role="assistant", text=shown, at=at)
        elif block.get("type") == "tool_use":
            given = as_arguments(clean(json.dumps(block.get("input"), ensure_ascii=False)))
            tool = clean(block.get("name")) or "tool"
            yield Said(role="assistant", text=given, at=at, tool=tool, result=results.get(str(block.get("id")), ""))
        elif block.get("type") == "tool_result" and str(block.get("tool_use_id") or "") not in called:
            yield Said(role="tool", text=result_of(block), at=at, tool=clean(block.get("name")))


def unfolded(text: str) -> str:
    shown, *pieces = text.split(THINKING)
    for piece in pieces:
        _, ended, after = piece.partition(THOUGHT)
        shown += after if ended else THINKING + piece
    return ARTIFACT.sub(fenced, shown)


def fenced(mark: re.Match[str]) -> str:
    if mark[1] is None:
        return "\n````\n"
    known = dict(ATTRIBUTE.findall(mark[1]))
    return f"\n\n**{known.get('title', '')}**\n\n````{known.get('language', '')}\n"


def result_of(block: Values) -> str:
    """Pages that were found have titles and addresses; of files that were made only the names have come along."""
    told = [one for one in list_of(block, "content") if isinstance(one, dict)] or [{"text": block.get("content")}]
    items = ("\n".join(filter(None, (clean(one.get(key)) for key in ("title", "name", "url", "text")))) for one in told)
    return "\n\n".join(filter(None, items))


def path(parents: Mapping[str, str], leaf: str) -> list[str]:
    """From the root to the leaf."""
    seen: dict[str, None] = {}
    while leaf in parents and leaf not in seen:
        seen[leaf] = None
        leaf = parents[leaf]
    return list(seen)[::-1]


def spoken(text: str, files: Iterable[Any], name: str) -> str:
    """With the text of the files that came with it; without a word their names."""
    known = [one for one in files if isinstance(one, dict)]
    names, insides = ([clean(one.get(key)) for one in known] for key in (name, "extracted_content"))
    # What was pasted has no name.
    read = [f"{title}:\n{inside}" if title else inside for title, inside in zip(names, insides, strict=True) if inside]
    whole = "\n\n".join(one for one in (text, *read) if one.strip())
    return whole or ", ".join(filter(None, names)) or WORDLESS


def clean(value: object) -> str:
    """Text that can be stored and shown, without what no database takes; of anything else none."""
    if not isinstance(value, str):
        return ""
    return UNSTORABLE.sub("", MARK.sub(named, value))


def named(mark: re.Match[str]) -> str:
    if mark[1] == "url":
        label, _, address = mark[2].partition("\ue202")
        return f"[{label}]({address})" if address.startswith(("https://", "http://")) else label
    if mark[1] != "entity":
        return ""
    try:
        return str(json.loads(mark[2])[1])
    except (ValueError, LookupError, TypeError, RecursionError):
        return ""


def began(values: Values) -> datetime | None:
    return time_of(values.get("create_time")) or time_of(values.get("created_at"))


def time_of(value: object) -> datetime | None:
    """Of seconds since 1970, or of a text as ISO 8601 has it."""
    try:
        if isinstance(value, str):
            read = datetime.fromisoformat(value)
            at = read if read.tzinfo else read.replace(tzinfo=UTC)
        elif isinstance(value, int | float):
            at = datetime.fromtimestamp(value, UTC)
        else:
            return None
    except (ValueError, OverflowError, OSError):
        return None
    return at if 1970 <= at.year < 9000 else None


def dict_of(values: Values, key: str) -> dict[str, Any]:
    value = values.get(key)
    return value if isinstance(value, dict) else {}


def list_of(values: Values, key: str) -> list[Any]:
    value = values.get(key)
    return value if isinstance(value, list) else []
