"""Gives the engine to the client as its HTTP transport: same requests, same server-sent events, no port."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Any

import httpx2

from efforts.domain.prompt.rendering import count_request
from efforts.llm.builtin.engine import EngineReply, answer, fingerprint
from efforts.llm.tokens import TokenCounter

BUILTIN_MODEL = "builtin"

# With the space before it, so that the pieces put together are the text again, byte by byte.
PIECE = re.compile(r"\s*\S+|\s+$")


class BuiltinTransport(httpx2.AsyncBaseTransport):
    """`pace_seconds` passes between two chunks, so that a reply can be watched, and stopped."""

    def __init__(self, counter: TokenCounter, *, pace_seconds: float = 0.0) -> None:
        self._counter = counter
        self._pace_seconds = pace_seconds

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        path = request.url.path
        if path.endswith("/models"):
            return httpx2.Response(200, json={"object": "list", "data": [{"id": BUILTIN_MODEL, "object": "model"}]})
        if not path.endswith("/chat/completions"):
            return httpx2.Response(404, json={"error": {"message": f"The built-in engine has no {path}."}})
        body = json.loads(await request.aread())
        # Ranking a large prompt takes long enough to be felt by everyone else on the event loop.
        events = await asyncio.to_thread(self._events, body)
        headers = {"content-type": "text/event-stream"}
        return httpx2.Response(200, headers=headers, stream=_PacedStream(events, self._pace_seconds))

    def _events(self, request: Mapping[str, Any]) -> list[bytes]:
        reply = answer(request)
        pieces, finish_reason = self._within(reply, request.get("max_tokens"))
        deltas = [{"content": piece} for piece in pieces] + list(_call_deltas(reply))
        choices = [_choice({"role": "assistant", "content": ""}), *(_choice(delta) for delta in deltas)]
        chunks: list[dict[str, Any]] = [{"choices": [choice]} for choice in [*choices, _choice({}, finish_reason)]]
        if (request.get("stream_options") or {}).get("include_usage"):
            chunks.append({"choices": [], "usage": self._usage(request, "".join(pieces), reply)})
        # No clock and no chance: the same request gives the same bytes.
        head = {"id": f"chatcmpl-{fingerprint(request)[:24]}", "object": "chat.completion.chunk", "created": 0}
        return [*(_event({**head, "model": request["model"], **chunk}) for chunk in chunks), b"data: [DONE]\n\n"]

    def _within(self, reply: EngineReply, max_tokens: int | None) -> tuple[list[str], str]:
        """The pieces of the reply that `max_tokens` leaves room for, and how it ends."""
        pieces = PIECE.findall(reply.text)
        if max_tokens is not None and self._counter.count(reply.text) > max_tokens:
            while pieces and self._counter.count("".join(pieces)) > max_tokens:
                pieces.pop()
            return pieces, "length"
        return pieces, "tool_calls" if reply.tool_calls else "stop"

    def _usage(self, request: Mapping[str, Any], text: str, reply: EngineReply) -> dict[str, Any]:
        prompt = count_request(request, self._counter.count)
        written = self._counter.count(text) + sum(self._counter.count(call.arguments) for call in reply.tool_calls)
        return {
            "prompt_tokens": prompt,
            "completion_tokens": written,
            "total_tokens": prompt + written,
            "prompt_tokens_details": {"cached_tokens": 0},
        }


class _PacedStream(httpx2.AsyncByteStream):
    def __init__(self, events: list[bytes], pace_seconds: float) -> None:
        self._events = events
        self._pace_seconds = pace_seconds

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for number, event in enumerate(self._events):
            if number and self._pace_seconds:
                await asyncio.sleep(self._pace_seconds)
            yield event


def _choice(delta: Mapping[str, Any], finish_reason: str | None = None) -> dict[str, Any]:
    return {"index": 0, "delta": delta, "finish_reason": finish_reason}


def _call_deltas(reply: EngineReply) -> Iterator[dict[str, Any]]:
    for index, call in enumerate(reply.tool_calls):
        function = {"name": call.name, "arguments": call.arguments}
        yield {"tool_calls": [{"index": index, "id": call.id, "type": "function", "function": function}]}


def _event(chunk: Mapping[str, Any]) -> bytes:
    return b"data: " + json.dumps(chunk, ensure_ascii=False).encode() + b"\n\n"
