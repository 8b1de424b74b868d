"""Whatever a provider streams, a reply comes of it or an error in words, and what came before is kept."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import httpx2
from hypothesis import given
from hypothesis import strategies as st

from efforts.llm.openai_chat import OpenAIChat
from efforts.llm.protocol import ModelError, StreamEnd, TextDelta, ThinkingDelta
from tests.fuzz.strategies import as_json, changed, spoilt, tried, whole_texts

CHUNK = {
    "id": "a",
    "object": "chat.completion.chunk",
    "choices": [
        {
            "index": 0,
            "delta": {
                "role": "assistant",
                "content": "<think>Well.</think> Hello",
                "reasoning_content": "So",
                "tool_calls": [
                    {"index": 0, "id": "c1", "type": "function", "function": {"name": "search", "arguments": '{"q":'}}
                ],
            },
            "finish_reason": "stop",
        }
    ],
    "usage": {"prompt_tokens": 3, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 1}},
    "error": {"message": "too much", "code": 1},
}
lines = st.one_of(
    changed(CHUNK).map(lambda chunk: f"data: {as_json(chunk)}\n\n".encode()),
    changed(CHUNK).flatmap(lambda chunk: spoilt(f"data: {as_json(chunk)}\n\n".encode())),
    st.sampled_from(
        [b"data: [DONE]\n\n", b": ping\n\n", b"event: error\ndata: {}\n\n", b"\xff\xfe\n\n", b"\r\r\n", b"id:\x00\n"]
    ),
    st.binary(max_size=40),
)
MODEL = {"id": "m", "meta": {"n_ctx": 1}, "context_length": 4_096, "index": 0, "embedding": [0.5]}
ANSWER = {"object": "list", "data": [MODEL]}
headers = st.dictionaries(
    st.sampled_from(["content-type", "retry-after", "content-length"]),
    st.sampled_from(["text/event-stream", "application/json", "text/html", "", "12", "1e9", "-1", "soon", "²", "٣"]),
)


class Pieces(httpx2.AsyncByteStream):
    def __init__(self, pieces: list[bytes]) -> None:
        self.pieces = pieces

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for piece in self.pieces:
            yield piece


def model(pieces: list[bytes], status: int, headers: dict[str, str]) -> OpenAIChat:
    async def answer(request: httpx2.Request) -> httpx2.Response:
        sent = [(name.encode(), value.encode()) for name, value in headers.items()]
        return httpx2.Response(status, headers=sent, stream=Pieces(pieces))

    return OpenAIChat("http://127.0.0.1:9/v1", "sk-key", 5, 0, transport=httpx2.MockTransport(answer))


@tried(100)
@given(st.lists(lines, max_size=8), st.sampled_from([200, 200, 200, 204, 301, 400, 401, 429, 500, 599]), headers)
def test_a_stream_of_anything_is_a_reply_or_an_error_in_words(
    pieces: list[bytes], status: int, headers: dict[str, str]
) -> None:
    async def collect() -> list[Any]:
        return [part async for part in model(pieces, status, headers).stream({"model": "m", "messages": []})]

    try:
        parts = asyncio.run(collect())
    except ModelError as error:
        assert error.code
        assert error.text.strip()
        assert "sk-key" not in error.text
        return
    assert isinstance(parts[-1], StreamEnd)
    for part in parts[:-1]:
        assert isinstance(part, TextDelta | ThinkingDelta)
        assert part.text


@tried(100)
@given(st.one_of(changed(ANSWER).map(as_json), whole_texts, st.just("[" * 100_000)), st.sampled_from([200, 404, 500]))
def test_a_list_of_anything_is_models_or_an_error_in_words(body: str, status: int) -> None:
    asked = model([body.encode()], status, {"content-type": "application/json"})
    try:
        listed = asyncio.run(asked.list_models())
    except ModelError as error:
        assert error.text.strip()
    else:
        assert all(one.id and (one.context_window or 1) > 0 for one in listed)


@tried(50)
@given(changed(ANSWER).map(as_json))
def test_vectors_of_anything_are_vectors_or_an_error_in_words(body: str) -> None:
    asked = model([body.encode()], 200, {"content-type": "application/json"})
    try:
        vectors, tokens = asyncio.run(asked.embed("m", ["a"]))
    except ModelError as error:
        assert error.text.strip()
    else:
        assert len(vectors) == 1
        assert tokens is None or isinstance(tokens, int)
