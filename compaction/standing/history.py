"""What has stood in for what: every move of pointers, in words."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.core.paginator import Page, Paginator
from django.db.models import Exists, OuterRef, Q, QuerySet, Subquery

from compaction.models import Acceptance, Artifact
from efforts.context.presence import Presence, presences_of
from efforts.domain.effort.states import PointerMoveKind, PointerState
from efforts.domain.prompt.layers import runs_of, span_title
from efforts.models import Branch, ContextPointer, PointerMove, PointerTurn

PER_PAGE = 10

# Of a kind of move: what happened, and the icon of it.
KINDS = {
    PointerMoveKind.ACCEPTED: ("Accepted", "check"),
    PointerMoveKind.ROLLED_BACK: ("Rolled back", "undo"),
    PointerMoveKind.INVALIDATED: ("No longer in use", "alert"),
    PointerMoveKind.RESTORED: ("In use again", "check"),
    PointerMoveKind.COPIED: ("Taken along by a new branch", "branch"),
}
UNASKED = "In use without a review"
# As its page has it: who puts back what was rolled back has not said that they read it.
USED_AGAIN = "Used again"
HOW = {
    "control": "after the effort was concluded",
    "offer": "after the offer in the chat was accepted",
    "model": "after the effort was concluded in the chat",
    "aged": "as nothing had mentioned the effort for a while",
    "chat": "in the chat",
    "review": "on its review page",
    "admin": "in the admin",
    "fork": "as the branch was made",
    "turn": "its turns are others now",
    "changed": "its effort was opened again",
    "undo": "the reopening was taken back",
    "seed": "as the conversation was started",
}
NOBODY = "CCM Web"
# Ways in which a person says yes to the text itself. Otherwise it came to stand by itself.
BY_A_PERSON = ("review", "chat", "admin")
# A draft that passed every gate, or excerpts, as the effort was concluded or faded.
ASKED_NOBODY = ("control", "offer", "model", "aged")


@dataclass(frozen=True, kw_only=True)
class Stood:
    """One thing that can stand for turns: a summary, excerpts (`digest`), or their log. `artifact` is what it can be
    read on."""

    turns: str
    of: str = ""
    artifact: str = ""
    by: str = ""
    since: datetime | None = None
    digest: bool = False

    @property
    def name(self) -> str:
        if self.since is None:
            return f"the log of {self.turns}" if self.turns else "nothing"
        return f"the {'excerpts' if self.digest else 'summary'} of {self.of}{f' ({self.turns})' if self.turns else ''}"


@dataclass(frozen=True, kw_only=True)
class PointerMoveView:
    kind: str
    what: str
    icon: str
    at: datetime
    who: str
    how: str
    reason: str
    branch: Branch
    before: tuple[Stood, ...]
    after: tuple[Stood, ...]


@dataclass(frozen=True, kw_only=True)
class StandingView:
    """What stands in a branch now."""

    pointer: ContextPointer
    stood: Stood
    presence: Presence


@dataclass(frozen=True, kw_only=True)
class History:
    page: Page[Any]
    moves: tuple[PointerMoveView, ...]


def history_of(artifact: Artifact, page: int | str = 1) -> History:
    """Of all versions of an artifact, and of what has taken over from them."""
    versions = Artifact.objects.filter(family=artifact.family).values("pk")
    mine = ContextPointer.objects.filter(branch__session=artifact.session_id, artifact__in=versions)
    about = Q(pointer__in=mine) | Q(pointer__in=ContextPointer.objects.filter(previous__in=mine))
    return paged(PointerMove.objects.filter(about), page)


def history_in(branch: Branch, page: int | str = 1) -> History:
    return paged(PointerMove.objects.filter(branch=branch), page)


def paged(moves: QuerySet[PointerMove], page: int | str) -> History:
    newest = moves.select_related("actor", "branch", "pointer").order_by("-pk")
    shown = Paginator(newest, PER_PAGE).get_page(page)
    return History(page=shown, moves=tuple(views_of(list(shown))))


def last_move(branch: Branch, pinned: Collection[int] = ()) -> PointerMoveView | None:
    """`pinned`: turns that no log of it names, as they neither come nor go."""
    newest = PointerMove.objects.filter(branch=branch).select_related("actor", "branch", "pointer").order_by("-pk")[:1]
    return next(iter(views_of(list(newest), pinned)), None)


def views_of(moves: Sequence[PointerMove], pinned: Collection[int] = ()) -> Iterable[PointerMoveView]:
    named = {pk for move in moves for pk in (move.pointer_id, *move.before, *move.after)}
    pointers = ContextPointer.objects.select_related("effort", "actor").in_bulk(named)
    turns, agreed, again = turns_by_pointer(named), accepted_by_people(named), used_again(named)
    for move in moves:
        what, icon = KINDS[PointerMoveKind(move.kind)]
        is_set = move.kind == PointerMoveKind.ACCEPTED
        alone = is_set and move.via in ASKED_NOBODY
        is_again = is_set and move.pointer_id in again
        yield PointerMoveView(
            kind=move.kind,
            what=UNASKED if alone else USED_AGAIN if is_again else what,
            icon=icon,
            at=move.created_at,
            who=move.actor.get_username() if move.actor and not alone else NOBODY,
            how=HOW.get(move.via, move.via),
            reason=move.reason,
            branch=move.branch,
            before=side(move, move.before, pointers, turns, agreed, pinned),
            after=side(move, move.after, pointers, turns, agreed, pinned),
        )


def side(
    move: PointerMove,
    stood: Sequence[int],
    pointers: Mapping[int, ContextPointer],
    turns: Mapping[int, Sequence[int]],
    agreed: Collection[int],
    pinned: Collection[int],
) -> tuple[Stood, ...]:
    """The pointers of one side of a move, and the log of those of its turns that none of them stands for, but for what
    is `pinned`."""
    known = [pk for pk in stood if pk in pointers]
    summaries = [stood_of(pointers[pk], turns.get(pk, ()), agreed) for pk in known]
    covered = {number for pk in known for number in turns.get(pk, ())}
    rest = [number for number in turns.get(move.pointer_id, ()) if number not in covered and number not in pinned]
    log = [Stood(turns=title_of(rest))] if rest or not summaries else []
    return (*summaries, *log)


def stood_now(pointers: Iterable[ContextPointer]) -> tuple[Stood, ...]:
    found = list(pointers)
    pks = {pointer.pk for pointer in found}
    turns, agreed = turns_by_pointer(pks), accepted_by_people(pks)
    return tuple(stood_of(pointer, turns.get(pointer.pk, ()), agreed) for pointer in found)


def accepted_by_people(pointers: Collection[int]) -> set[int]:
    """Those that a person said yes to, not set as an effort was concluded; a fork's copy, where one had by then."""
    first = Acceptance.objects.filter(artifact=OuterRef("artifact"), via__in=BY_A_PERSON, pk__lt=OuterRef("pk"))
    said = Q(via__in=BY_A_PERSON) | Q(via="fork") & Exists(first)
    return set(Acceptance.objects.filter(said, pointer__in=pointers).values_list("pointer", flat=True))


