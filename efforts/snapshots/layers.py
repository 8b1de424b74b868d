"""The logs and headlines of a branch, read in O(what may be shown)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import Count, F, Max, Min, Q, QuerySet, Sum, Window
from django.db.models.functions import RowNumber

from efforts.domain.conversation import EffortKind, EffortLog, Evicted, Headline, LogMessage, OlderTurns, PastTurn
from efforts.domain.lifecycle import UNFINISHED, EffortStatus, HoldState, PointerState, RunState, SummaryState
from efforts.models import Branch, ContextPointer, EffortState, Hold, Message, Turn, TurnLabel
from efforts.timelines import LOG_FIELDS, branch_turns, finished_turns, log_message_of

from .recollections import read_recalled

# Turns read of one effort at most: a turn of fewer tokens than this part of a budget is hardly ever met.
MOST_TURNS = 400
# A headline has at least this many tokens, so that no more are read than could stand.
LEAST_HEADLINE = 10


@dataclass(frozen=True, kw_only=True)
class Finished:
    """Of a turn what its log is read by. Hundreds are read for one prompt, and rows of the ORM cost more."""

    pk: int
    number: int
    tokens: int
    run: UUID
    state: str

    @classmethod
    def at(cls, turn: str = "") -> tuple[str, ...]:
        """Where its fields are. `turn`: the way to the turn, as in "turn__"."""
        return tuple(f"{turn}{name}" for name in ("pk", "number", "tokens", "run", "run__state"))

    @classmethod
    def read(cls, turns: QuerySet[Turn]) -> list[Finished]:
        return [cls.of(values) for values in turns.exclude(run=None).values_list(*cls.at())]

    @classmethod
    def of(cls, values: Sequence[Any]) -> Finished:
        return cls(**dict(zip(("pk", "number", "tokens", "run", "state"), values, strict=True)))


@dataclass(frozen=True, kw_only=True)
class EffortLayers:
    efforts: tuple[EffortLog, ...]
    headlines: tuple[Headline, ...]
    unlisted: int
    evicted: Evicted


def read_ambient(branch: Branch, *, before: int, window: int) -> tuple[tuple[PastTurn, ...], OlderTurns]:
    """The newest `window` finished turns of no effort, oldest first, and the sum of all such before them."""
    ambient = finished_turns(branch, before=before).exclude(labels__branch=branch)
    # One more than the window: its running sum stands for all before it, so no plan reads the whole history.
    rows = list(ambient.order_by("-number").values_list("tokens_before", *Finished.at())[: window + 1])
    shown = [Finished.of(values) for _, *values in rows[:window]]
    beyond = [(before, Finished.of(values)) for before, *values in rows[window:]]
    return tuple(reversed(past_turns(shown))), older_ambient(branch, *beyond[0]) if beyond else OlderTurns()


def older_ambient(branch: Branch, tokens_before: int, last: Finished) -> OlderTurns:
    # All that efforts have but the newest, by their running sums: adding up the older ones would grow with the history.
    of_efforts = EffortState.objects.filter(branch=branch).aggregate(sum=Sum("tokens", default=0))["sum"]
    labelled = branch_turns(branch).filter(labels__branch=branch, number__gt=last.number)
    newer = labelled.aggregate(sum=Sum("tokens", default=0))["sum"]
    return OlderTurns(last=last.number, tokens=tokens_before + last.tokens - (of_efforts - newer))


def read_efforts(
    branch: Branch,
    *,
    before: int,
    room: int,
    expanded: Collection[str] | None = None,
    referenced: Collection[str] = (),
) -> EffortLayers:
    """What the branch's efforts may have in a prompt of `room` tokens.

    `expanded`: ids to take for expanded instead of those that are, `referenced`: ids of efforts to take for referred to
    just now, for a plan of what would be.
    """
    held = set(held_efforts(branch))
    shown = Q(evicted_clock=None) | Q(effort__slug__in={*(expanded or ()), *referenced}) | Q(effort__in=held)
    # What has left the prompt is not read, however much that is.
    states = list(EffortState.objects.filter(shown, branch=branch).select_related("effort").order_by("pk"))
    here = [state.effort_id for state in states]
    summaries = set(active_summaries(branch).filter(effort__in=here).values_list("effort", flat=True))
    if expanded is None:
        expanded = {state.effort.slug for state in states if state.expanded_turn is not None}
    concluded = {state.effort_id for state in states if state.status == EffortStatus.CONCLUDED}
    in_full = {
        state: kind_of(branch, state, expanded)
        for state in states
        if state.effort_id not in concluded & summaries or state.effort.slug in expanded
    }
    headlines = read_headlines(branch, concluded & summaries, held, expanded, most=max(room // LEAST_HEADLINE, 1))
    return EffortLayers(
        efforts=read_logs(branch, in_full, before=before, room=room),
        headlines=headlines,
        unlisted=len(concluded & summaries) - len(headlines),
        evicted=read_evicted(branch, beside=here),
    )


def active_summaries(branch: Branch) -> QuerySet[ContextPointer]:
    return ContextPointer.objects.filter(branch=branch, effort__isnull=False, state=PointerState.ACTIVE)


def held_efforts(branch: Branch) -> Iterable[int]:
    """What is pinned may stand however old it is."""
    held = Hold.objects.filter(branch=branch, state=HoldState.STANDING, effort__isnull=False)
    return (effort for effort in held.values_list("effort", flat=True) if effort)


def read_evicted(branch: Branch, *, beside: Collection[int]) -> Evicted:
    """Of those that await a summary the log counts."""
    gone = EffortState.objects.filter(branch=branch, evicted_clock__isnull=False, status=EffortStatus.CONCLUDED)
    awaits = ~Q(summary=SummaryState.STANDS)
    sums = gone.exclude(effort__in=beside).aggregate(count=Count("id"), logs=Sum("tokens", filter=awaits, default=0))
    summaries = active_summaries(branch).exclude(effort__in=beside).aggregate(tokens=Sum("tokens", default=0))
    return Evicted(
        count=sums["count"],
        tokens=summaries["tokens"] + sums["logs"],
        after=branch.session.eviction_threshold,
    )


def kind_of(branch: Branch, state: EffortState, expanded: Collection[str]) -> EffortKind:
    if state.effort_id == branch.active_effort_id:
        return "active"
    if state.status == EffortStatus.OPEN:
        return "open"
    return "expanded" if state.effort.slug in expanded else "awaiting"


def read_logs(
    branch: Branch, states: Mapping[EffortState, EffortKind], *, before: int, room: int
) -> tuple[EffortLog, ...]:
    """Of each effort the newest turns that `room` tokens can hold, and the sum of those before them.

    As many queries for many efforts as for one.
    """
    labels = finished_labels(branch, before=before).filter(effort__in=[state.effort_id for state in states])
    sums = dict(labels.values_list("effort").annotate(sum=Sum("turn__tokens")).order_by())
    newest: dict[int, list[Finished]] = {state.effort_id: [] for state in states}
    for effort, *values in newest_first(labels, room):
        newest[effort].append(Finished.of(values))
    shown = {effort: shown_of(turns, room) for effort, turns in newest.items()}
    said = {turn.number: turn for turn in past_turns(turn for turns in shown.values() for turn in turns)}
    return tuple(
        EffortLog(
            slug=state.effort.slug,
            kind=kind,
            turns=tuple(said[turn.number] for turn in reversed(shown[state.effort_id]) if turn.number in said),
            older=older_than(shown[state.effort_id], newest[state.effort_id], sums.get(state.effort_id, 0)),
            opened_turn=state.opened_turn,
            active_turn=state.active_turn,
        )
        for state, kind in states.items()
    )


def finished_labels(branch: Branch, *, before: int) -> QuerySet[TurnLabel]:
    """Of the turns of `finished_turns` that belong to efforts."""
    labels = TurnLabel.objects.filter(branch=branch, turn__number__lt=before)
    return labels.exclude(turn__run__state__in=[RunState.CANCELLED, *UNFINISHED])


def newest_first(labels: QuerySet[TurnLabel], room: int) -> Iterable[Sequence[Any]]:
    """Of each effort the newest turns that `room` tokens can hold, and one more, which tells that there are others: the
    effort, and what `Finished` is made of."""
    each: dict[str, Any] = {"partition_by": F("effort"), "order_by": F("turn__number").desc()}
    ranked = labels.annotate(
        place=Window(RowNumber(), **each), newer=Window(Sum("turn__tokens"), **each) - F("turn__tokens")
    )
    held = ranked.filter(newer__lte=room, place__lte=MOST_TURNS + 1)
    return held.order_by("-turn__number").values_list("effort", *Finished.at("turn__"))


def shown_of(newest: Sequence[Finished], room: int) -> list[Finished]:
    shown: list[Finished] = []
    tokens = 0
    for turn in newest[:MOST_TURNS]:
        tokens += turn.tokens
        # The newest in any case: cut to beginning and end it may fit.
        if shown and tokens > room:
            break
        shown.append(turn)
    return shown


def older_than(shown: Sequence[Finished], newest: Sequence[Finished], tokens: int) -> OlderTurns:
    """`tokens`: of all turns of the effort."""
    if len(shown) == len(newest):
        return OlderTurns()
    return OlderTurns(last=newest[len(shown)].number, tokens=tokens - sum(turn.tokens for turn in shown))


def read_headlines(
    branch: Branch, kept: Collection[int], held: Collection[int], expanded: Collection[str], *, most: int
) -> tuple[Headline, ...]:
    """Of the summaries of the efforts `kept`, the `most` that were made last, and those that are pinned."""
    active = active_summaries(branch).filter(effort__in=kept)
    spans = active.annotate(first=Min("scope__turn__number"), last=Max("scope__turn__number"))
    newest = list(spans.select_related("effort").order_by("-pk")[:most])
    if len(newest) == most:
        older = spans.filter(pk__lt=newest[-1].pk, effort__in=held)
        newest += older.select_related("effort").order_by("-pk")
    return tuple(
        Headline(
            pointer=row.pk,
            slug=row.effort.slug,
            text=row.text,
            turns=(row.first or 0, row.last or 0),
            expanded=row.effort.slug in expanded,
        )
        for row in reversed(newest)
        if row.effort is not None
    )


def past_turns(turns: Iterable[Finished]) -> list[PastTurn]:
    turns = list(turns)
    said: dict[int, list[LogMessage]] = {turn.pk: [] for turn in turns}
    counts = Q(role="user") | Q(run__in=[turn.run for turn in turns])
    rows = Message.objects.filter(counts, turn__in=said).order_by("id")
    for turn, *values in rows.values_list("turn", *LOG_FIELDS):
        said[turn].append(log_message_of(values))
    recalled = read_recalled((turn.run for turn in turns), included=True)
    return [
        PastTurn(
            number=turn.number,
            state=RunState(turn.state),
            messages=tuple(said[turn.pk]),
            recalled=recalled.get(turn.run, ()),
        )
        for turn in turns
    ]
