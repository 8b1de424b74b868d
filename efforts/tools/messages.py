"""What was said: found by its words, read on where it is cut."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from datetime import date, timedelta
from typing import Any

from django.db.models import F, Q

from efforts import actions
from efforts.context.embedders import meaning_of
from efforts.domain.prompt.conversation import ToolCall
from efforts.domain.prompt.need import NEAR
from efforts.domain.text.canonical import json_object
from efforts.domain.text.ranking import Ranked
from efforts.domain.text.terms import marks, query_terms
from efforts.log.exclusions import left_out
from efforts.log.timelines import branch_turns
from efforts.memory.traces import Hit, Retrieval, record_retrieval
from efforts.models import Branch, Message, Passage, Run
from efforts.retrieval.candidates import EVERYTHING, Narrowed, midnight
from efforts.retrieval.search import STRATEGY as PASSAGES
from efforts.retrieval.search import Search, search_branch
from efforts.retrieval.vectors import Asked, Meant, meaning_of_passages
from efforts.standins import coding

from .base import ToolContext, ToolError

MATCHES = 6
# Characters: of a passage, and of what stands on the other side of its exchange.
PASSAGE, BESIDE = 400, 160
# Turns that are read whole, whichever page is asked for: the order is the same on each.
TURNS = 60
STRATEGY = f"exchanges/{PASSAGES}"
EMPTY = "The query is empty. Give the most telling words."
LEFT_OUT = "The user has left turn {} out of what you are shown."
# About a thousand tokens.
PIECE = 4_000


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """As the model asks for it: words, or a turn whose like is looked for; dates are ISO days, both included."""

    query: str = ""
    like_turn: int = 0
    effort: str = ""
    speaker: str = ""
    since: str = ""
    until: str = ""
    page: int = 1

    @property
    def narrowed(self) -> Narrowed:
        since, until = day_of("since", self.since), day_of("until", self.until)
        return Narrowed(
            since=midnight(since) if since else None,
            until=midnight(until + timedelta(days=1)) if until else None,
            role=self.speaker,
            efforts=frozenset({self.effort}) if self.effort else None,
        )


@dataclass(frozen=True, kw_only=True)
class Exchanges:
    """What was found: of each turn its messages, the best first, and of these turns those of the page."""

    search: Search
    every: list[list[Ranked]]
    page: list[list[Ranked]]


def search_messages(context: ToolContext, **asked: Any) -> dict[str, Any]:
    wanted, branch, turn = Wanted(**asked), context.run.branch, context.run.turn
    if not wanted.like_turn and not query_terms(wanted.query):
        raise ToolError(EMPTY)
    if wanted.effort:
        wanted = replace(wanted, effort=actions.effort_here(branch, wanted.effort).slug)
    if wanted.like_turn and not said_in(branch, wanted.like_turn, turn.number):
        raise ToolError(f"There is no earlier turn {wanted.like_turn} here.")
    if wanted.like_turn and left_out(branch).filter(turn__number=wanted.like_turn).exists():
        raise ToolError(LEFT_OUT.format(wanted.like_turn))
    day = turn.created_at.date()
    retrieval, found = find_messages(branch, wanted, before=turn.number, today=day, meant=context.asked.meant)
    if wanted.page != 1 and not found.page:
        pages = -(-len(found.every) // MATCHES)
        raise ToolError(f"There is no page {wanted.page}: there {'is 1' if pages == 1 else f'are {pages}'}.")
    record_retrieval(context.run, retrieval)
    result = {"matches": list(matches_of(found)), "of": len(found.every)}
    if wanted.page * MATCHES < len(found.every):
        result["next_page"] = wanted.page + 1
    return {**result, "words_alone": context.asked.fault} if context.asked.fault else result


# What is looked for by meaning too.
SEARCHES = ("search_messages", coding.SEARCH)


def find_messages(
    branch: Branch,
    wanted: Wanted,
    *,
    before: int,
    today: date,
    snapshot: int | None = None,
    meant: Meant | None = None,
) -> tuple[Retrieval, Exchanges]:
    like = said_in(branch, wanted.like_turn, before) if wanted.like_turn else []
    # Made again it has what was known of meanings then.
    if like and snapshot is None and branch.session.by_meaning:
        passages = Passage.objects.filter(message__in=like).values_list("pk", flat=True)
        meant = meaning_of_passages(branch.session_id, list(passages))
    search = search_branch(
        branch,
        "\n".join(message.text for message in like) if like else wanted.query,
        before=before,
        today=today,
        snapshot=snapshot,
        turns=TURNS,
        meant=meant,
        narrowed=wanted.narrowed,
        like=bool(like),
    )
    beside = not like and wanted.narrowed == EVERYTHING
    every = by_turn(search, wanted.like_turn, beside=beside)
    page = every[(wanted.page - 1) * MATCHES : wanted.page * MATCHES] if wanted.page > 0 else []
    said = Message.objects.select_related("turn").in_bulk([ranked[0].found.message for ranked in page])
    hits = tuple(hit_of(search, ranked[0], said[ranked[0].found.message]) for ranked in page)
    meaning = {"meaning": meant.params} if meant else {}
    params = {**search.query.params, "kept": MATCHES, "asked": asdict(wanted), **meaning}
    retrieval = Retrieval(query=wanted.query, strategy=STRATEGY, params=params, hits=hits, found=len(every))
    return retrieval, Exchanges(search=search, every=every, page=page)


def meaning_asked(call: ToolCall, run: Run) -> Asked:
    """What the words of a search mean; no transaction may be open. Of anything else, also of a call that is refused,
    nothing."""
    given = json_object(call.arguments) if call.name in SEARCHES else {}
    query = given.get("query") if not given.get("like_turn") else ""
    if not isinstance(query, str) or not query_terms(query):
        return Asked()
    in_code = call.name == coding.SEARCH
    return coding.registered().meaning(run, query) if in_code else meaning_of(run.turn.session, query)


def day_of(name: str, given: str) -> date | None:
    try:
        return date.fromisoformat(given) if given else None
    except ValueError as error:
        raise ToolError(f"{name} must be a date such as 2026-03-05.") from error


def said_in(branch: Branch, number: int, before: int) -> list[Message]:
    """What both sides said in an earlier turn, without what tools returned."""
    if not 0 < number < before:
        return []
    turns = branch_turns(branch).filter(number=number)
    said = Q(role=Message.Role.USER) | Q(role=Message.Role.ASSISTANT, run=F("turn__run"))
    return list(Message.objects.filter(said, turn__in=turns).order_by("pk"))


def by_turn(search: Search, without: int, *, beside: bool) -> list[list[Ranked]]:
    """Of each turn with a message that has the words, or that means the same, all that is ranked. `beside`: words that
    stand beside a message will do, as an answer often lacks those of its question."""
    found: dict[int, list[Ranked]] = {}
    tells: dict[int, None] = {}
    for one in search.ranked:
        if one.found.number == without:
            continue
        found.setdefault(one.found.number, []).append(one)
        if one.own or one.meaning >= NEAR or (beside and one.near):
            tells.setdefault(one.found.number)
    return [found[number] for number in tells]


def hit_of(search: Search, one: Ranked, message: Message) -> Hit:
    span = (one.found.start, one.found.end)
    return Hit(turn=message.turn_id, message=message.pk, span=span, score=one.score, why=search.why(one))


def matches_of(found: Exchanges) -> Iterator[dict[str, Any]]:
    terms = found.search.query.terms
    shown = [(ranked[0], other_side(ranked)) for ranked in found.page]
    said = Message.objects.in_bulk([one.found.message for pair in shown for one in pair if one])
    for best, other in shown:
        at, effort = best.found, best.found.effort
        match = {"turn": at.number, **({"effort": effort} if effort else {}), "date": at.said_on}
        yield {
            **match,
            **side_of(best, said, terms, PASSAGE),
            **({"beside": side_of(other, said, terms, BESIDE)} if other else {}),
        }


def other_side(ranked: list[Ranked]) -> Ranked | None:
    """Of the exchange."""
    return next((one for one in ranked[1:] if one.found.role != ranked[0].found.role), None)


def side_of(one: Ranked, said: dict[int, Message], terms: tuple[str, ...], longest: int) -> dict[str, Any]:
    at = one.found
    text = piece_of(said[at.message].text[at.start : at.end], terms, longest)
    return {"role": at.role, "message": at.message, "text": text}


def piece_of(passage: str, terms: tuple[str, ...], longest: int = PASSAGE) -> str:
    """So much of a passage around its first word of the query as a model needs to go on."""
    first = next((start for start, _ in marks(passage, terms)), 0)
    start = min(max(0, first - longest // 3), max(0, len(passage) - longest))
    piece = passage[start : start + longest]
    return ("…" if start else "") + piece + ("…" if start + longest < len(passage) else "")


def read_message(context: ToolContext, *, id: int, offset: int) -> dict[str, Any]:
    row = Message.objects.filter(pk=id, turn__in=branch_turns(context.run.branch)).select_related("turn").first()
    if row and left_out(context.run.branch).filter(turn=row.turn).exists():
        raise ToolError(LEFT_OUT.format(row.turn.number))
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
