"""Requests to drafters and checkers, as text, and how a model is asked: whatever comes back is an answer with its cost.

The log comes first and the task last, so that caches serve what is alike. No request holds an id of a row: the same log
gives the same bytes wherever it was said."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Iterable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import Any

from compaction.domain.artifact import Claim, Draft, Repair, Strict, Usage
from compaction.domain.check.answers import HalfAnswer, InventoryAnswer, MappingAnswer, schema_of
from compaction.domain.check.mapping import Question, sentences_of
from compaction.domain.check.notes import Half
from compaction.domain.ledger import Entry
from compaction.domain.limits import THINKING
from compaction.domain.merging import OvertakenAnswer
from compaction.drafting.prompts import text_of
from efforts.context.connections import ModelChoice, connect_chat
from efforts.domain.prompt.conversation import MESSAGE_OVERHEAD, PRIMING
from efforts.domain.text.canonical import canonical_json, sha256, storable
from efforts.domain.text.source_text import Source
from efforts.llm.protocol import ModelError, StreamEnd, TextDelta, ThinkingDelta
from efforts.llm.protocol import ReportedUsage as Reported
from efforts.turns.recording import count

LOG = "[Log]\n{log}[End of log]\n\n{task}"
AGAIN = (
    "Your notes do not hold yet:\n{findings}\n\nWrite only the claims that you change or add, with the ids of those "
    'that you change, and the ids of those that go: {{"claims": [...], "drop": []}}'
)


@dataclass(frozen=True, kw_only=True)
class Request:
    """What is asked, before it is known of whom. `form` is that of the answer, `reply` its limit in tokens."""

    messages: tuple[dict[str, str], ...]
    form: type[Strict] = field(compare=False)
    reply: int

    @property
    def key(self) -> str:
        """The hash by which a recorded answer is found: of the words alone."""
        return sha256(canonical_json(list(self.messages)))

    def body(self, *, model: str, reply_limit: str, structured: bool) -> dict[str, Any]:
        asked = {
            "model": model,
            "stream": True,
            "stream_options": {"include_usage": True},
            reply_limit: self.reply,
            "messages": list(self.messages),
        }
        return {**asked, "response_format": schema_of(self.form)} if structured else asked


def request(user: str, form: type[Strict], reply: int) -> Request:
    messages = ({"role": "system", "content": text_of("system")}, {"role": "user", "content": user})
    return Request(messages=messages, form=form, reply=reply)


def about_log(source: Source, task: str, *more: str) -> str:
    return LOG.format(log=source.text, task="\n\n".join(filter(None, (task, *more))))


# To the drafter


def drafting(
    source: Source, *, name: str, entries: Sequence[Entry], focus: str, most: int | None, reply: int
) -> Request:
    """`most`: tokens that all claims may take; `focus`: what the person wants kept in view."""
    more = [
        f"The piece of work: {name}",
        f"All claims together take at most {most:,} tokens." if most else "",
        f"The whole reply takes at most {reply:,} tokens.",
        f"Whoever asked for these notes wants them to keep in view: {focus}" if focus else "",
        listed_for_drafter(entries),
    ]
    return request(about_log(source, text_of("draft"), *more), Draft, reply)


def listed_for_drafter(entries: Sequence[Entry]) -> str:
    if not entries:
        return ""
    lines = [
        f"- e{number} ({entry.section}, {entry.status}; {', '.join(entry.sentences)}): {entry.text}"
        for number, entry in enumerate(entries, start=1)
    ]
    told = "The person's own list. Each of these is a claim of its own, with its id as ledger_ref:"
    return "\n".join([told, *lines])


def drafting_again(before: Request, answer: str, findings: Iterable[str]) -> Request:
    told = AGAIN.format(findings="\n".join(f"- {finding}" for finding in findings))
    said = ({"role": "assistant", "content": answer}, {"role": "user", "content": told})
    return replace(before, messages=(*before.messages, *said), form=Repair)


def drafting_longer(before: Request) -> Request:
    """After a reply that was cut: with twice the limit."""
    reply, last = 2 * before.reply, before.messages[-1]
    old, new = (f"The whole reply takes at most {tokens:,} tokens." for tokens in (before.reply, reply))
    told = {**last, "content": last["content"].replace(old, new)}
    return replace(before, reply=reply, messages=(*before.messages[:-1], told))


def overtaking(parts: Sequence[Sequence[Claim]], reply: int) -> Request:
    """`parts`: the claims of windows, in the order of time; they are numbered through."""
    lines, number = [], 0
    for place, claims in enumerate(parts, start=1):
        lines.append(f"Part {place}:")
        for claim in claims:
            number += 1
            lines.append(f"{number}. {shown(claim)}")
    return request("\n\n".join([text_of("overtaken"), "\n".join(lines)]), OvertakenAnswer, reply)


# To the checker


def inventory(source: Source, reply: int) -> Request:
    return request(about_log(source, text_of("inventory")), InventoryAnswer, reply)


def half(source: Source, notes: Half, reply: int) -> Request:
    lines = [f"{note.number}. {shown(note.claim)} — {', '.join(note.claim.cites)}" for note in notes]
    return request(about_log(source, text_of("half"), "Notes:\n" + "\n".join(lines)), HalfAnswer, reply)


def mapping(asked: Question, source: Source, reply: int) -> Request:
    entries = []
    for number, entry in enumerate(asked.entries, start=1):
        entries.append(f"{number}. [{entry.section}] {entry.text}")
        entries += [f"   {sentence}" for sentence in sentences_of(entry, source)]
    notes = [f"{number}. {shown(claim)}" for number, claim in enumerate(asked.claims, start=1)]
    parts = [text_of("mapping"), "Entries:\n" + "\n".join(entries), "Notes:\n" + "\n".join(notes)]
    return request("\n\n".join(parts), MappingAnswer, reply)


def shown(claim: Claim) -> str:
    told = [f"owner: {claim.owner}" if claim.owner else "", f"due: {claim.due}" if claim.due else ""]
    more = "; ".join(filter(None, told))
    return f"[{claim.section}, {claim.status}] {' '.join(claim.text.split())}{f' ({more})' if more else ''}"


THOUGHT = re.compile(r"\A\s*<think>.*?(?:</think>|\Z)", re.DOTALL)
REFUSED = "refused"
LATE, FAULT, CUT = "timeout", "fault", "length"
# Faults of a model that has not begun to work on what it was sent.
UNANSWERED = ("unreachable", "unauthorised", "rate_limited", "server_error", "refused")
FREE = Usage(input=0, cache_read=0, cache_creation=0, output=0, source="counted")
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
    stop_reason, error, answered = "", "", True
    try:
        async with asyncio.timeout(choice.draft_seconds), aclosing(connect_chat(choice).stream(body)) as parts:  # type: ignore[type-var]
            async for part in parts:
                if isinstance(part, TextDelta):
                    text += part.text
                elif isinstance(part, ThinkingDelta):
                    thought += part.text
                elif isinstance(part, StreamEnd):
                    finished = part
        stop_reason = storable(finished.finish_reason) if finished else ""
    except TimeoutError:
        stop_reason, error = LATE, TOO_LATE.format(seconds=choice.draft_seconds)
    except ModelError as fault:
        stop_reason, error = REFUSED if fault.code == "refused" else FAULT, storable(fault.text)
        answered = fault.code not in UNANSWERED
    return Answer(
        text=THOUGHT.sub("", storable(text)).strip(),
        stop_reason=stop_reason,
        usage=usage_of(request, thought + text, finished.usage if finished else None) if answered else FREE,
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
