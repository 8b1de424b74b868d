"""Chosen turns that are to be summarised: asked for, stopped, asked for again. What is made waits for a review."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import Max

from efforts.context.scopes import read_story
from efforts.context.sources import read_scope_log
from efforts.domain.effort.notices import span_said
from efforts.domain.effort.states import SCOPE_MOVES, TO_BE_DRAFTED, UNFINISHED, ScopeKind, ScopeState
from efforts.domain.errors import Refused
from efforts.log import events
from efforts.log.timelines import branch_turns
from efforts.models import Branch, ContextPointer, ScopeDraft, moves
from efforts.standins import compacting
from efforts.standins.compacting import Estimate
from efforts.standins.logs import SourceLog

from .places import Place, changing, record
from .pointers import contained
from .pointers import span_of as pointer_span

# Asked for once more, there is nothing else to do about the same turns.
UNDER_WAY = (*TO_BE_DRAFTED, ScopeState.READY)
WRONG_WAY_ROUND = "Turn {first} comes after turn {last}. Choose the earlier one first."
NO_SUCH_TURN = "There is no turn {number} here. Choose turns from 1 to {last}."
UNFINISHED_TURN = "Turn {number} has not ended. Wait for it, or choose turns before it."
NONE_FINISHED = "None of these turns has anything that could be summarised. Choose others."
LONGEST_FOCUS = 500
LONG_FOCUS = "What to keep in view has {has:,} characters; {most:,} is the most. Shorten it."
NOT_DRAFTED = "The summary of {span} is not being drafted, so there is nothing to stop."
UNDER_WAY_ALREADY = "The summary of {span} is being drafted already."


def compact_turns(
    place: Place, first: int, last: int, kind: ScopeKind = ScopeKind.INTENTIONAL, focus: str = ""
) -> ScopeDraft:
    """Have all finished turns from `first` to `last` summarised, with `focus` kept in view; the same turns again are
    the same draft."""
    focus = focus_of(focus)
    with changing(place) as branch:
        log = scope_between(branch, first, last)
        numbers = [turn.number for turn in log.turns]
        if known := under_way(branch, numbers, kind):
            return known
        check_scope(branch, log, kind)
        return draft_turns(place, numbers, kind, focus)


def draft_turns(place: Place, numbers: Sequence[int], kind: ScopeKind, focus: str = "") -> ScopeDraft:
    """Have just these turns summarised, of which the caller knows that they are finished and can be."""
    draft = ScopeDraft.objects.create(
        branch=place.branch, kind=kind, turns=list(numbers), actor=place.actor, focus=focus
    )
    request(place, draft)
    return draft


def under_way(branch: Branch, numbers: list[int], kind: ScopeKind) -> ScopeDraft | None:
    """The draft of just these turns that is still to be waited for, or to be reviewed, or that stands."""
    alike = ScopeDraft.objects.filter(branch=branch, kind=kind, state__in=UNDER_WAY).order_by("-pk")
    same = [draft for draft in alike if draft.turns == numbers]
    story = read_story(branch) if same else None
    return next((draft for draft in same if story and not story.is_over(draft)), None)


def scope_between(branch: Branch, first: int, last: int) -> SourceLog:
    """The finished turns from `first` to `last`. Raises `Refused` where there is none, or one has not ended."""
    if first > last:
        raise Refused("order", WRONG_WAY_ROUND.format(first=first, last=last))
    newest = branch_turns(branch).aggregate(last=Max("number"))["last"] or 0
    for number in (first, last):
        if not 1 <= number <= newest:
            raise Refused("unknown_turn", NO_SUCH_TURN.format(number=number, last=newest))
    return scope_of(branch, list(range(first, last + 1)))


def scope_of(branch: Branch, numbers: Sequence[int]) -> SourceLog:
    """The finished ones of these turns. Raises `Refused` where there is none, or one has not ended."""
    turns = branch_turns(branch).filter(number__in=numbers)
    running = turns.filter(run__state__in=UNFINISHED).order_by("number").first()
    if running:
        raise Refused("unfinished", UNFINISHED_TURN.format(number=running.number))
    log = read_scope_log(branch, numbers)
    if not log.turns:
        raise Refused("no_turns", NONE_FINISHED)
    return log


def check_scope(branch: Branch, log: SourceLog, kind: ScopeKind) -> None:
    """A stage of a package never stands in its own conversation, so nothing there is in its way."""
    if kind != ScopeKind.STAGE:
        contained(branch, log)
    if refusal := compacting.registered().estimate(branch, log, kind).refusal:
        raise Refused("too_large", refusal)


def focus_of(text: str) -> str:
    """In one line. Raises `Refused` where it is too long."""
    focus = " ".join(text.replace("\x00", "").split())
    if len(focus) > LONGEST_FOCUS:
        raise Refused("focus", LONG_FOCUS.format(has=len(focus), most=LONGEST_FOCUS))
    return focus


@dataclass(frozen=True, kw_only=True)
class ScopePreview:
    """What summarising turns would take, before it is done. `takes_over`: what stands for some of them now; `known`: a
    draft of just these turns; `refusal`: why it cannot be done."""

    span: str
    turns: int
    left_out: int
    estimate: Estimate
    takes_over: tuple[str, ...] = ()
    known: ScopeDraft | None = None
    stands: bool = False
    refusal: str = ""


def look_at_turns(branch: Branch, first: int, last: int, kind: ScopeKind = ScopeKind.INTENTIONAL) -> ScopePreview:
    """Raises `Refused` where these are no turns that could be chosen."""
    log = scope_between(branch, first, last)
    numbers = [turn.number for turn in log.turns]
    estimate = compacting.registered().estimate(branch, log, kind)
    over, refusal = standing_in(branch, log)
    known = under_way(branch, numbers, kind)
    return ScopePreview(
        span=span_said(first, last),
        turns=len(numbers),
        left_out=last - first + 1 - len(numbers),
        estimate=estimate,
        takes_over=tuple(pointer_span(pointer) for pointer in over),
        known=known,
        stands=known is not None and any(pointer.artifact == known.artifact for pointer in over),
        refusal=refusal or estimate.refusal,
    )


def standing_in(branch: Branch, log: SourceLog) -> tuple[list[ContextPointer], str]:
    """What it would take over from, or why it cannot."""
    try:
        return contained(branch, log), ""
    except Refused as error:
        return [], error.text


def stop_compaction(place: Place, draft: ScopeDraft) -> None:
    """Nobody waits for it any more; the log stays in the prompt. Raises `Refused` where it is not being drafted."""
    with changing(place):
        draft = fresh(place, draft)
        if draft.state not in TO_BE_DRAFTED:
            raise Refused("not_drafted", NOT_DRAFTED.format(span=span_of(draft)))
        move(draft, ScopeState.STOPPED)
        tell(place, "compaction.stopped", draft)
        transaction.on_commit(events.wake_runners)


def redraft_turns(place: Place, draft: ScopeDraft) -> ScopeDraft:
    """Have the same turns summarised anew, as they are now. Raises `Refused` where they are being drafted."""
    with changing(place) as branch:
        draft = fresh(place, draft)
        if draft.state in TO_BE_DRAFTED:
            raise Refused("drafted", UNDER_WAY_ALREADY.format(span=span_of(draft)))
        check_scope(branch, scope_of(branch, draft.turns), ScopeKind(draft.kind))
        return draft_again(place, draft)


def draft_again(place: Place, draft: ScopeDraft) -> ScopeDraft:
    """The same turns anew, of which the caller knows that they can be."""
    move(draft, ScopeState.DUE)
    request(place, draft)
    return draft


def fresh(place: Place, draft: ScopeDraft) -> ScopeDraft:
    found = ScopeDraft.objects.filter(pk=draft.pk, branch=place.branch).first()
    if found is None:
        raise Refused("unknown", "There is no such summary here.")
    return found


def move(draft: ScopeDraft, to: ScopeState) -> None:
    """Compare and swap: the runner changes it too."""
    said = f"The summary of {span_of(draft)} has just been changed by somebody else. Look again."
    ended: dict[str, Any] = {"owner_key": "", "expires_at": None, "artifact": "", "why": ""}
    moves.move(draft, to, SCOPE_MOVES, Refused("changed", said), **ended)


def request(place: Place, draft: ScopeDraft) -> None:
    tell(place, "compaction.requested", draft)
    transaction.on_commit(events.wake_runners)


def tell(place: Place, kind: str, draft: ScopeDraft) -> None:
    about = {"draft": draft.pk, "purpose": draft.kind, "first": draft.turns[0], "last": draft.turns[-1]}
    record(place, kind, None, **about)


def span_of(draft: ScopeDraft) -> str:
    return span_said(draft.turns[0], draft.turns[-1])
