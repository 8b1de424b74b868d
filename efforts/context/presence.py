"""Whether what stands for turns is in the next prompt: not while its turns are expanded, nor when it has left. And what
the model sees of them, in the one sentence that every page says.
"""

from __future__ import annotations

from collections.abc import Collection
from enum import StrEnum

from efforts.context.holds import rows_of
from efforts.domain.effort.chosen import BODY, RAW
from efforts.domain.effort.states import HoldState
from efforts.domain.prompt.layers import runs_of, span_within
from efforts.models import Branch, ContextPointer, EffortState, PointerTurn
from efforts.standins.seen import shortened

SUMMARY, QUOTES = "the summary", "excerpts"
SHORT = "the short summary ({sent} of its {all} claims)"


class Presence(StrEnum):
    SENT = "sent"
    # All of it is sent, not only what stands first.
    FULL = "full"
    # The model is sent the turns instead.
    EXPANDED = "expanded"
    # Neither is sent: nothing has mentioned them for too long.
    LEFT = "left"


def presence_of(pointer: ContextPointer) -> Presence:
    return presences_of([pointer])[pointer.pk]


def presences_of(pointers: Collection[ContextPointer]) -> dict[int, Presence]:
    """By pointer, of those that stand; one query however many they are."""
    of_efforts = [one for one in pointers if one.effort_id]
    # Not each pair by itself: SQLite takes no more than a thousand of these.
    states = EffortState.objects.filter(
        branch__in={one.branch_id for one in of_efforts}, effort__in={one.effort_id for one in of_efforts}
    )
    efforts = {(one.branch_id, one.effort_id): one for one in states}
    return {one.pk: presence(one, efforts.get((one.branch_id, one.effort_id or 0))) for one in pointers}


def presence(pointer: ContextPointer, effort: EffortState | None) -> Presence:
    if pointer.effort_id is None:
        return presence_by(pointer.expanded_turn, RAW, pointer.evicted_clock)
    return Presence.SENT if effort is None else presence_of_effort(effort)


def presence_of_effort(effort: EffortState) -> Presence:
    return presence_by(effort.expanded_turn, effort.expanded_what, effort.evicted_clock)


def presence_by(expanded: int | None, what: str, evicted: int | None) -> Presence:
    if expanded is not None:
        return Presence.FULL if what == BODY else Presence.EXPANDED
    return Presence.SENT if evicted is None else Presence.LEFT


# What the model sees


SEES = {
    Presence.SENT: (
        "The model sees {what} instead of {turns}. When a message refers to details of these turns, matching passages "
        "are found and sent with it."
    ),
    Presence.FULL: "The model sees the full summary instead of {turns} now.",
    Presence.EXPANDED: "The model sees {turns} now. Once collapsed, it sees {what} instead.",
    Presence.LEFT: (
        "The model sees nothing of {turns} now but what other turns quote, as nothing has mentioned them for a while. "
        "When a message refers to details of these turns, matching passages are found and sent with it. A mention "
        "brings back {what}."
    ),
}
WITH_PINNED = (
    "The model sees {what} instead of {turns}. Pinned, so still sent: {pinned}. When a message refers to details of "
    "these turns, matching passages are found and sent with it."
)
FULL_SUMMARY = "the full summary"
NO_MODEL = "No model has checked the excerpts."


def pinned_among(branch: Branch, numbers: Collection[int]) -> tuple[int, ...]:
    """Those of these turns that stay in the prompt whatever replaces the others."""
    held = rows_of(branch, HoldState.STANDING).filter(turn__number__in=numbers)
    return tuple(sorted(set(held.values_list("turn__number", flat=True))))


def without(turns: Collection[int], pinned: Collection[int]) -> tuple[int, ...]:
    """The turns that come and go with what replaces them; all of them where every one is pinned, so that they have a
    name."""
    return tuple(sorted(set(turns).difference(pinned) or turns))


def sees(what: str, turns: Collection[int], presence: Presence, pinned: Collection[int] = ()) -> str:
    """`what` stands for `turns`; `pinned` are those of them that are sent with it."""
    if pinned and presence in (Presence.SENT, Presence.FULL):
        seen = FULL_SUMMARY if presence == Presence.FULL else what
        replaced = span_within(runs_of(without(turns, pinned)))
        told = WITH_PINNED.format(what=seen, turns=replaced, pinned=span_within(runs_of(sorted(pinned))))
    else:
        told = SEES[presence].format(what=what, turns=span_within(runs_of(sorted(turns))))
    return f"{told} {NO_MODEL}" if what == QUOTES else told


def seen_of(branch: Branch, pointers: Collection[ContextPointer]) -> dict[int, str]:
    """By pointer, of those that stand in the branch, what the model sees of their turns."""
    by_pointer: dict[int, list[int]] = {}
    rows = PointerTurn.objects.filter(pointer__in=[one.pk for one in pointers]).order_by("turn__number")
    for pointer, number in rows.values_list("pointer", "turn__number"):
        by_pointer.setdefault(pointer, []).append(number)
    pinned = set(pinned_among(branch, {number for numbers in by_pointer.values() for number in numbers}))
    present = presences_of(pointers)
    short = shortened([one.artifact for one in pointers if one.artifact and not one.digest])
    return {
        one.pk: sees(
            QUOTES if one.digest else named(short.get(one.artifact)),
            numbers,
            present[one.pk],
            pinned.intersection(numbers),
        )
        for one in pointers
        if (numbers := by_pointer.get(one.pk))
    }


def named(claims: tuple[int, int] | None) -> str:
    """What stands first of a summary; `claims`: how many of how many that has, where it leaves some out."""
    return SHORT.format(sent=claims[0], all=claims[1]) if claims else SUMMARY
