"""Summaries of old turns, drafted for review as a conversation goes on: who asked for it, and whether it has earned it.

Each is made of turns as they were said, never of a summary, and none stands before a person has reviewed it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import UUID

from django.db import transaction
from django.db.models import Count, Exists, Min, OuterRef

from compaction.domain.artifact import Kind
from compaction.domain.limits import Purpose, packed
from compaction.domain.verdicts import Gate
from compaction.drafting.costs import largest_of
from compaction.models import Acceptance, Artifact, Check, GateRun
from efforts.actions import Place, here
from efforts.actions.conversations import lock_whole
from efforts.actions.scopes import draft_again, draft_turns, stop_compaction
from efforts.domain.effort.states import TO_BE_DRAFTED, PointerMoveKind, ReviewMode, ScopeKind, ScopeState
from efforts.domain.errors import Refused
from efforts.log import events
from efforts.log.timelines import finished_turns
from efforts.models import Branch, PointerMove, PointerTurn, ScopeDraft, Session

if TYPE_CHECKING:
    from django.contrib.auth.models import User

# Turns between two looks.
CADENCE = 20
# The newest ones stay as they are.
NEWEST = 10
# How much larger a source, with its headers, is than its turns in a prompt, rather too much than too little.
HEADERS = 1.4
# Put in line at one look: what a long conversation has behind it is caught up with bit by bit.
MOST_WINDOWS = 3
# Drafts of one window that came to nothing, until a person is to ask.
MOST_TRIES = 3
# Summaries of one's own choice that are looked at, and what they must have shown.
ENOUGH, LEAST_KEPT, MOST_ROLLED_BACK = 20, 0.95, 0.05

TOO_SOON = "Rolling summaries are not possible yet. {missing}"
FEW = "You have {made} of {enough} checked summaries of turns that you chose."
LOST = "{kept} of {made} kept every decision, to-do and rule at the first try; {needed} must."
TAKEN_BACK = "{rolled} of {made} were rolled back; {most} at most."


# Whether it is possible


@dataclass(frozen=True, kw_only=True)
class RollingRecord:
    """Of the newest summaries of chosen turns: how many there are, passed gate C at the first try, were rolled back."""

    made: int
    kept: int
    rolled_back: int

    @property
    def missing(self) -> tuple[str, ...]:
        """What is, in figures; nothing where it is possible."""
        return tuple(self.told())

    def told(self) -> Iterator[str]:
        if self.made < ENOUGH:
            yield FEW.format(made=self.made, enough=ENOUGH)
            return  # Shares of fewer say little.
        if self.kept < LEAST_KEPT * self.made:
            yield LOST.format(kept=self.kept, made=self.made, needed=least_of(self.made))
        if self.rolled_back > MOST_ROLLED_BACK * self.made:
            yield TAKEN_BACK.format(rolled=self.rolled_back, made=self.made, most=int(MOST_ROLLED_BACK * self.made))


def least_of(made: int) -> int:
    return -int(-LEAST_KEPT * made // 1)


def standing_of(user: User) -> RollingRecord:
    """Over all of the person's conversations, of what was checked; edits are of what was drafted, and count with it."""
    valid = Check.objects.filter(family=OuterRef("family"), void="")
    own = Artifact.objects.filter(Exists(valid), session__owner=user, kind=Kind.RANGE, version=1)
    newest = list(own.order_by("-created_at", "-pk").values_list("pk", flat=True)[:ENOUGH])
    first = GateRun.objects.filter(artifact__in=newest).values("artifact").annotate(first=Min("pk")).values("first")
    # Gate C, of a drafter that was not told what it had lost.
    kept = sum(
        any(one["gate"] == Gate.RETENTION and one["outcome"] == "pass" for one in judged.verdicts)
        and not judged.run.requests.filter(step="repair").exists()
        for judged in GateRun.objects.filter(pk__in=first).select_related("run")
    )
    return RollingRecord(made=len(newest), kept=kept, rolled_back=rolled_back(newest))


