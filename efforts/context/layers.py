"""The logs and headlines of a branch, read in O(what may be shown)."""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from django.db.models import Count, Exists, F, Max, Min, OuterRef, Q, QuerySet, Subquery, Sum, Value, Window
from django.db.models.functions import Coalesce, RowNumber

from efforts.context.contents import BranchContents
from efforts.context.recollections import read_recalled
from efforts.domain.effort.chosen import BODY, RAW
from efforts.domain.effort.names import as_id
from efforts.domain.effort.states import (
    UNFINISHED,
    EffortStatus,
    PointerState,
    RunState,
    SummaryState,
    is_cut_off,
)
from efforts.domain.prompt.conversation import (
    OF_PERSON,
    EffortKind,
    EffortLog,
    Evicted,
    Headline,
    LeftOut,
    LogMessage,
    OlderTurns,
    PastTurn,
)
from efforts.log.exclusions import is_left_out, left_out
from efforts.log.timelines import LOG_FIELDS, branch_turns, finished_turns, log_message_of
from efforts.models import Branch, ContextPointer, Effort, EffortState, Exclusion, Message, PointerTurn, Turn, TurnLabel
from efforts.models.prepared import in_one_row, prepared
from efforts.standins.chosen import (
    Chosen,
    chosen_turns,
    headline_of,
    is_chosen,
    read_chosen,
)

# Turns read of one effort at most: a turn of fewer tokens than this part of a budget is hardly ever met.
MOST_TURNS = 400
# A headline has at least this many tokens, so that no more are read than could stand.
LEAST_HEADLINE = 10


@dataclass(frozen=True, kw_only=True)
class FinishedTurn:
    """Of a turn what its log is read by. Hundreds are read for one prompt, and rows of the ORM cost more."""

    pk: int
    number: int
    tokens: int
    run: UUID
    state: str
    finish_reason: str

    @classmethod
    def at(cls, turn: str = "") -> tuple[str, ...]:
        """Where its fields are. `turn`: the way to the turn, as in "turn__"."""
        return tuple(f"{turn}{name}" for name in ("pk", "number", "tokens", "run", "run__state", "run__finish_reason"))

    @classmethod
    def read(cls, turns: QuerySet[Turn]) -> list[FinishedTurn]:
        return [cls.of(values) for values in turns.exclude(run=None).values_list(*cls.at())]

    @classmethod
    def of(cls, values: Sequence[Any]) -> FinishedTurn:
        return cls(**dict(zip(("pk", "number", "tokens", "run", "state", "finish_reason"), values, strict=True)))


@dataclass(frozen=True, kw_only=True)
class EffortLayers:
    efforts: tuple[EffortLog, ...]
    headlines: tuple[Headline, ...]
    unlisted: int
    evicted: Evicted


@dataclass(frozen=True, kw_only=True)
class ExcludedTurn:
    """A turn that the person has left out of prompts; `effort` is empty where it is of none."""

    number: int
    tokens: int
    effort: str
    is_chosen: bool


def read_excluded(branch: Branch, *, before: int) -> list[ExcludedTurn]:
    """Oldest first."""
    return [ExcludedTurn(**values) for values in excluded_turns(branch, before)]


@prepared
def excluded_turns(branch: Branch, before: int) -> QuerySet[Exclusion, Any]:
    label = TurnLabel.objects.filter(branch=branch, turn=OuterRef("turn")).values("effort__slug")[:1]
    rows = left_out(branch).filter(turn__number__lt=before).order_by("turn__number")
    return rows.values(
        number=F("turn__number"),
        tokens=F("turn__tokens"),
        effort=Coalesce(Subquery(label), Value("")),
        is_chosen=is_chosen(branch, "turn"),
    )