def used_again(pointers: Collection[int]) -> set[int]:
    """Those set where the same text had been rolled back just before."""
    same = ContextPointer.objects.filter(
        branch=OuterRef("branch"), artifact=OuterRef("artifact"), pk__lt=OuterRef("pk")
    )
    before = Subquery(same.order_by("-pk").values("state")[:1])
    rows = ContextPointer.objects.filter(pk__in=pointers).alias(before=before)
    return set(rows.filter(before=PointerState.ROLLED_BACK).values_list("pk", flat=True))


def stood_of(pointer: ContextPointer, numbers: Collection[int], agreed: Collection[int]) -> Stood:
    return Stood(
        turns=title_of(numbers),
        of=pointer.effort.name if pointer.effort else "chosen turns" if numbers else "other conversations",
        artifact=pointer.artifact,
        by=pointer.actor.get_username() if pointer.actor and pointer.pk in agreed else "",
        since=pointer.created_at,
        digest=pointer.digest,
    )


def title_of(numbers: Collection[int]) -> str:
    title = span_title(runs_of(list(numbers))) if numbers else ""
    return title[:1].lower() + title[1:]


def turns_by_pointer(pointers: Collection[int]) -> dict[int, list[int]]:
    """Numbers of their turns, in order."""
    found: dict[int, list[int]] = {}
    rows = PointerTurn.objects.filter(pointer__in=pointers).order_by("turn__number")
    for pointer, number in rows.values_list("pointer", "turn__number"):
        found.setdefault(pointer, []).append(number)
    return found


def standing_in(branch: Branch) -> tuple[StandingView, ...]:
    """What stands in for turns of the branch, newest first."""
    return stands(ContextPointer.objects.filter(branch=branch))


def standing_of_artifact(artifact_id: str) -> tuple[StandingView, ...]:
    """In all branches where it stands."""
    return stands(ContextPointer.objects.filter(artifact=artifact_id))


def stands(pointers: QuerySet[ContextPointer]) -> tuple[StandingView, ...]:
    active = pointers.filter(state=PointerState.ACTIVE)
    rows = list(active.select_related("effort", "actor", "branch").order_by("-pk"))
    present = presences_of(rows)
    return tuple(
        StandingView(pointer=row, stood=stood, presence=present[row.pk])
        for row, stood in zip(rows, stood_now(rows), strict=True)
    )
