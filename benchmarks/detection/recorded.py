"""Replies of a model to a person's messages, as they were given elsewhere: text and calls of tools.

A reply is found by the hash of the request, its tools included. Requests are exported without what is expected.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from unittest import mock

from pydantic import Field

from benchmarks.gates.pending import said_by
from benchmarks.gates.record import Record, RecordServer, listening, streamed
from compaction.domain.artifact import Strict, parsed
from efforts.domain.text.canonical import canonical_json, sha256

# Prompts tell the date: one that does not pass, or no request would be asked twice.
NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
# What a prompt tells of a clock that nothing has stopped: the day, and how long a command took.
DAY, TOOK = re.compile(r"(?<=Today is )\d{4}-\d\d-\d\d"), re.compile(r"(?<=` \()\d+ s(?=\): )")
FORM = """Answer as the assistant would, with one JSON object:

{"text": "...", "calls": [{"name": "...", "arguments": {}}]}

`text` is what is said to the user (it may be empty where tools are called); `calls` the tools that are called, in
order, [] for none. Where tools are called, their results come in a later request, and the reply goes on from there."""


class Call(Strict):
    name: str
    arguments: dict[str, Any] = Field(default_factory=dict)


class Reply(Strict):
    text: str = ""
    calls: tuple[Call, ...] = ()


@dataclass(kw_only=True)
class ChatServer(RecordServer):
    """`waiting`: by their keys the requests that no reply is recorded for."""

    waiting: dict[str, Mapping[str, Any]] = field(default_factory=dict)

    def stream(self, asked: Mapping[str, Any]) -> str | None:
        """Raises `Malformed` where what is recorded is no reply."""
        key = key_of(asked)
        if key not in self.record.answers:
            self.waiting[key] = asked
            return None
        self.used.add(key)
        answer = self.record.answers[key].answer
        reply = parsed(Reply, answer)
        calls = [
            {
                "index": number,
                "id": f"call-{key[:8]}-{number}",
                "type": "function",
                "function": {"name": call.name, "arguments": json.dumps(call.arguments, ensure_ascii=False)},
            }
            for number, call in enumerate(reply.calls)
        ]
        delta = {"content": reply.text, **({"tool_calls": calls} if calls else {})}
        return streamed(asked["messages"], answer, delta, "tool_calls" if calls else "stop")


@contextmanager
def chat_server(record: Record) -> Iterator[ChatServer]:
    with listening(ChatServer(record=record)) as serving, mock.patch("django.utils.timezone.now", return_value=NOON):
        yield serving


def key_of(asked: Mapping[str, Any]) -> str:
    """Of all that is said, whenever. Calls have other ids in each run; their order says which result is whose."""
    said = [
        {
            "role": message["role"],
            "content": at_any_time(message.get("content")),
            "calls": [call["function"] for call in message.get("tool_calls", ())],
        }
        for message in asked["messages"]
    ]
    return sha256(canonical_json({"messages": said, "tools": asked.get("tools", [])}))


def at_any_time(content: str | None) -> str | None:
    """Said on the day of which the recorded prompts are."""
    return content and TOOK.sub("0 s", DAY.sub(str(NOON.date()), content))


def export(waiting: Mapping[str, Mapping[str, Any]], folder: Path) -> None:
    """A file for each request, and one for each system text with its tools, which many share."""
    folder.mkdir(parents=True, exist_ok=True)
    shared: dict[str, str] = {}
    for key, asked in sorted(waiting.items()):
        system, *messages = asked["messages"]
        head = "\n\n".join([FORM, said_by("system", system["content"]), said_by("tools", told(asked.get("tools", [])))])
        name = shared.setdefault(head, f"instructions-{sha256(head)[:8]}.txt")
        (folder / name).write_text(head, encoding="utf-8")
        lines = [f"System text, tools and form of the answer: {name}", *(shown(message) for message in messages)]
        (folder / f"{key}.md").write_text("\n\n".join(lines) + "\n", encoding="utf-8")


def shown(message: Mapping[str, Any]) -> str:
    calls = [call["function"] for call in message.get("tool_calls", ())]
    return said_by(message["role"], "\n".join(filter(None, [message.get("content"), told(calls)])))


def told(entries: Sequence[Mapping[str, Any]]) -> str:
    return "\n".join(json.dumps(entry, ensure_ascii=False) for entry in entries)
