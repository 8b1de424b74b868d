"""Efforts as the model handles them: the same changes that people make, and what can be asked about them."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from typing import Any

from efforts import actions
from efforts.context.efforts import EffortView, Standing, effort_views
from efforts.context.expansion import expanded_here, free
from efforts.context.ledger import open_work_of
from efforts.context.showing import in_the_prompt, planned_next, standing_in
from efforts.context.sources import read_effort_log, read_scope_log
from efforts.domain.effort.states import EffortStatus, ReviewMode
from efforts.domain.prompt.conversation import LogMessage, PastTurn
from efforts.domain.text.terms import query_terms
from efforts.log.exclusions import numbers_left_out
from efforts.memory.traces import Hit, Retrieval, record_retrieval
from efforts.models import Branch, EffortState, Message
from efforts.retrieval.efforts import EffortHit
from efforts.retrieval.efforts import search_efforts as rank_efforts
from efforts.retrieval.search import STRATEGY as PASSAGES
from efforts.retrieval.search import Search
from efforts.standins.chosen import chosen_pointers, chosen_turns, find_chosen, with_spans

from .base import ToolContext, ToolError
from .messages import EMPTY, piece_of

MATCHES = 5
STRATEGY = f"efforts/{PASSAGES}"
# So many efforts are about a thousand tokens.
LISTED = 20
NOT_THERE = ("nothing", 0)


def open_effort(context: ToolContext, *, name: str) -> dict[str, Any]:
    opened = actions.open_effort(context.place, name)
    name = opened.effort.name
    if opened.already:
        return {"already_open": opened.effort.slug, "name": name, "note": "Nothing new was opened; it is active now."}
    return {"opened": opened.effort.slug, "name": name}


def close_effort(context: ToolContext, *, id: str, said: str) -> dict[str, Any]:
    state = actions.close_effort(context.place, id or None, said)
    return {"concluded": state.effort.slug, "active": active_in(state), "summary": what_follows(state, said)}


def what_follows(state: EffortState, said: str) -> str:
    mode = state.branch.session.review_mode
    if mode == ReviewMode.NEVER:
        return "none: the user has none drafted"
    if mode == ReviewMode.ALWAYS:
        return "waits for the user, who reviews each"
    if state.said:
        return "follows after this turn"
    missing = "the user's words were not found in the message or are too few, so the summary "
    return f"{missing if said else ''}waits for the user"


def reopen_effort(context: ToolContext, *, id: str) -> dict[str, Any]:
    state = actions.reopen_effort(context.place, id)
    return {"reopened": state.effort.slug, "active": active_in(state)}


def switch_effort(context: ToolContext, *, id: str) -> dict[str, Any]:
    return {"active": actions.switch_effort(context.place, id).effort.slug}


def expand_effort(context: ToolContext, *, id: str, what: str) -> dict[str, Any]:
    tokens = actions.expand_effort(context.place, id, what)
    chosen = find_chosen(context.run.branch, id)
    slug = chosen.id if chosen else actions.effort_here(context.run.branch, id).slug
    branch = branch_of(context)
    return {"expanded": slug, "tokens": tokens, "note": in_the_prompt(branch, context.run, slug, 0, what)}


def collapse_effort(context: ToolContext, *, id: str) -> dict[str, Any]:
    return {"collapsed": actions.collapse_effort(context.place, id)}


def active_in(state: EffortState) -> str | None:
    effort = state.branch.active_effort
    return effort.slug if effort else None


def effort_status(context: ToolContext) -> dict[str, Any]:
    """The efforts in the order of the page's panel, as many as the prompt can bear."""
    branch = branch_of(context)
    views = effort_views(branch)
    chosen = with_spans(chosen_pointers(branch))
    stands = standing_in(planned_next(branch, context.run))
    expanded = sum(stands.get(id, NOT_THERE)[1] for id in expanded_here(branch))
    status: dict[str, Any] = {
        "active": next((view.slug for view in views if view.standing == Standing.ACTIVE), None),
        "efforts": [status_of(view, stands.get(view.slug, NOT_THERE)[1]) for view in views[:LISTED]],
        "expansions": {"tokens": expanded, "free": free(branch, context.run)},
    }
    if chosen:
        # Of more the newest: a message may name any of them all the same.
        status["summaries"] = [
            {"id": one.id, "in_prompt_as": stands.get(one.id, NOT_THERE)[0]} for one in chosen[-LISTED:]
        ]
    if work := open_work_of(branch, LISTED):
        status["open_work"] = [{"id": f"work-{one.id}", "text": one.text, "state": one.state} for one in work]
    left_out = len(views) - LISTED
    return status | {"not_listed": f"{left_out}; search_efforts finds them"} if left_out > 0 else status


def status_of(view: EffortView, tokens: int) -> dict[str, Any]:
    """`tokens`: what the next prompt has of it."""
    return {
        "id": view.slug,
        "name": view.name,
        "status": str(EffortStatus.OPEN if view.is_open else EffortStatus.CONCLUDED),
        "active": view.standing == Standing.ACTIVE,
        "expanded": view.standing == Standing.EXPANDED,
        "turns": view.turns,
        "raw_tokens": view.tokens,
        "prompt_tokens": tokens,
        "expand_tokens": max(view.tokens - tokens, 0) if view.standing == Standing.CONCLUDED else 0,
    }


