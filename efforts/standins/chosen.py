"""Chosen turns for which a summary stands, read in O(what may be shown)."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from django.db.models import Exists, Max, Min, OuterRef, Q, QuerySet

from efforts.domain.effort.chosen import SEED, id_of, span_of
from efforts.domain.effort.states import PointerState
from efforts.domain.prompt.conversation import Headline
from efforts.log.timelines import branch_turns
from efforts.models import Branch, ContextPointer, PointerTurn
from efforts.models.prepared import prepared


@dataclass(frozen=True, kw_only=True)
class Chosen:
    """One summary that stands, with the numbers of the first and last of its turns; 0 where these are of other
    conversations. `said_on`: the ISO date of the last."""

    pointer: ContextPointer
    first: int
    last: int
    said_on: str = ""

    @property
    def id(self) -> str:
        return id_of(self.first, self.last)

    @property
    def is_expanded(self) -> bool:
        return self.pointer.expanded_turn is not None

    @property
    def is_whole(self) -> bool:
        """Not in one line, nor out of the prompt."""
        return self.pointer.shortened_clock is None and self.pointer.evicted_clock is None

    @property
    def since(self) -> int:
        """The clock from which it ages: its one line has as many turns as the whole had before it."""
        return max(self.pointer.referenced_clock, self.pointer.shortened_clock or 0)

    @property
    def tier(self) -> str:
        """How it stands in the prompt, in a word."""
        if self.is_expanded:
            return "log"
        if self.pointer.evicted_clock is not None:
            return "nothing"
        return "summary" if self.is_whole else "line"


def chosen_turns(branch: Branch) -> QuerySet[PointerTurn]:
    """For which a summary of chosen turns stands."""
    return PointerTurn.objects.filter(branch=branch, active=True, pointer__effort=None)


def is_chosen(branch: Branch, turn: str = "pk") -> Exists:
    """Whether such a summary stands for a turn. `turn`: the way to its key, as in "turn"."""
    return Exists(chosen_turns(branch).filter(turn=OuterRef(turn)))


def chosen_pointers(branch: Branch) -> QuerySet[ContextPointer]:
    return ContextPointer.objects.filter(branch=branch, effort=None, state=PointerState.ACTIVE)


def with_spans(pointers: QuerySet[ContextPointer]) -> list[Chosen]:
    """Oldest first."""
    return spans_of(list(pointers.values_list("pk", flat=True)))


def spans_of(keys: Collection[int]) -> list[Chosen]:
    # Most conversations have none, and their spans are much to ask for.
    if not keys:
        return []
    spans = ContextPointer.objects.filter(pk__in=keys).annotate(
        first=Min("scope__turn__number"), last=Max("scope__turn__number"), said_at=Max("scope__turn__created_at")
    )
    return [
        Chosen(
            pointer=row,
            first=row.first or 0,
            last=row.last or 0,
            said_on=row.said_at.date().isoformat() if row.said_at else "",
        )
        for row in spans.order_by("pk")
    ]


def read_chosen(branch: Branch, *, most: int, back: Collection[str] = ()) -> list[Chosen]:
    """Those that may stand in a prompt: the `most` that were accepted last. `back`: ids to take for referred to."""
    found = (find_chosen(branch, id) for id in back)
    return spans_of(shown_chosen(branch, [one.pointer.pk for one in found if one], most=most))


@prepared
def shown_chosen(branch: Branch, again: list[int], *, most: int) -> QuerySet[ContextPointer, int]:
    shown = Q(evicted_clock=None) | Q(expanded_turn__isnull=False) | Q(pk__in=again)
    return chosen_pointers(branch).filter(shown).order_by("-pk").values_list("pk", flat=True)[:most]


def find_chosen(branch: Branch, id: str) -> Chosen | None:
    """That which people and models call so."""
    if id == SEED:
        return next(iter(with_spans(chosen_pointers(branch).filter(scope=None))), None)
    span = span_of(id)
    if span is None:
        return None
    first = branch_turns(branch).filter(number=span[0]).values("pk")
    pointers = chosen_turns(branch).filter(turn__in=first).values("pointer")
    found = with_spans(ContextPointer.objects.filter(pk__in=pointers))
    return next((one for one in found if (one.first, one.last) == span), None)


def headline_of(one: Chosen, *, expanded: bool, back: bool) -> Headline:
    """`back`: it is referred to just now."""
    whole = back or one.pointer.shortened_clock is None
    return Headline(
        pointer=one.pointer.pk,
        slug=one.id,
        text=one.pointer.text,
        turns=(one.first, one.last),
        expanded=expanded,
        body=one.pointer.body if whole else "",
        chosen=True,
        said_on=one.said_on,
        quotes=one.pointer.digest,
    )
