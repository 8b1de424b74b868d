"""One request to a model about an artifact: whatever comes back, it is an answer with what it cost."""

from __future__ import annotations

import asyncio
import re
import time
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

from efforts.connections import ModelChoice, connect
from efforts.domain.conversation import MESSAGE_OVERHEAD, PRIMING
from efforts.llm.protocol import Finished, ModelError, TextDelta
from efforts.llm.protocol import Usage as Reported
from efforts.orchestrator import storable
from efforts.recording import count

from .domain.artifact import Attempt, Usage

THINKING = re.compile(r"\A\s*<think>.*?(?:</think>|\Z)", re.DOTALL)


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What came back of one request, also where it failed."""

    text: str
    stop_reason: str
    usage: Usage | None
    elapsed_ms: int
    error: str = ""

    @property
    def attempt(self) -> Attempt:
        return Attempt(usage=self.usage, stop_reason=self.stop_reason, error=self.error, elapsed_ms=self.elapsed_ms)


async def ask(request: dict[str, Any], choice: ModelChoice, seconds: float) -> Answer:
    """Whatever happens is an answer; only a cancellation goes through."""
    started = time.monotonic()
    text, finished = "", None
    stop_reason, error = "", ""
    try:
        async with asyncio.timeout(max(seconds, 0)), aclosing(connect(choice).stream(request)) as parts:
            async for part in parts:
                if isinstance(part, TextDelta):
                    text += part.text
                elif isinstance(part, Finished):
                    finished = part
        stop_reason = finished.finish_reason if finished else ""
    except TimeoutError:
        stop_reason, error = "timeout", "The model took too long."
    except ModelError as fault:
        stop_reason, error = "fault", fault.text
    return Answer(
        text=THINKING.sub("", storable(text)).strip(),
        stop_reason=stop_reason,
        usage=usage_of(request, text, finished.usage if finished else None),
        elapsed_ms=int((time.monotonic() - started) * 1000),
        error=error,
    )


def usage_of(request: dict[str, Any], text: str, reported: Reported | None) -> Usage:
    """As the endpoint reports it, whose prompt tokens include those from its cache; else as counted here."""
    if reported is None or reported.prompt_tokens is None or reported.completion_tokens is None:
        return Usage(
            input=request_tokens(request), cache_read=0, cache_creation=0, output=count(text), source="counted"
        )
    cached = min(reported.cached_tokens or 0, reported.prompt_tokens)
    return Usage(
        input=reported.prompt_tokens - cached,
        cache_read=cached,
        cache_creation=0,
        output=reported.completion_tokens,
        source="provider",
    )


def request_tokens(request: dict[str, Any]) -> int:
    return PRIMING + sum(MESSAGE_OVERHEAD + count(message["content"]) for message in request["messages"])
