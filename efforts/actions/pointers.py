"""Pointers: the text that stands in for turns, set, taken over, rolled back and taken away.

Every function belongs inside the transaction of a caller that holds the lock of the branch. Each step is a row of the
history (`PointerMove`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.db import models

from efforts.context.sources import labelled, read_scope_log, read_summary_log, summary_turn_ids
from efforts.domain.effort.chosen import BODY
from efforts.domain.effort.notices import STARTED_FROM, with_notice
from efforts.domain.effort.states import (
    POINTER_MOVES,
    UNFINISHED,
    EffortStatus,
    PointerMoveKind,
    PointerState,
    ReviewMode,
    SummaryState,
    Via,
)
from efforts.domain.errors import Refused
from efforts.llm.tokens import get_counter
from efforts.log import events, labels
from efforts.log.timelines import clock_of
from efforts.memory import references
from efforts.models import Branch, ContextPointer, Effort, EffortState, PointerMove, PointerTurn, TurnLabel, moves
from efforts.standins import compacting
from efforts.standins.chosen import chosen_turns
from efforts.standins.logs import SourceLog

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from efforts.models import Turn

NO_SUMMARY = {
    "summary": SummaryState.NONE,
    "summary_owner": "",
    "summary_expires_at": None,
    "draft": "",
    "focus": "",
    "artifact": "",
}
SUMMARY_DUE = {**NO_SUMMARY, "summary": SummaryState.DUE}
# A person has decided on these, or knows of them: they stay as they are when other turns are summarised.
SETTLED_BY_PEOPLE = (SummaryState.ROLLED_BACK, SummaryState.FAILED)


@dataclass(frozen=True, kw_only=True)
class StandIn:
    """What stands in, its tokens, and the id of the artifact that it is of; of none where it is too short for one.

    `text` is the short form; `headline` one line of it, for lists, notices and references. `body` is what stands first
    for chosen turns. `digest`: these are quotations.
    """

    text: str
    tokens: int
    headline: str
    digest: bool = False
    artifact: str = ""
    body: str = ""
    body_tokens: int = 0


def summary_due(branch: Branch) -> dict[str, Any]:
    """Of an effort that has just been concluded or whose log has changed; nothing is drafted where nothing may be."""
    never = branch.session.review_mode == ReviewMode.NEVER
    return dict(NO_SUMMARY if never else SUMMARY_DUE)


def stands_by(pointer: ContextPointer) -> dict[str, Any]:
    """Of an effort for which it stands. Beside a digest a draft may wait, and its state names that."""
    if pointer.digest:
        return {"summary": SummaryState.DIGEST}
    return {"summary": SummaryState.STANDS, "artifact": pointer.artifact}


def summary_rolled_back(artifact: str) -> dict[str, Any]:
    """The columns of an effort whose summary was rolled back."""
    return {**NO_SUMMARY, "summary": SummaryState.ROLLED_BACK, "artifact": artifact}


def set_pointer(
    branch: Branch,
    effort: Effort | None,
    log: SourceLog,
    standing: StandIn,
    *,
    actor: User | None,
    via: str,
    kind: PointerMoveKind = PointerMoveKind.ACCEPTED,
) -> ContextPointer:
    """`standing` stands in for all turns of `log` from now on; `effort` is None for chosen turns.

    Pointers whose turns it contains all of are superseded and kept as previous. Raises `Refused` where it shares only
    some turns with another.
    """
    earlier = contained(branch, log) if log.turn_ids else without_turns(branch, effort)
    for one in earlier:
        change(one, PointerState.SUPERSEDED)
    pointer = ContextPointer.objects.create(
        branch=branch,
        effort=effort,
        source_sha256=log.source.sha256,
        actor=actor,
        referenced_clock=clock_of(branch),
        **vars(standing),
    )
    PointerTurn.objects.bulk_create(
        [PointerTurn(pointer=pointer, branch=branch, turn_id=turn_id) for turn_id in log.turn_ids]
    )
    pointer.previous.set(earlier)
    note(branch, kind, pointer, before=earlier, after=[pointer], actor=actor, via=via)
    if effort:
        references.learn_headline(effort, standing.headline, log.turn_ids)
        if state_of(branch, effort).filter(expanded_turn__isnull=False, expanded_what=BODY).exists():
            keep_body(pointer)
    else:
        labels.recount_chosen(pointer)
        references.learn_chosen(pointer, log.turn_ids)
        settle_efforts(branch, log.turn_ids)
    return pointer


def keep_body(pointer: ContextPointer) -> bool:
    """It has the whole of its summary from now on; false where there is no more than its line."""
    body = body_of(pointer)
    if body and not pointer.body:
        tokens = get_counter(settings.CCM_ENCODING).count(body)
        ContextPointer.objects.filter(pk=pointer.pk).update(body=body, body_tokens=tokens)
    return bool(body)


def body_of(pointer: ContextPointer) -> str:
    """The whole of the summary; empty where there is no more than its line."""
    return pointer.body or (compacting.registered().body_of(pointer.artifact) if pointer.artifact else "")


def contained(branch: Branch, log: SourceLog) -> list[ContextPointer]:
    """The active pointers that share a turn with the log. Raises `Refused` where one has others too."""
    inside = set(log.turn_ids)
    clashing = active_over(branch, inside)
    beyond = [pointer for pointer in clashing if not set(turns_of(pointer)) <= inside]
    if beyond:
        spans = "; ".join(span_of(pointer) for pointer in beyond)
        raise Refused("clash", f"It shares turns with what is in use already: {spans}. Roll these back first.")
    return clashing


def without_turns(branch: Branch, effort: Effort | None) -> list[ContextPointer]:
    """What stands for an effort that has no turns, or for turns of other conversations and none of its own: the next
    version takes over from it."""
    standing = ContextPointer.objects.filter(branch=branch, effort=effort, state=PointerState.ACTIVE, scope=None)
    return list(standing.order_by("pk"))


def active_over(branch: Branch, turn_ids: Collection[int]) -> list[ContextPointer]:
    """What stands for any of these turns, the oldest first."""
    covered = PointerTurn.objects.filter(branch=branch, active=True, turn__in=turn_ids).values("pointer")
    return list(ContextPointer.objects.filter(pk__in=covered).select_related("effort").order_by("pk"))


def span_of(pointer: ContextPointer) -> str:
    """What it stands for, in words."""
    bounds = bounds_of(pointer)
    if not bounds["first"]:
        return STARTED_FROM
    name = pointer.effort.slug if pointer.effort else "chosen turns"
    first, last = bounds["first"], bounds["last"]
    return f"{name} (turn {first})" if first == last else f"{name} (turns {first}-{last})"


def bounds_of(pointer: ContextPointer) -> dict[str, int]:
    """The numbers of its first and last turn."""
    turns = PointerTurn.objects.filter(pointer=pointer)
    return turns.aggregate(first=models.Min("turn__number"), last=models.Max("turn__number"))


def turns_of(pointer: ContextPointer) -> list[int]:
    """The rows of the turns that it stands for."""
    return list(PointerTurn.objects.filter(pointer=pointer).values_list("turn", flat=True))


def change(pointer: ContextPointer, to: PointerState) -> None:
    """Compare and swap: raises `Refused` where somebody else has changed it."""
    moves.move(
        pointer,
        to,
        POINTER_MOVES,
        Refused("changed", "Somebody else has just changed the summary of these turns. Look again."),
    )
    PointerTurn.objects.filter(pointer=pointer).update(active=to == PointerState.ACTIVE)


def note(
    branch: Branch,
    kind: PointerMoveKind,
    pointer: ContextPointer,
    *,
    before: Iterable[ContextPointer],
    after: Iterable[ContextPointer],
    actor: User | None,
    via: str,
    reason: str = "",
) -> PointerMove:
    return PointerMove.objects.create(
        branch=branch,
        kind=kind,
        pointer=pointer,
        before=[one.pk for one in before],
        after=[one.pk for one in after],
        actor=actor,
        via=via,
        reason=reason,
        clock=clock_of(branch),
    )


# Back


def roll_back(
    branch: Branch, pointer: ContextPointer, *, actor: User | None, via: str, reason: str = ""
) -> list[ContextPointer]:
    """It stands no longer; what stands again instead: of each part of its turns the nearest earlier pointer whose
    source still holds, else the log, of which there is none in the list."""
    turn_ids = turns_of(pointer)
    change(pointer, PointerState.ROLLED_BACK)
    if pointer.effort:
        rolled_back = summary_rolled_back(pointer.artifact)
        state_of(branch, pointer.effort).update(**rolled_back, expanded_turn=None)
    else:
        ContextPointer.objects.filter(pk=pointer.pk).update(expanded_turn=None)
    restored = restore_before(branch, pointer)
    settle_efforts(branch, turn_ids)
    kind = PointerMoveKind.ROLLED_BACK
    note(branch, kind, pointer, before=[pointer], after=restored, actor=actor, via=via, reason=reason)
    return restored


def restore_before(branch: Branch, pointer: ContextPointer) -> list[ContextPointer]:
    restored: list[ContextPointer] = []
    waiting = list(pointer.previous.select_related("effort"))
    while waiting:
        # Chosen turns first: the summary of an effort is of the turns that they leave to it.
        waiting.sort(key=lambda one: (one.effort is not None, one.pk))
        earlier = waiting.pop(0)
        if earlier.state == PointerState.SUPERSEDED and still_holds(branch, earlier):
            restore(branch, earlier)
            restored.append(earlier)
        else:
            waiting += earlier.previous.select_related("effort")
    return restored


def restore(branch: Branch, pointer: ContextPointer) -> None:
    change(pointer, PointerState.ACTIVE)
    if pointer.effort:
        state_of(branch, pointer.effort).update(**NO_SUMMARY | stands_by(pointer))
    else:
        clock = clock_of(branch)
        back = {"referenced_clock": clock, "shortened_clock": None, "evicted_clock": None}
        ContextPointer.objects.filter(pk=pointer.pk).update(**back)
        labels.recount_chosen(pointer)


def still_holds(branch: Branch, pointer: ContextPointer) -> bool:
    """Whether it would stand for just the turns that it was made of, and none of them says anything else now."""
    turn_ids = set(turns_of(pointer))
    if not turn_ids and pointer.effort is None:
        # Of other conversations: nothing here says otherwise.
        return not without_turns(branch, None)
    if active_over(branch, turn_ids):
        return False
    log = log_of(branch, pointer)
    return log is not None and set(log.turn_ids) == turn_ids and log.source.is_what(pointer.source_sha256)


def log_of(branch: Branch, pointer: ContextPointer) -> SourceLog | None:
    """What it would stand for now; None where turns of it have not ended, or its effort is open."""
    if pointer.effort is None:
        turns = PointerTurn.objects.filter(pointer=pointer)
        if turns.filter(turn__run__state__in=UNFINISHED).exists():
            return None
        return read_scope_log(branch, list(turns.values_list("turn__number", flat=True)))
    if not state_of(branch, pointer.effort).filter(status=EffortStatus.CONCLUDED).exists():
        return None
    return read_summary_log(branch, pointer.effort) if all_ended(branch, pointer.effort) else None


def all_ended(branch: Branch, effort: Effort) -> bool:
    """Whether no turn of the effort is waiting or running."""
    return not labelled(branch, effort).filter(run__state__in=UNFINISHED).exists()


# Away


def end_pointer(branch: Branch, effort: Effort, *, via: str = "changed") -> None:
    """What stands for the effort, if anything does, stands no longer."""
    for pointer in active_pointers(branch, effort):
        change(pointer, PointerState.INVALIDATED)
        note(branch, PointerMoveKind.INVALIDATED, pointer, before=[pointer], after=[], actor=None, via=via)


def source_changes(branch: Branch, turn: Turn) -> None:
    """A concluded effort that `turn` belongs to is summarised anew: what it said is about to be another. One whose
    summary a person rolled back is not."""
    for label in TurnLabel.objects.filter(branch=branch, turn=turn).select_related("effort"):
        concluded = state_of(branch, label.effort).filter(status=EffortStatus.CONCLUDED)
        if concluded.exclude(summary=SummaryState.ROLLED_BACK).update(**summary_due(branch)):
            end_pointer(branch, label.effort, via="turn")


def words_change(branch: Branch, turn: Turn, actor: User) -> None:
    """What the turn says is about to be another: no summary of chosen turns stands for it any more.

    Its next run is queued already.
    """
    for pointer in active_over(branch, [turn.pk]):
        if pointer.effort is None:
            invalidate(branch, pointer, actor)


def invalidate(branch: Branch, pointer: ContextPointer, actor: User) -> None:
    """What stood before for others of its turns stands again, as far as it still holds."""
    change(pointer, PointerState.INVALIDATED)
    restored = restore_before(branch, pointer)
    note(branch, PointerMoveKind.INVALIDATED, pointer, before=[pointer], after=restored, actor=None, via="turn")
    again = [one.artifact for one in restored if one.effort is None]
    told = {"artifact": pointer.artifact, **bounds_of(pointer), "text": pointer.headline, "restored": again}
    told["digest"] = pointer.digest
    data = {**about(branch), **told}
    events.append(branch.session_id, "compaction.invalidated", data, actor=actor)
    settle_efforts(branch, turns_of(pointer))


def about(branch: Branch) -> dict[str, Any]:
    return {"turn": branch.head, "branch": str(branch.pk), "clock": clock_of(branch), "via": str(Via.CONTROL)}


def settle_efforts(branch: Branch, turn_ids: Collection[int]) -> None:
    """Concluded efforts of these turns, after a summary of chosen turns came or went: what stands for an effort stands
    for all of its turns but those that are chosen, or it is made anew."""
    efforts = TurnLabel.objects.filter(branch=branch, turn__in=turn_ids).values_list("effort", flat=True)
    settle_concluded(branch, set(efforts))


def settle_concluded(branch: Branch, efforts: Collection[int]) -> None:
    """Each of these efforts that is concluded gets a summary of what is left of it, or none."""
    states = EffortState.objects.filter(branch=branch, effort__in=efforts, status=EffortStatus.CONCLUDED)
    for state in states.select_related("effort").order_by("pk"):
        settle_effort(branch, state)


def settle_effort(branch: Branch, state: EffortState) -> None:
    """What stands for turns that the effort does not have any more ends; what is left of it is drafted again,
    unless a person has decided."""
    left = summary_turn_ids(branch, state.effort)
    if pointer := active_pointers(branch, state.effort).first():
        if set(turns_of(pointer)) == left:
            return
        end_pointer(branch, state.effort, via="turn")
    if state.summary in SETTLED_BY_PEOPLE:
        return
    if is_covered(branch, state.effort):
        cover(branch, state)
    else:
        state_of(branch, state.effort).update(**summary_due(branch))


def cover(branch: Branch, state: EffortState) -> None:
    covered = {**NO_SUMMARY, "summary": SummaryState.COVERED, "expanded_turn": None}
    state_of(branch, state.effort).update(**covered)
    if state.expanded_turn is not None:
        data = {**about(branch), "effort": state.effort.slug, "why": "covered"}
        events.append(branch.session_id, "effort.collapsed", with_notice("effort.collapsed", data))


def is_covered(branch: Branch, effort: Effort) -> bool:
    """Whether summaries of chosen turns stand for all that it has; for a turn that has not ended none can."""
    chosen = chosen_turns(branch).filter(turn__in=labelled(branch, effort))
    return chosen.exists() and all_ended(branch, effort) and not summary_turn_ids(branch, effort)


def state_of(branch: Branch, effort: Effort) -> models.QuerySet[EffortState]:
    return EffortState.objects.filter(branch=branch, effort=effort)


def digest_stands(branch: Branch, effort: Effort) -> bool:
    """Whether excerpts stand for it, and no summary."""
    return active_pointers(branch, effort).filter(digest=True).exists()


def active_pointers(branch: Branch, effort: Effort) -> models.QuerySet[ContextPointer]:
    """At most one: what stands for the effort in this branch."""
    return ContextPointer.objects.filter(branch=branch, effort=effort, state=PointerState.ACTIVE)


def restore_latest(branch: Branch, effort: Effort, **wanted: Any) -> ContextPointer | None:
    """Of an effort that is concluded again, or whose log has changed back: what stood for just this log stands again,
    unless the person has rolled a summary back meanwhile."""
    if state_of(branch, effort).filter(summary=SummaryState.ROLLED_BACK).exists():
        return None
    ended = ContextPointer.objects.filter(branch=branch, effort=effort, state=PointerState.INVALIDATED, **wanted)
    # A long log is not read for nothing.
    if not ended.exists():
        return None
    same = ended.filter(source_sha256__in=read_summary_log(branch, effort).source.hashes)
    pointer = same.select_related("effort").order_by("-pk").first()
    if pointer is None or not still_holds(branch, pointer):
        return None
    restore(branch, pointer)
    note(branch, PointerMoveKind.RESTORED, pointer, before=[], after=[pointer], actor=None, via="undo")
    return pointer


def copy_pointer(branch: Branch, pointer: ContextPointer, log: SourceLog) -> ContextPointer:
    """What stands for the same turns in another branch stands here too."""
    standing = StandIn(**{name: getattr(pointer, name) for name in StandIn.__dataclass_fields__})
    kind = PointerMoveKind.COPIED
    copied = set_pointer(branch, pointer.effort, log, standing, actor=pointer.actor, via="fork", kind=kind)
    if pointer.artifact:
        compacting.registered().copied(pointer.artifact, copied, pointer.actor)
    return copied