def rolled_back(artifacts: Sequence[str]) -> int:
    pointers = Acceptance.objects.filter(artifact__family__in=artifacts).values("pointer")
    moves = PointerMove.objects.filter(kind=PointerMoveKind.ROLLED_BACK, pointer__in=pointers)
    families = moves.values_list("pointer__acceptance__artifact__family", flat=True)
    return families.distinct().count()


# Asked for


def set_rolling(session: Session, on: bool, *, actor: User) -> Session:
    """Raises `Refused` with what is missing; it can always be switched off, and then nothing more is drafted."""
    if on and (missing := standing_of(session.owner).missing):
        raise Refused("not_earned", TOO_SOON.format(missing=" ".join(missing)))
    with transaction.atomic():
        lock_whole(session)
        if Session.objects.filter(pk=session.pk, rolling=not on).update(rolling=on):
            events.append(session.pk, "session.rolling", {"on": on}, actor=actor)
        if not on:
            stop_drafts(session, actor)
    session.rolling = on
    return session


def stop_drafts(session: Session, actor: User) -> None:
    waiting = ScopeDraft.objects.filter(branch__session=session, kind=ScopeKind.ROLLING, state__in=TO_BE_DRAFTED)
    for draft in waiting.select_related("branch"):
        # One that has ended meanwhile has ended.
        with suppress(Refused):
            stop_compaction(here(session, actor=actor, branch=draft.branch), draft)


# Put in line


def roll_on(branch: Branch) -> list[ScopeDraft]:
    """After a completed turn, within its transaction: what is old enough is put in line, every so many turns."""
    session = branch.session
    if not session.rolling or branch.clock == 0 or branch.clock % CADENCE:
        return []
    if session.review_mode == ReviewMode.NEVER or standing_of(session.owner).missing:
        return []
    place = here(session, actor=session.owner, branch=branch)
    again = failed_again(place)
    windows = windows_of(branch)[: MOST_WINDOWS - len(again)]
    return [*again, *(draft_turns(place, window, ScopeKind.ROLLING) for window in windows)]


def failed_again(place: Place) -> list[ScopeDraft]:
    """Those of which no draft came are put in line once more; one that is blocked waits for a person."""
    failed = ScopeDraft.objects.filter(
        branch=place.branch, kind=ScopeKind.ROLLING, state=ScopeState.FAILED, artifact=""
    ).annotate(tries=Count("runs"))
    failed = failed.filter(tries__lt=MOST_TRIES).order_by("pk")
    covered = PointerTurn.objects.filter(branch=place.branch, active=True).values_list("turn__number", flat=True)
    stands = set(covered) if failed else set()
    left = [draft for draft in failed if not stands & set(draft.turns)]
    return [draft_again(place, draft) for draft in left[:MOST_WINDOWS]]


def windows_of(branch: Branch) -> list[list[int]]:
    """Turns behind the last window and before the newest, for which no summary stands, by what one draft can hold."""
    turns = finished_turns(branch, before=branch.head - NEWEST + 1).filter(number__gt=last_window(branch))
    covered = PointerTurn.objects.filter(branch=branch, active=True).values("turn")
    sizes = turns.exclude(pk__in=covered).order_by("number").values_list("number", "tokens")
    return packed(sizes, int(largest_of(branch.session, Purpose.ROLLING) / HEADERS), longest=CADENCE)


def last_window(branch: Branch) -> int:
    """The last turn of the newest window in this timeline, 0 for none."""
    shared = {UUID(ancestor.branch): ancestor.last for ancestor in branch.ancestors}
    shared[branch.pk] = branch.head
    drafts = ScopeDraft.objects.filter(branch__in=shared, kind=ScopeKind.ROLLING).values_list("branch", "turns")
    return max((min(turns[-1], shared[owner]) for owner, turns in drafts if turns), default=0)
