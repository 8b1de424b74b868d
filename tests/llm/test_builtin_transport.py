"""The built-in engine behind the real client: same requests, same server-sent events."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from typing import Any

import httpx2
import pytest

from efforts.domain.prompt.rendering import count_request
from efforts.llm.builtin.transport import BuiltinTransport
from efforts.llm.openai_chat import OpenAIChat
from efforts.llm.protocol import StreamEnd, TextDelta
from efforts.llm.tokens import get_counter

SEARCH_TOOL = {"type": "function", "function": {"name": "search_messages", "parameters": {"type": "object"}}}


def request(text: str, **more: Any) -> dict[str, Any]:
    return {
        "model": "builtin",
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": text}],
        "stream": True,
        "stream_options": {"include_usage": True},
        **more,
    }


def engine(pace_seconds: float = 0.0) -> OpenAIChat:
    transport = BuiltinTransport(get_counter(), pace_seconds=pace_seconds)
    return OpenAIChat("http://builtin.invalid/v1", "", 5, transport=transport)


async def parts_of(request: dict[str, Any]) -> tuple[list[str], StreamEnd]:
    parts = [part async for part in engine().stream(request)]
    assert isinstance(parts[-1], StreamEnd)
    return [part.text for part in parts if isinstance(part, TextDelta)], parts[-1]


async def raw(request: dict[str, Any]) -> bytes:
    async with httpx2.AsyncClient(transport=BuiltinTransport(get_counter())) as client:
        return (await client.post("http://builtin.invalid/v1/chat/completions", json=request)).content


async def test_it_streams_word_by_word():
    texts, finished = await parts_of(request("The tea is at five. When is the tea?"))
    assert "".join(texts) == "This was said in the conversation:\n\n> The tea is at five.\n>\n> — you, just now"
    assert texts[:3] == ["This", " was", " said"]
    assert finished.finish_reason == "stop"


async def test_its_usage_is_counted():
    texts, finished = await parts_of(request("The tea is at five. When is the tea?"))
    count = get_counter().count
    assert finished.usage is not None
    assert finished.usage.prompt_tokens == count("Be brief.") + count("The tea is at five. When is the tea?") + 11
    assert finished.usage.completion_tokens == count("".join(texts))
    assert finished.usage.cached_tokens == 0


async def test_its_count_is_that_of_the_plan_where_the_tokenizer_is_the_same() -> None:
    asked = request("Hello there.", tools=[SEARCH_TOOL])
    _, end = await parts_of(asked)
    assert end.usage is not None
    assert end.usage.prompt_tokens == count_request(asked, get_counter().count)


async def test_usage_comes_only_when_asked_for():
    _, finished = await parts_of({**request("hi"), "stream_options": None})
    assert finished.usage is None


async def test_it_stops_at_max_tokens():
    texts, finished = await parts_of(request("What can you do?", max_tokens=7))
    assert finished.finish_reason == "length"
    assert 0 < get_counter().count("".join(texts)) <= 7


async def test_it_calls_tools():
    texts, finished = await parts_of(request("Search for tea.", tools=[SEARCH_TOOL]))
    assert not texts
    assert finished.finish_reason == "tool_calls"
    assert [(call.name, json.loads(call.arguments)) for call in finished.tool_calls] == [
        ("search_messages", {"query": "tea"})
    ]


async def test_the_same_request_gives_the_same_bytes():
    asked = request("Search for tea.", tools=[SEARCH_TOOL])
    assert await raw(asked) == await raw(asked)
    assert await raw(asked) != await raw(request("Search for tea!", tools=[SEARCH_TOOL]))


def test_another_process_with_another_hash_seed_gives_the_same_bytes():
    program = (
        "import asyncio, sys; from tests.llm.test_builtin_transport import raw, request;"
        "sys.stdout.buffer.write(asyncio.run(raw(request('Tea is at five in Rome or Paris. Tea in Rome or Paris?'))))"
    )
    replies = {
        subprocess.run(
            [sys.executable, "-c", program], capture_output=True, check=True, env={**os.environ, "PYTHONHASHSEED": seed}
        ).stdout
        for seed in ("1", "2")
    }
    assert len(replies) == 1


async def test_it_lists_itself():
    assert [model.id for model in await engine().list_models()] == ["builtin"]


async def test_it_answers_a_probe():
    assert (await engine().probe("builtin")).startswith("Hello.")


async def test_another_address_of_it_is_not_found():
    async with httpx2.AsyncClient(transport=BuiltinTransport(get_counter())) as client:
        assert (await client.get("http://builtin.invalid/v1/files")).status_code == 404


async def test_a_paced_reply_can_be_stopped():
    stream = engine(pace_seconds=30).stream(request("hi"))
    reader = asyncio.create_task(anext(stream))
    await asyncio.sleep(0)
    reader.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reader


async def test_a_pace_slower_than_the_limit_times_nothing_out():
    model = OpenAIChat(
        "http://builtin.invalid/v1", "", 0.01, transport=BuiltinTransport(get_counter(), pace_seconds=0.02)
    )
    assert [part async for part in model.stream(request("thanks"))]
