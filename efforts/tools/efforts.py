"""Efforts as the model handles them: the same changes that people make, and what can be asked about them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from efforts import actions
from efforts.domain.canonical import canonical_json, sha256
from efforts.domain.conversation import LogMessage, PastTurn
from efforts.domain.lifecycle import EffortStatus
from efforts.models import Branch, Effort, EffortState, Message, TurnLabel
from efforts.records import Hit, Retrieval, record_retrieval
from efforts.snapshots.efforts import EffortView, Standing, effort_views
from efforts.snapshots.expansion import free
from efforts.snapshots.sources import read_effort_log

from .base import ToolContext, ToolError
from .messages import said_before
from .words import hits, holding, passage, words_of

# A quarter of the smallest budget, in tokens.
READ_TOKENS = 1_000
MATCHES = 5
PASSAGE = 200
# So many efforts are about a thousand tokens.
LISTED = 20
# How much more a word counts in an id or a name, or in a headline, than in what was said.
IN_NAME, IN_HEADLINE, IN_LOG = 4, 2, 1
# Raise it when the same log, efforts and query give another ranking.
STRATEGY = "efforts-by-words/1"


def open_effort(context: ToolContext, *, name: str) -> dict[str, Any]:
    state = actions.open_effort(context.place, name)
    return {"opened": state.effort.slug, "name": state.effort.name}


def close_effort(context: ToolContext, *, id: str) -> dict[str, Any]:
    state = actions.close_effort(context.place, id or None)
    return {"concluded": state.effort.slug, "active": active_in(state), "summary": "follows after this turn"}


def reopen_effort(context: ToolContext, *, id: str) -> dict[str, Any]:
    state = actions.reopen_effort(context.place, id)
    return {"reopened": state.effort.slug, "active": active_in(state)}


def switch_effort(context: ToolContext, *, id: str) -> dict[str, Any]:
    return {"active": actions.switch_effort(context.place, id).effort.slug}


def expand_effort(context: ToolContext, *, id: str) -> dict[str, Any]:
    tokens = actions.expand_effort(context.place, id)
    slug = actions.effort_here(context.run.branch, id).slug
    return {"expanded": slug, "tokens": tokens, "note": "Its log is in your prompt now; answer from it."}


def collapse_effort(context: ToolContext, *, id: str) -> dict[str, Any]:
    return {"collapsed": actions.collapse_effort(context.place, id).effort.slug}


def active_in(state: EffortState) -> str | None:
    effort = state.branch.active_effort
    return effort.slug if effort else None


def effort_status(context: ToolContext) -> dict[str, Any]:
    """The efforts in the order of the page's panel, as many as the prompt can bear."""
    branch = branch_of(context)
    views = effort_views(branch)
    expanded = sum(view.tokens for view in views if view.standing == Standing.EXPANDED)
    status = {
        "active": next((view.slug for view in views if view.standing == Standing.ACTIVE), None),
        "efforts": [status_of(view) for view in views[:LISTED]],
        "expansions": {"tokens": expanded, "free": free(branch, context.run)},
    }
    left_out = len(views) - LISTED
    return status | {"not_listed": f"{left_out}; search_efforts finds them"} if left_out > 0 else status


def status_of(view: EffortView) -> dict[str, Any]:
    return {
        "id": view.slug,
        "name": view.name,
        "status": str(EffortStatus.OPEN if view.is_open else EffortStatus.CONCLUDED),
        "active": view.standing == Standing.ACTIVE,
        "expanded": view.standing == Standing.EXPANDED,
        "turns": view.turns,
        "raw_tokens": view.tokens,
        "prompt_tokens": view.prompt_tokens,
        "expand_tokens": max(view.tokens - view.headline_tokens, 0) if view.standing == Standing.CONCLUDED else 0,
    }


def search_efforts(context: ToolContext, *, query: str) -> dict[str, Any]:
    """By words of id, name and headline, and below those of what was said in the effort."""
    words = words_of(query.replace("-", " ").replace("_", " "))
    branch = branch_of(context)
    said = said_in_efforts(context, branch, words)
    views = effort_views(branch)
    scored = [(score(view, words, said.get(view.slug)), view) for view in views]
    ranked = [view for points, view in sorted(scored, key=lambda pair: (-pair[0], pair[1].slug)) if points]
    kept = ranked[:MATCHES]
    params = {"words": words, "kept": MATCHES, "efforts": fingerprint(views)}
    kept_hits = hits_of(context, kept, said, words)
    record_retrieval(
        context.run, Retrieval(query=query, strategy=STRATEGY, params=params, hits=kept_hits, found=len(ranked))
    )
    return {"matches": [match_of(view, words, said.get(view.slug)) for view in kept], "of": len(ranked)}


def fingerprint(views: Iterable[EffortView]) -> str:
    """Of what the ranking reads of efforts: these change without a message."""
    return sha256(canonical_json(sorted([view.slug, view.name, view.headline, view.tokens] for view in views)))


