"""What a conversation is called: the model is asked once, after the first reply; never in place of a person's title."""

from __future__ import annotations

import asyncio
import re
import time
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet

from efforts.actions.names import entitle, title_from
from efforts.context.connections import KeyUnreadable, ModelChoice, choose, connect_chat
from efforts.domain.effort.states import RunState
from efforts.domain.text.canonical import storable
from efforts.llm.protocol import ModelError, ReportedUsage, StreamEnd, TextDelta
from efforts.models import Message, Run, Session, Titling
from efforts.models.prepared import first, prepared
from efforts.models.threads import read, write
from efforts.retrieval.index import count_tokens
from efforts.turns.recording import Lease

ASKED = (
    "Write a title for this conversation: at most six words, in the language of the user, without quotes and without a "
    "full stop. Answer with the title alone."
)
# Characters of the message and of its reply.
SHOWN = 2_000
# Tokens: room to think before it answers.
LIMIT = 1_000
# The longest that it may take.
SECONDS = 60
TOO_LATE = f"It took longer than {SECONDS} seconds."
# Some models write what they think into their answer.
THOUGHT = re.compile(r"<think>.*?(</think>|$)", re.DOTALL)
AROUND = " \t\"'“”„«»‘’*_#`."


@dataclass(frozen=True, kw_only=True)
class Asked:
    session_id: UUID
    choice: ModelChoice
    messages: list[dict[str, str]]

    def body(self) -> dict[str, Any]:
        return {
            "model": self.choice.model,
            "messages": self.messages,
            self.choice.reply_limit: LIMIT,
            "stream": True,
            "stream_options": {"include_usage": True},
        }


@dataclass(frozen=True, kw_only=True)
class Answered:
    text: str
    usage: ReportedUsage | None
    elapsed_ms: int
    error: str


async def ask_for_title(lease: Lease) -> None:
    """After the first turn; whatever happens to it, the conversation goes on under the title that it has."""
    asked = await read(to_ask, lease) if lease.turn_number == 1 else None
    if asked:
        await write(keep_title, asked, await ask(asked))


def to_ask(lease: Lease) -> Asked | None:
    """None where there is no model to ask, a person gave a title, or it was asked before."""
    run = first(completed_run(lease.run_id))
    if run is None:
        return None
    session = run.turn.session
    if session.titled_by_hand or session.is_example:
        return None
    try:
        choice = choose(session)
    except KeyUnreadable:
        return None
    if not choice.writes_titles or Titling.objects.filter(session=session).exists():
        return None
    said = Message.objects.filter(turn=run.turn, role=Message.Role.USER).values_list("text", flat=True).first() or ""
    replies = Message.objects.filter(run=run, role=Message.Role.ASSISTANT).exclude(text="").order_by("-pk")
    reply = replies.values_list("text", flat=True).first() or ""
    shown = f"User:\n{said[:SHOWN]}\n\nAssistant:\n{reply[:SHOWN]}"
    messages = [{"role": "system", "content": ASKED}, {"role": "user", "content": shown}]
    return Asked(session_id=session.pk, choice=choice, messages=messages)


@prepared
def completed_run(run: UUID) -> QuerySet[Run]:
    return Run.objects.select_related("turn__session__endpoint__owner").filter(pk=run, state=RunState.COMPLETED)


async def ask(asked: Asked) -> Answered:
    began, text, error = time.monotonic(), "", ""
    usage = None
    try:
        async with asyncio.timeout(SECONDS), aclosing(connect_chat(asked.choice).stream(asked.body())) as parts:  # type: ignore[type-var]
            async for part in parts:
                if isinstance(part, TextDelta):
                    text += part.text
                elif isinstance(part, StreamEnd):
                    usage = part.usage
    except TimeoutError:
        error = TOO_LATE
    except ModelError as fault:
        error = fault.text
    elapsed = int((time.monotonic() - began) * 1000)
    return Answered(text=storable(text), usage=usage, elapsed_ms=elapsed, error=error)


def keep_title(asked: Asked, answered: Answered) -> None:
    title = "" if answered.error else title_in(answered.text)
    usage = answered.usage
    with transaction.atomic():
        # The person may have named or deleted it meanwhile.
        session = Session.objects.select_for_update().filter(pk=asked.session_id).first()
        if session is None:
            return
        Titling.objects.update_or_create(
            session=session,
            defaults={
                "model": asked.choice.model,
                "messages": asked.messages,
                "answer": answered.text,
                "title": title,
                "prompt_tokens": usage.prompt_tokens if usage else None,
                "completion_tokens": usage.completion_tokens if usage else None,
                "tokens": sum(count_tokens(message["content"]) for message in asked.messages),
                "price": asked.choice.price.stored() if asked.choice.price else None,
                "elapsed_ms": answered.elapsed_ms,
                "error": answered.error,
            },
        )
        if title:
            entitle(session, title)


def title_in(answer: str) -> str:
    """In one short line, as far as the answer says something."""
    line = THOUGHT.sub("", answer).strip().removeprefix("Title:")
    return title_from(line.strip(AROUND))