def read_ambient(
    branch: Branch, *, before: int, window: int, contents: BranchContents, excluded: Sequence[ExcludedTurn]
) -> tuple[tuple[PastTurn, ...], OlderTurns]:
    """The newest `window` finished turns of no effort, oldest first, and the sum of all such before them; but for those
    that a summary stands for, and those that are `excluded`."""
    # One more than the window: its running sum stands for all before it, so no plan reads the whole history.
    rows = newest_ambient(branch, before, most=window + 1)
    past = tuple(reversed(past_turns(FinishedTurn.of(values) for _, *values in rows[:window])))
    for tokens_before, *values in rows[window:]:
        last = FinishedTurn.of(values)
        without = (one.tokens for one in excluded if one.number <= last.number and not (one.effort or one.is_chosen))
        # All that efforts have but the newest, by their running sums: adding up the older ones would grow with the
        # history.
        apart = contents.of_efforts + contents.ambient_in_chosen + sum(without)
        if contents.has_labels or contents.has_summaries:
            [(newer,)] = newer_elsewhere(branch, last.number)
            apart -= newer
        return past, OlderTurns(last=last.number, tokens=tokens_before + last.tokens - apart)
    return past, OlderTurns()


@prepared
def newest_ambient(branch: Branch, before: int, *, most: int) -> QuerySet[Turn, tuple[Any, ...]]:
    ambient = finished_turns(branch, before=before).exclude(labels__branch=branch).exclude(is_chosen(branch))
    ambient = ambient.exclude(is_left_out(branch))
    return ambient.order_by("-number").values_list("tokens_before", *FinishedTurn.at())[:most]


@prepared
def newer_elsewhere(branch: Branch, last: int) -> QuerySet[Turn, tuple[int, ...]]:
    """Tokens of the turns of efforts, and of chosen ones, that come after the number."""
    label = Exists(TurnLabel.objects.filter(branch=branch, turn=OuterRef("pk")))
    newer = branch_turns(branch).filter(label | is_chosen(branch), number__gt=last)
    return in_one_row(newer, sum=Sum("tokens", default=0))


