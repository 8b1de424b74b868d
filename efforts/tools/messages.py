"""What was said: found by its words, read on where it is cut."""

from __future__ import annotations

from datetime import date
from typing import Any

from efforts.domain.text.ranking import Ranked
from efforts.domain.text.terms import marks, query_terms
from efforts.log.timelines import branch_turns
from efforts.memory.traces import Hit, Retrieval, record_retrieval
from efforts.models import Branch, Message
from efforts.retrieval.search import STRATEGY as PASSAGES
from efforts.retrieval.search import Search, search_branch

from .base import ToolContext, ToolError

MATCHES = 8
PASSAGE = 400
STRATEGY = f"messages/{PASSAGES}"
EMPTY = "The query is empty. Give the most telling words."
# About a thousand tokens.
PIECE = 4_000


def search_messages(context: ToolContext, *, query: str) -> dict[str, Any]:
    if not query_terms(query):
        raise ToolError(EMPTY)
    turn = context.run.turn
    retrieval, search = find_messages(context.run.branch, query, before=turn.number, today=turn.created_at.date())
    record_retrieval(context.run, retrieval)
    matches = [match_of(search, one, hit) for one, hit in zip(kept(search), retrieval.hits, strict=True)]
    return {"matches": matches, "of": search.found}


def find_messages(
    branch: Branch, query: str, *, before: int, today: date, snapshot: int | None = None
) -> tuple[Retrieval, Search]:
    search = search_branch(branch, query, before=before, today=today, snapshot=snapshot)
    said = Message.objects.select_related("turn").in_bulk([one.found.message for one in kept(search)])
    hits = tuple(hit_of(search, one, said[one.found.message]) for one in kept(search))
    params = {**search.query.params, "kept": MATCHES}
    return Retrieval(query=query, strategy=STRATEGY, params=params, hits=hits, found=search.found), search


def kept(search: Search) -> list[Ranked]:
    return [one for one in search.ranked if one.own or one.near][:MATCHES]


def hit_of(search: Search, one: Ranked, message: Message) -> Hit:
    span = (one.found.start, one.found.end)
    return Hit(turn=message.turn, message=message, span=span, score=one.score, why=search.why(one))


def match_of(search: Search, one: Ranked, hit: Hit) -> dict[str, Any]:
    assert hit.message is not None
    effort = {"effort": one.found.effort} if one.found.effort else {}
    return {
        "turn": one.found.number,
        **effort,
        "date": one.found.said_on,
        "role": one.found.role,
        "message": hit.message.pk,
        "text": piece_of(hit.message.text[one.found.start : one.found.end], search.query.terms),
    }


def piece_of(passage: str, terms: tuple[str, ...]) -> str:
    """So much of a passage around its first word of the query as a model needs to go on."""
    first = next((start for start, _ in marks(passage, terms)), 0)
    start = min(max(0, first - PASSAGE // 3), max(0, len(passage) - PASSAGE))
    piece = passage[start : start + PASSAGE]
    return ("…" if start else "") + piece + ("…" if start + PASSAGE < len(passage) else "")


def read_message(context: ToolContext, *, id: int, offset: int) -> dict[str, Any]:
    row = Message.objects.filter(pk=id, turn__in=branch_turns(context.run.branch)).select_related("turn").first()
    if row is None:
        raise ToolError(f"There is no message {id} here. search_messages gives the ids.")
    if not 0 <= offset <= len(row.text):
        raise ToolError(f"Message {id} has {len(row.text)} characters; offset must lie within.")
    # Of other scripts so many characters are more tokens than there is room for.
    size = min(PIECE, max(len(row.text) * context.reading // max(row.tokens, 1), 1))
    piece = row.text[offset : offset + size]
    after = offset + len(piece)
    return {
        "turn": row.turn.number,
        "role": row.role,
        "text": piece,
        "of": len(row.text),
        "next_offset": after if after < len(row.text) else None,
    }
