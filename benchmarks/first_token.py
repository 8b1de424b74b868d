"""Time to the first token of a late turn: `python -m benchmarks.first_token --serve ../shared/local_llm/serve`.

This product's prompt and the whole history, each cold and then with the turn that follows it, against one real model in
one run. Cold: after a prompt that shares nothing with it. Run it on a quiet machine: two cores read about 50 to 100
tokens a second.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from random import Random
from typing import Any
from urllib.error import URLError
from urllib.request import urlopen

import django

WAIT_SECONDS = 300


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    server = parser.add_mutually_exclusive_group(required=True)
    server.add_argument("--url", help="of a server that runs, such as http://127.0.0.1:8081/v1")
    server.add_argument("--serve", help="a program that serves when it is given --port and --context")
    parser.add_argument("--port", type=int, default=8089)
    parser.add_argument("--model", default="local")
    parser.add_argument("--turns", type=int, default=50, help="said before the late turn")
    parser.add_argument("--budget", type=int, default=4_000)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        os.environ.update(CCM_HOME=home, DJANGO_SETTINGS_MODULE="ccmweb.settings")
        django.setup()
        late = requests(arguments)
        with serving(arguments) as url:
            print(json.dumps(asyncio.run(measured(url, arguments, late)), indent=2))


@contextmanager
def serving(arguments: argparse.Namespace) -> Iterator[str]:
    if arguments.url:
        yield arguments.url
        return
    running = subprocess.Popen([arguments.serve, "--port", str(arguments.port), "--context", "32768"])
    url = f"http://127.0.0.1:{arguments.port}/v1"
    try:
        wait_for(f"{url}/models", running)
        yield url
    finally:
        running.terminate()
        running.wait()


def wait_for(address: str, running: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + WAIT_SECONDS
    while time.monotonic() < until and running.poll() is None:
        try:
            urlopen(address, timeout=5).close()
            return
        except (URLError, OSError):
            time.sleep(1)
    raise SystemExit("The model did not start.")


Pairs = Mapping[str, tuple[dict[str, Any], dict[str, Any]]]


async def measured(url: str, arguments: argparse.Namespace, late: Pairs) -> dict[str, Any]:
    found: dict[str, Any] = {"turns": arguments.turns, "budget": arguments.budget}
    for name, (cold, following) in late.items():
        await first_token(url, request_of(arguments.model, [{"role": "user", "content": "Name one colour."}]))
        found[name] = {"cold": await first_token(url, cold), "next_turn": await first_token(url, following)}
    return found


def request_of(model: str, messages: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    usage = {"stream_options": {"include_usage": True}}
    return {"model": model, "messages": messages, "stream": True, "max_tokens": 16, "temperature": 0, **usage, **more}


def requests(arguments: argparse.Namespace) -> Pairs:
    """By name the requests of two turns that follow each other, after so many others."""
    from benchmarks.long_session import ANSWERED, ASKED, words
    from benchmarks.replay import Exchange, Said, Settings, Talk, on_stage
    from benchmarks.scratch import scratch_database

    random = Random(arguments.turns)
    talk = tuple(
        Exchange(
            user=Said(role="user", speaker="user", text=words(random, ASKED)),
            replies=(Said(role="assistant", speaker="assistant", text=words(random, ANSWERED)),),
        )
        for _ in range(arguments.turns + 2)
    )
    made = Talk(id="late", source="made", sessions=(talk,), numbers=(1,), dates=("",), summaries=("",))
    with scratch_database(durable=False), on_stage(made, Settings(budget=arguments.budget)) as player:
        late = [turn.calls[0].planned.request for turn in player.play()][-2:]
    product = [request_of(arguments.model, one["messages"], tools=one["tools"]) for one in late]
    whole = [whole_request(arguments.model, late[0], talk[: arguments.turns + place]) for place in (1, 2)]
    return {"product": (product[0], product[1]), "whole_history": (whole[0], whole[1])}


def whole_request(model: str, planned: Mapping[str, Any], talk: tuple[Any, ...]) -> dict[str, Any]:
    """The same system text and tools, and everything said, up to the last message of the person."""
    said = [said for one in talk for said in (one.user, *one.replies)][: 2 * len(talk) - 1]
    log = [{"role": one.role, "content": one.text} for one in said]
    return request_of(model, [planned["messages"][0], *log], tools=planned["tools"])


async def first_token(url: str, request: dict[str, Any]) -> dict[str, Any]:
    from efforts.llm.openai_chat import OpenAIChat
    from efforts.llm.protocol import StreamEnd

    began, first, usage = time.monotonic(), 0.0, None
    async for part in OpenAIChat(url, "none", timeout_seconds=1_800).stream(request):
        # A call of a tool comes whole, with the end.
        first = first or time.monotonic() - began
        usage = part.usage if isinstance(part, StreamEnd) else usage
    return {"seconds": round(first, 2), **(vars(usage) if usage else {})}


if __name__ == "__main__":
    main()