def read_efforts(
    branch: Branch,
    *,
    before: int,
    room: int,
    contents: BranchContents,
    held: AbstractSet[int] = frozenset(),
    expanded: Collection[str] | None = None,
    referenced: Collection[str] = (),
) -> EffortLayers:
    """What the branch's efforts may have in a prompt of `room` tokens.

    `held`: keys of those that are pinned, which may stand however old they are; `expanded`: ids to take for expanded
    instead of those that are, as what, where that is given; `referenced`: ids to take for referred to just now; these
    two for a plan of what would be.
    """
    meant = sorted({*(expanded or ()), *referenced})
    states = shown_states(branch, list(held), meant) if contents.has_efforts else []
    here = [state.effort_id for state in states]
    standing = active_summaries(branch).filter(effort__in=here).values_list("effort", flat=True)
    summaries = set(standing) if here else set()
    stands = {state.effort.slug: state.expanded_what for state in states if state.expanded_turn is not None}
    taken = stands if expanded is None else as_what(expanded, stands)
    raw = {slug for slug, what in taken.items() if what == RAW}
    concluded = {state.effort_id for state in states if state.status == EffortStatus.CONCLUDED}
    in_full = {
        state: kind_of(branch, state, raw)
        for state in states
        if state.effort_id not in concluded & summaries or state.effort.slug in raw
    }
    most = max(room // LEAST_HEADLINE, 1)
    ageing = [state for state in states if state.effort_id in concluded - held - {branch.focus_id}]
    back = {*(expanded or ()), *referenced}
    young = back - stands.keys() | {*referenced}
    leaves = {
        one.effort_id: leaves_at(branch, one.effort.slug, one.referenced_clock, expanded=taken, young=young)
        for one in ageing
    }
    headlines = read_headlines(branch, concluded & summaries, held, taken, leaves, most=most)
    chosen = read_chosen(branch, most=most, back=back) if contents.has_summaries else []
    opened = {one.id for one in chosen if one.is_expanded} if expanded is None else raw
    in_short = tuple(
        replace(
            headline_of(one, expanded=one.id in opened, back=one.id in back),
            leaves_at=leaves_at(
                branch, one.id, one.since, expanded=opened, young=referenced if one.is_expanded else young
            ),
        )
        for one in chosen
    )
    logs = read_logs(branch, in_full, leaves, before=before, room=room)
    ages = {one.pointer: one.leaves_at for one in in_short}
    return EffortLayers(
        efforts=(*logs, *read_chosen_logs(branch, [one for one in chosen if one.id in opened], ages, room=room)),
        headlines=(*headlines, *in_short),
        unlisted=len(concluded & summaries) - len(headlines),
        evicted=read_evicted(branch, contents, beside=here, chosen=[one.pointer.pk for one in chosen]),
    )


@prepared
def shown_states(branch: Branch, held: list[int], meant: list[str]) -> QuerySet[EffortState]:
    shown = Q(evicted_clock=None) | Q(effort__slug__in=meant) | Q(effort__in=held)
    # What has left the prompt is not read, however much that is; nor what the summary of chosen turns stands for.
    rows = EffortState.objects.filter(shown, branch=branch).exclude(summary=SummaryState.COVERED)
    return rows.select_related("effort").order_by("pk")


def leaves_at(branch: Branch, id: str, last: int, *, expanded: Container[str], young: Container[str]) -> int:
    """The clock at which what was referred to at `last`, or just now where it is `young`, leaves or, `expanded`,
    collapses."""
    session = branch.session
    threshold = session.decay_threshold if id in expanded else session.eviction_threshold
    return (branch.clock if id in young else last) + threshold


def as_what(expanded: Collection[str], stands: Mapping[str, str]) -> Mapping[str, str]:
    return expanded if isinstance(expanded, Mapping) else {slug: stands.get(slug, RAW) for slug in expanded}


def active_summaries(branch: Branch) -> QuerySet[ContextPointer]:
    return ContextPointer.objects.filter(branch=branch, effort__isnull=False, state=PointerState.ACTIVE)


def read_evicted(
    branch: Branch, contents: BranchContents, *, beside: Collection[int], chosen: Collection[int]
) -> Evicted:
    """Of those that await a summary the log counts. `beside`, `chosen`: keys of the efforts, and of the pointers over
    chosen turns, that may stand all the same."""
    count = logs = of_efforts = of_chosen = how_many = 0
    if contents.has_efforts:
        [(count, logs)] = evicted_efforts(branch, list(beside))
    if contents.has_summaries:
        [(of_efforts, of_chosen, how_many)] = evicted_summaries(branch, list(beside), list(chosen))
    return Evicted(
        chosen=how_many,
        chosen_tokens=of_chosen,
        count=count,
        tokens=of_efforts + logs,
        after=branch.session.eviction_threshold,
    )


@prepared
def evicted_efforts(branch: Branch, beside: list[int]) -> QuerySet[EffortState, tuple[int, ...]]:
    """How many, and the tokens of those that await a summary."""
    gone = EffortState.objects.filter(branch=branch, evicted_clock__isnull=False, status=EffortStatus.CONCLUDED)
    gone = gone.exclude(summary=SummaryState.COVERED).exclude(effort__in=beside)
    awaits = ~Q(effort__in=active_summaries(branch).values("effort"))
    return in_one_row(gone, count=Count("id"), logs=Sum("tokens", filter=awaits, default=0))


@prepared
def evicted_summaries(
    branch: Branch, beside: list[int], chosen: list[int]
) -> QuerySet[ContextPointer, tuple[int, ...]]:
    """Tokens of those of efforts, and of those of chosen turns, and how many these are."""
    of_effort = Q(effort__isnull=False) & ~Q(effort__in=beside)
    of_turns = Q(effort=None, evicted_clock__isnull=False) & ~Q(pk__in=chosen)
    return in_one_row(
        ContextPointer.objects.filter(branch=branch, state=PointerState.ACTIVE),
        of_efforts=Sum("tokens", filter=of_effort, default=0),
        of_chosen=Sum("tokens", filter=of_turns, default=0),
        chosen=Count("id", filter=of_turns),
    )


def kind_of(branch: Branch, state: EffortState, expanded: Collection[str]) -> EffortKind:
    if state.effort_id == branch.active_effort_id:
        return "active"
    if state.status == EffortStatus.OPEN:
        return "open"
    return "expanded" if state.effort.slug in expanded else "awaiting"


def read_logs(
    branch: Branch, states: Mapping[EffortState, EffortKind], leaves: Mapping[int, int], *, before: int, room: int
) -> tuple[EffortLog, ...]:
    """Of each effort the newest turns that `room` tokens can hold, and the sum of those before them.

    As many queries for many efforts as for one, and none for none.
    """
    if not states:
        return ()
    labels = finished_labels(branch, before=before).filter(effort__in=[state.effort_id for state in states])
    logs = newest_turns(labels, "effort", room)
    return tuple(
        EffortLog(
            slug=state.effort.slug,
            kind=kind,
            turns=logs.turns.get(state.effort_id, ()),
            older=logs.older.get(state.effort_id, OlderTurns()),
            opened_turn=state.opened_turn,
            active_turn=state.active_turn,
            name=name_beside(state.effort),
            leaves_at=leaves.get(state.effort_id),
        )
        for state, kind in states.items()
    )


def name_beside(effort: Effort) -> str:
    """The name where its id does not say the same: after a rename, and of a twin."""
    return "" if as_id(effort.name) == effort.slug else effort.name


def read_chosen_logs(
    branch: Branch, expanded: Sequence[Chosen], leaves: Mapping[int, int | None], *, room: int
) -> Iterator[EffortLog]:
    """Of chosen turns what was said, instead of what stands for them."""
    if not expanded:
        return
    turns = chosen_turns(branch).filter(pointer__in=[one.pointer.pk for one in expanded])
    logs = newest_turns(turns.exclude(is_left_out(branch, "turn")), "pointer", room)
    for one in expanded:
        yield EffortLog(
            slug=one.id,
            kind="expanded",
            turns=logs.turns.get(one.pointer.pk, ()),
            older=logs.older.get(one.pointer.pk, OlderTurns()),
            opened_turn=one.first,
            active_turn=one.pointer.expanded_turn or branch.head + 1,
            chosen=True,
            leaves_at=leaves[one.pointer.pk],
        )


def finished_labels(branch: Branch, *, before: int) -> QuerySet[TurnLabel]:
    """Of the turns of `finished_turns` that belong to efforts, but for those that a summary of chosen turns stands
    for."""
    labels = TurnLabel.objects.filter(branch=branch, turn__number__lt=before).exclude(is_chosen(branch, "turn"))
    labels = labels.exclude(is_left_out(branch, "turn"))
    return labels.exclude(turn__run__state__in=[RunState.CANCELLED, *UNFINISHED])


@dataclass(frozen=True, kw_only=True)
class NewestTurns:
    """By the key of what they belong to: turns, oldest first, and the sum of those before them."""

    turns: Mapping[int, tuple[PastTurn, ...]]
    older: Mapping[int, OlderTurns]


def newest_turns(rows: QuerySet[TurnLabel] | QuerySet[PointerTurn], by: str, room: int) -> NewestTurns:
    """Of each `by` the newest turns that `room` tokens can hold."""
    summed = rows.values_list(by).annotate(sum=Sum("turn__tokens"), count=Count("turn")).order_by()
    sums = {key: OlderTurns(tokens=tokens, count=count) for key, tokens, count in summed}
    newest: dict[int, list[FinishedTurn]] = {key: [] for key in sums}
    for key, *values in newest_first(rows, by, room):
        newest[key].append(FinishedTurn.of(values))
    shown = {key: shown_of(turns, room) for key, turns in newest.items()}
    said = {turn.number: turn for turn in past_turns(turn for turns in shown.values() for turn in turns)}
    return NewestTurns(
        turns={
            key: tuple(said[turn.number] for turn in reversed(turns) if turn.number in said)
            for key, turns in shown.items()
        },
        older={key: older_than(turns, newest[key], sums[key]) for key, turns in shown.items()},
    )


def newest_first(rows: QuerySet[TurnLabel] | QuerySet[PointerTurn], by: str, room: int) -> Iterable[Sequence[Any]]:
    """Of each `by` the newest turns that `room` tokens can hold, and one more, which tells that there are others: its
    key, and what `Finished` is made of."""
    each: dict[str, Any] = {"partition_by": F(by), "order_by": F("turn__number").desc()}
    ranked = rows.annotate(
        place=Window(RowNumber(), **each), newer=Window(Sum("turn__tokens"), **each) - F("turn__tokens")
    )
    held = ranked.filter(newer__lte=room, place__lte=MOST_TURNS + 1)
    return held.order_by("-turn__number").values_list(by, *FinishedTurn.at("turn__"))


def shown_of(newest: Sequence[FinishedTurn], room: int) -> list[FinishedTurn]:
    shown: list[FinishedTurn] = []
    tokens = 0
    for turn in newest[:MOST_TURNS]:
        tokens += turn.tokens
        # The newest in any case: cut to beginning and end it may fit.
        if shown and tokens > room:
            break
        shown.append(turn)
    return shown


def older_than(shown: Sequence[FinishedTurn], newest: Sequence[FinishedTurn], whole: OlderTurns) -> OlderTurns:
    """`whole`: the sums of all turns of the effort."""
    if len(shown) == len(newest):
        return OlderTurns()
    return OlderTurns(
        last=newest[len(shown)].number,
        tokens=whole.tokens - sum(turn.tokens for turn in shown),
        count=whole.count - len(shown),
    )


def read_headlines(
    branch: Branch,
    kept: Collection[int],
    held: Collection[int],
    expanded: Mapping[str, str],
    leaves: Mapping[int, int],
    *,
    most: int,
) -> tuple[Headline, ...]:
    """Of the summaries of the efforts `kept`, the `most` that were made last, and those that are pinned."""
    if not kept:
        return ()
    active = active_summaries(branch).filter(effort__in=kept)
    spans = active.annotate(
        first=Min("scope__turn__number"), last=Max("scope__turn__number"), said_at=Max("scope__turn__created_at")
    )
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
            expanded=expanded.get(row.effort.slug) == RAW,
            body=row.body if expanded.get(row.effort.slug) == BODY else "",
            asked=bool(row.body) and expanded.get(row.effort.slug) == BODY,
            name=name_beside(row.effort),
            said_on=row.said_at.date().isoformat() if row.said_at else "",
            leaves_at=leaves.get(row.effort.pk),
            quotes=row.digest,
        )
        for row in reversed(newest)
        if row.effort is not None
    )


