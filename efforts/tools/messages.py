"""What was said: found by its words, read on where it is cut."""

from __future__ import annotations

from typing import Any

from django.db.models import Q, QuerySet

from efforts.domain.lifecycle import RunState
from efforts.models import Message
from efforts.records import Hit, Retrieval, record_retrieval
from efforts.snapshots import branch_turns

from .base import ToolContext, ToolError
from .words import hits, holding, passage, words_of

MATCHES = 8
PASSAGE = 400
# Raise it when the same log and query give another ranking.
STRATEGY = "messages-by-words/1"
# About a thousand tokens: a quarter of the smallest budget.
PIECE = 4_000


def search_messages(context: ToolContext, *, query: str) -> dict[str, Any]:
    words = words_of(query)
    # The newest thousand: ranking reads their texts, and must not grow with the log.
    found = said_before(context).filter(holding(words)).select_related("turn").order_by("-id")[:1_000]
    ranked = sorted(found, key=lambda row: (-hits(row.text, words), -row.pk))
    kept = ranked[:MATCHES]
    params = {"words": words, "kept": MATCHES}
    kept_hits = tuple(hit_of(row, words) for row in kept)
    record_retrieval(
        context.run, Retrieval(query=query, strategy=STRATEGY, params=params, hits=kept_hits, found=len(ranked))
    )
    matches = [
        {"turn": row.turn.number, "role": row.role, "message": row.pk, "text": passage(row.text, words, PASSAGE)}
        for row in kept
    ]
    return {"matches": matches, "of": len(ranked)}


def hit_of(row: Message, words: list[str]) -> Hit:
    return Hit(turn=row.turn, message=row, score=hits(row.text, words), why=(said_words(row.text, words),))


def said_words(text: str, words: list[str]) -> str:
    there = [word for word in words if hits(text, [word])]
    return f"{len(there)} of {len(words)} words: {', '.join(there)}."


def said_before(context: ToolContext) -> QuerySet[Message]:
    """The log of this branch before this turn; results of tools are not what anybody said."""
    turns = branch_turns(context.run.branch).filter(number__lt=context.run.turn.number)
    turns = turns.exclude(run__state=RunState.CANCELLED)
    counts = Q(role=Message.Role.USER) | Q(run__in=turns.values("run"))
    return Message.objects.filter(counts, turn__in=turns).exclude(role=Message.Role.TOOL)


def read_message(context: ToolContext, *, id: int, offset: int) -> dict[str, Any]:
    row = Message.objects.filter(pk=id, turn__in=branch_turns(context.run.branch)).select_related("turn").first()
    if row is None:
        raise ToolError(f"There is no message {id} here. search_messages gives the ids.")
    if not 0 <= offset <= len(row.text):
        raise ToolError(f"Message {id} has {len(row.text)} characters; offset must lie within.")
    piece = row.text[offset : offset + PIECE]
    after = offset + len(piece)
    return {
        "turn": row.turn.number,
        "role": row.role,
        "text": piece,
        "of": len(row.text),
        "next_offset": after if after < len(row.text) else None,
    }