def search_efforts(context: ToolContext, *, query: str) -> dict[str, Any]:
    """By id, name and summary, and below those by what was said in the effort."""
    if not query_terms(query):
        raise ToolError(EMPTY)
    turn = context.run.turn
    retrieval, search, found = find_efforts(branch_of(context), query, before=turn.number, today=turn.created_at.date())
    record_retrieval(context.run, retrieval)
    return {
        "matches": [match_of(*pair, search) for pair in found],
        "of": retrieval.found,
    }


def find_efforts(
    branch: Branch, query: str, *, before: int, today: date, snapshot: int | None = None
) -> tuple[Retrieval, Search, list[tuple[EffortHit, Message | None]]]:
    """The last are what was found, each with the message that tells of it."""
    found = rank_efforts(branch, query, before=before, today=today, snapshot=snapshot)
    best = found.hits[:MATCHES]
    said = Message.objects.in_bulk([hit.said.found.message for hit in best if hit.said])
    kept = [(hit, said.get(hit.said.found.message) if hit.said else None) for hit in best]
    hits = tuple(hit_of(*one) for one in kept)
    params = {**found.search.query.params, "kept": MATCHES, "efforts": found.fingerprint}
    retrieval = Retrieval(query=query, strategy=STRATEGY, params=params, hits=hits, found=len(found.hits))
    return retrieval, found.search, kept


def hit_of(hit: EffortHit, said: Message | None) -> Hit:
    turn, message = (said.turn_id, said.pk) if said else (None, None)
    return Hit(effort=hit.state.effort_id, turn=turn, message=message, score=hit.score, why=hit.why)


def match_of(found: EffortHit, message: Message | None, search: Search) -> dict[str, Any]:
    match = {
        "id": found.slug,
        "name": found.state.effort.name,
        "status": str(found.state.status),
        "headline": found.headline or None,
        "score": round(found.score, 2),
    }
    if not found.said or not message:
        return match
    said = found.said.found
    passage = piece_of(message.text[said.start : said.end], search.query.terms)
    return {**match, "passage": passage, "turn": said.number, "date": said.said_on}


def read_effort(context: ToolContext, *, id: str, from_turn: int, to_turn: int) -> dict[str, Any]:
    """Whole turns of the effort, as many as fit; `next` is where to read on."""
    slug, turns = log_of(branch_of(context), id)
    asked = [turn for turn in turns if from_turn <= turn.number and (turn.number <= to_turn or not to_turn)]
    if not asked:
        raise ToolError(no_such_turns(slug, turns))
    read, following = fitting(asked, context.reading)
    return {
        "effort": slug,
        "turns": [{"turn": turn.number, "messages": list(messages_of(turn, context.reading))} for turn in read],
        "next": {"turn": following.number} if following else None,
    }


def log_of(branch: Branch, id: str) -> tuple[str, tuple[PastTurn, ...]]:
    """Id and turns of an effort, or of chosen turns, without those that the person has left out."""
    slug, turns = whole_log(branch, id)
    gone = numbers_left_out(branch)
    return slug, tuple(turn for turn in turns if turn.number not in gone)


def whole_log(branch: Branch, id: str) -> tuple[str, tuple[PastTurn, ...]]:
    if chosen := find_chosen(branch, id):
        turns = chosen_turns(branch).filter(pointer=chosen.pointer)
        return chosen.id, read_scope_log(branch, list(turns.values_list("turn__number", flat=True))).turns
    effort = actions.effort_here(branch, id)
    return effort.slug, read_effort_log(branch, effort).turns


def no_such_turns(slug: str, turns: tuple[PastTurn, ...]) -> str:
    if not turns:
        return f"{slug} has no finished turns."
    return f"{slug} has no turn there. Its turns lie between {turns[0].number} and {turns[-1].number}."


def fitting(turns: list[PastTurn], room: int) -> tuple[list[PastTurn], PastTurn | None]:
    """The first turns, one at least, and the one after them."""
    tokens = 0
    for index, turn in enumerate(turns):
        tokens += turn.cost
        if index and tokens > room:
            return turns[:index], turn
    return turns, None


def messages_of(turn: PastTurn, room: int) -> Iterator[dict[str, Any]]:
    """What was said; `cut` is the id of a message of which only the beginning is here."""
    said = [message for message in turn.visible if message.role != "tool" and message.text]
    left = room
    for message in said:
        yield whole_or_begun(message, max(left, room // len(said)))
        left -= message.tokens


def whole_or_begun(message: LogMessage, room: int) -> dict[str, Any]:
    entry = {"role": message.role, "text": message.text}
    if message.tokens <= room:
        return entry
    return {**entry, "text": message.text[: len(message.text) * room // message.tokens], "cut": message.id}


def branch_of(context: ToolContext) -> Branch:
    # Anew: the run's own is as it was when the run began.
    return Branch.objects.select_related("session").get(pk=context.run.branch_id)
