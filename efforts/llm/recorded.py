"""Replies that were recorded, by what was asked: the example is made with them, so that it needs no model."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from efforts.domain.prompt.rendering import count_request
from efforts.domain.text.canonical import canonical_json, sha256
from efforts.llm.protocol import ModelError, RawToolCall, ReportedUsage, StreamEnd, TextDelta
from efforts.llm.tokens import TokenCounter

RECORDED_MODEL = "recorded-example"
REPLIES = Path(__file__).with_name("recorded.json")
# What of a request is another on another day, or where tokens are counted otherwise.
PASSING = re.compile(r" · \d{4}-\d\d-\d\d$|at most [\d,]+ tokens", re.MULTILINE)
NOT_RECORDED = "This request is none of the example's, whose replies were recorded."


@cache
def replies() -> Mapping[str, str]:
    found: dict[str, str] = json.loads(REPLIES.read_text())
    return found


def key_of(request: Mapping[str, Any]) -> str:
    """Of the words that are asked alone."""
    return sha256(canonical_json([PASSING.sub("", str(message["content"])) for message in request["messages"]]))


class RecordedChat:
    """Finds a reply by its request."""

    def __init__(self, counter: TokenCounter) -> None:
        self.counter = counter

    async def stream(self, request: Mapping[str, Any]) -> AsyncIterator[TextDelta | StreamEnd]:
        """Raises `ModelError` where nothing was recorded."""
        for part in spoken(request, self.answer(request), (), self.counter):
            yield part

    def answer(self, request: Mapping[str, Any]) -> str:
        if (text := replies().get(key_of(request))) is None:
            raise ModelError("refused", NOT_RECORDED)
        return text


class ScriptedChat:
    """Calls the tools of a script, one in each request, and answers in the last."""

    def __init__(self, calls: Sequence[tuple[str, Mapping[str, Any]]], reply: str, counter: TokenCounter) -> None:
        self.calls = list(calls)
        self.reply = reply
        self.counter = counter

    async def stream(self, request: Mapping[str, Any]) -> AsyncIterator[TextDelta | StreamEnd]:
        calls: tuple[RawToolCall, ...] = ()
        if self.calls:
            name, arguments = self.calls.pop(0)
            calls = (RawToolCall(id=name, name=name, arguments=json.dumps(arguments, ensure_ascii=False)),)
        for part in spoken(request, "" if calls else self.reply, calls, self.counter):
            yield part


def spoken(
    request: Mapping[str, Any], text: str, calls: tuple[RawToolCall, ...], counter: TokenCounter
) -> list[TextDelta | StreamEnd]:
    written = counter.count(text) + sum(counter.count(call.arguments) for call in calls)
    usage = ReportedUsage(
        prompt_tokens=count_request(request, counter.count), completion_tokens=written, cached_tokens=None
    )
    end = StreamEnd(tool_calls=calls, finish_reason="tool_calls" if calls else "stop", usage=usage)
    return [TextDelta(text), end] if text else [end]