def left_out_runs(excluded: Iterable[ExcludedTurn]) -> tuple[LeftOut, ...]:
    """What the person has left out of prompts, in runs of turns that follow each other in one effort, or in none."""
    runs: list[LeftOut] = []
    for one in excluded:
        last = runs[-1] if runs else None
        if last and (last.turns[1] + 1, last.effort) == (one.number, one.effort):
            runs[-1] = LeftOut(turns=(last.turns[0], one.number), tokens=last.tokens + one.tokens, effort=one.effort)
        else:
            runs.append(LeftOut(turns=(one.number, one.number), tokens=one.tokens, effort=one.effort))
    return tuple(runs)


def past_turns(turns: Iterable[FinishedTurn]) -> list[PastTurn]:
    turns = list(turns)
    if not turns:
        return []
    said: dict[int, list[LogMessage]] = {turn.pk: [] for turn in turns}
    for turn, *values in read_said(list(said), [turn.run for turn in turns]):
        said[turn].append(log_message_of(values))
    recalled = read_recalled((turn.run for turn in turns), included=True, leaves=False)
    return [
        PastTurn(
            number=turn.number,
            state=RunState(turn.state),
            messages=tuple(said[turn.pk]),
            recalled=recalled.get(turn.run, ()),
            cut_off=is_cut_off(turn.state, turn.finish_reason),
        )
        for turn in turns
    ]


@prepared
def read_said(turns: list[int], runs: list[UUID]) -> QuerySet[Message, tuple[Any, ...]]:
    """By the key of its turn what a person said, and what came of the runs."""
    rows = Message.objects.filter(Q(role__in=OF_PERSON) | Q(run__in=runs), turn__in=turns)
    return rows.order_by("id").values_list("turn", *LOG_FIELDS)