def hits_of(
    context: ToolContext, views: Sequence[EffortView], said: Mapping[str, Message], words: list[str]
) -> tuple[Hit, ...]:
    rows = Effort.objects.filter(session=context.run.turn.session_id, slug__in=[view.slug for view in views])
    efforts = {row.slug: row for row in rows}
    return tuple(hit_of(efforts[view.slug], view, words, said.get(view.slug)) for view in views)


def hit_of(effort: Effort, view: EffortView, words: list[str], said: Message | None) -> Hit:
    why = tuple(where for _, where in evidence(view, words, said))
    return Hit(effort=effort, turn=said.turn if said else None, message=said, score=score(view, words, said), why=why)


def said_in_efforts(context: ToolContext, branch: Branch, words: list[str]) -> dict[str, Message]:
    """Of each effort the message with most of the words, the newest of several."""
    newest = said_before(context).filter(holding(words)).select_related("turn").order_by("-id")[:1_000]
    best: dict[int, Message] = {}
    for row in newest:
        if row.turn_id not in best or hits(row.text, words) > hits(best[row.turn_id].text, words):
            best[row.turn_id] = row
    labelled = TurnLabel.objects.filter(branch=branch, turn__in=best).order_by("-turn__number")
    said: dict[str, Message] = {}
    for slug, turn_id in labelled.values_list("effort__slug", "turn"):
        if slug not in said or hits(best[turn_id].text, words) > hits(said[slug].text, words):
            said[slug] = best[turn_id]
    return said


def match_of(view: EffortView, words: list[str], said: Message | None) -> dict[str, Any]:
    return {
        "id": view.slug,
        "name": view.name,
        "status": str(EffortStatus.OPEN if view.is_open else EffortStatus.CONCLUDED),
        "headline": view.headline or None,
        "score": score(view, words, said),
        "passage": passage(said.text, words, PASSAGE) if said else None,
        "turn": said.turn.number if said else None,
    }


def score(view: EffortView, words: list[str], said: Message | None) -> int:
    return sum(weight for weight, _ in evidence(view, words, said))


def evidence(view: EffortView, words: list[str], said: Message | None) -> Iterator[tuple[int, str]]:
    """Each word counts once, where it counts most; with what it counts, and where it stands."""
    fields = [(IN_NAME, f"{view.slug} {view.name}", "its name"), (IN_HEADLINE, view.headline, "its summary")]
    if said:
        fields.append((IN_LOG, said.text, f"turn {said.turn.number}"))
    for word in words:
        found = [(weight, f"{word} in {where}") for weight, text, where in fields if hits(text, [word])]
        # The first of equals is the strongest: they stand in the order of their weights.
        yield from found[:1]


def read_effort(context: ToolContext, *, id: str, from_turn: int, to_turn: int) -> dict[str, Any]:
    """Whole turns of the effort, as many as fit; `next` is where to read on."""
    effort = actions.effort_here(context.run.branch, id)
    turns = read_effort_log(branch_of(context), effort).turns
    asked = [turn for turn in turns if from_turn <= turn.number and (turn.number <= to_turn or not to_turn)]
    if not asked:
        raise ToolError(no_such_turns(effort, turns))
    read, following = fitting(asked)
    return {
        "effort": effort.slug,
        "turns": [{"turn": turn.number, "messages": list(messages_of(turn))} for turn in read],
        "next": {"turn": following.number} if following else None,
    }


def no_such_turns(effort: Effort, turns: tuple[PastTurn, ...]) -> str:
    if not turns:
        return f"{effort.slug} has no finished turns."
    return f"{effort.slug} has no turn there. Its turns lie between {turns[0].number} and {turns[-1].number}."


def fitting(turns: list[PastTurn]) -> tuple[list[PastTurn], PastTurn | None]:
    """The first turns, one at least, and the one after them."""
    tokens = 0
    for index, turn in enumerate(turns):
        tokens += turn.cost
        if index and tokens > READ_TOKENS:
            return turns[:index], turn
    return turns, None


def messages_of(turn: PastTurn) -> Iterator[dict[str, Any]]:
    """What was said; `cut` is the id of a message of which only the beginning is here."""
    said = [message for message in turn.visible if message.role != "tool" and message.text]
    room = READ_TOKENS
    for message in said:
        yield whole_or_begun(message, max(room, READ_TOKENS // len(said)))
        room -= message.tokens


def whole_or_begun(message: LogMessage, room: int) -> dict[str, Any]:
    entry = {"role": message.role, "text": message.text}
    if message.tokens <= room:
        return entry
    return {**entry, "text": message.text[: len(message.text) * room // message.tokens], "cut": message.id}


def branch_of(context: ToolContext) -> Branch:
    # Anew: the run's own is as it was when the run began.
    return Branch.objects.select_related("session").get(pk=context.run.branch_id)
