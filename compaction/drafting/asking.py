"""One request to a model: whatever comes back, it is an answer with what it cost."""

from __future__ import annotations

import asyncio
import re
import time
from contextlib import aclosing
from dataclasses import dataclass, replace

from compaction.domain.artifact import Usage
from compaction.domain.limits import THINKING
from compaction.drafting.requesting import Request
from efforts.context.connections import ModelChoice, connect_chat
from efforts.domain.prompt.conversation import MESSAGE_OVERHEAD, PRIMING
from efforts.llm.protocol import ModelError, StreamEnd, TextDelta, ThinkingDelta
from efforts.llm.protocol import ReportedUsage as Reported
from efforts.turns.calls import storable
from efforts.turns.recording import count

THOUGHT = re.compile(r"\A\s*<think>.*?(?:</think>|\Z)", re.DOTALL)
REFUSED = "refused"
LATE, FAULT, CUT = "timeout", "fault", "length"
TOO_LATE = "It did not answer within {seconds:g} seconds."

# Addresses and models that have refused a request for its form, while this process lives.
without_form: set[tuple[str, str]] = set()


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What came back of one request, also where it failed. `structured`: the form of the answer was asked for."""

    text: str
    stop_reason: str
    usage: Usage
    elapsed_ms: int
    error: str = ""
    structured: bool = False
    limit: int = 0


@dataclass(frozen=True, kw_only=True)
class Exchange:
    """One request to a model and its answer."""

    step: str
    request: Request
    answer: Answer


async def ask(request: Request, choice: ModelChoice) -> Answer:
    """Whatever happens is an answer; only a cancellation goes through. A form that is refused is left out, and not
    asked of that model again; a reply that was cut while the model still thought has more room at the second try."""
    structured = (choice.base_url, choice.model) not in without_form
    answer = await ask_once(request, choice, structured=structured)
    if structured and answer.stop_reason == REFUSED:
        bare = await ask_once(request, choice, structured=False)
        if bare.stop_reason != REFUSED:
            without_form.add((choice.base_url, choice.model))
        return replace(bare, elapsed_ms=answer.elapsed_ms + bare.elapsed_ms)
    return answer


async def ask_once(request: Request, choice: ModelChoice, *, structured: bool) -> Answer:
    body = request.body(model=choice.model, reply_limit=choice.reply_limit, structured=structured)
    started = time.monotonic()
    text, thought, finished = "", "", None
    stop_reason, error = "", ""
    try:
        async with asyncio.timeout(choice.draft_seconds), aclosing(connect_chat(choice).stream(body)) as parts:  # type: ignore[type-var]
            async for part in parts:
                if isinstance(part, TextDelta):
                    text += part.text
                elif isinstance(part, ThinkingDelta):
                    thought += part.text
                elif isinstance(part, StreamEnd):
                    finished = part
        stop_reason = finished.finish_reason if finished else ""
    except TimeoutError:
        stop_reason, error = LATE, TOO_LATE.format(seconds=choice.draft_seconds)
    except ModelError as fault:
        stop_reason, error = REFUSED if fault.code == "refused" else FAULT, fault.text
    return Answer(
        text=THOUGHT.sub("", storable(text)).strip(),
        stop_reason=stop_reason,
        usage=usage_of(request, thought + text, finished.usage if finished else None),
        elapsed_ms=int((time.monotonic() - started) * 1000),
        error=error,
        structured=structured,
        limit=request.reply,
    )


def usage_of(request: Request, written: str, reported: Reported | None) -> Usage:
    """As the endpoint reports it, whose prompt tokens include those from its cache; else as counted here, with what the
    model thought, which is paid for like its reply."""
    if reported is None or reported.prompt_tokens is None or reported.completion_tokens is None:
        return Usage(
            input=request_tokens(request), cache_read=0, cache_creation=0, output=count(written), source="counted"
        )
    cached = min(reported.cached_tokens or 0, reported.prompt_tokens)
    return Usage(
        input=reported.prompt_tokens - cached,
        cache_read=cached,
        cache_creation=0,
        output=reported.completion_tokens,
        source="provider",
    )


def request_tokens(request: Request) -> int:
    return PRIMING + sum(MESSAGE_OVERHEAD + count(message["content"]) for message in request.messages)


def most_tokens(request: Request) -> int:
    return request_tokens(request) + request.reply


def with_room_to_think(request: Request) -> Request:
    return replace(request, reply=request.reply + THINKING)
