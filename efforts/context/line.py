"""The line of efforts, read for a message that asks what was when."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from datetime import UTC, date, datetime, time

from django.db.models import Exists, Max, Min, OuterRef, Q, QuerySet

from efforts.context.layers import active_summaries, name_beside
from efforts.context.references import find_references
from efforts.domain.effort.states import EffortStatus
from efforts.domain.prompt.conversation import EffortInLine, LineOfEfforts
from efforts.domain.prompt.line import LONGEST_TEXT, asks_what_was_when, wanted_places
from efforts.domain.text.dates import spans_named
from efforts.log.timelines import branch_turns
from efforts.models import Branch, EffortState, TurnLabel

ASKED = "begun with “{text}”"
ENDS = ("turn__number", "turn__created_at")
# Spans that one query asks for: a table in a message may name thousands, and SQLite takes a thousand conditions.
DAYS_AT_ONCE = 200
Days = tuple[tuple[str, str], ...]


def read_line(branch: Branch, text: str, *, before: int, today: date) -> LineOfEfforts:
    """For the turn `before`: of the efforts begun until then, those that had turns in the days that `text` names, or
    all. Empty where it does not ask for them."""
    if not asks_what_was_when(text):
        return LineOfEfforts()
    first = branch_turns(branch).order_by("number").values_list("created_at", flat=True).first()
    days = spans_named(text, today, range(first.year, today.year + 1)) if first else ()
    some = [days[first : first + DAYS_AT_ONCE] for first in range(0, len(days), DAYS_AT_ONCE)]
    told = {row for part in some or [days] for row in states_with_turns(branch, part, before=before)}
    keys = [(pk, effort) for _, pk, effort in sorted(told)]
    named = {one.effort.pk for one in find_references(branch, text)}
    places = wanted_places(len(keys), [place for place, (_, effort) in enumerate(keys, 1) if effort in named])
    rows = {keys[place - 1][0]: place for place in places}
    entries = {one.place: one for one in entries_of(branch, rows, before=before)}
    return LineOfEfforts(efforts=tuple(entries[place] for place in places), count=len(keys), days=days)


def states_with_turns(branch: Branch, days: Days, *, before: int) -> QuerySet[EffortState, tuple[int, int, int]]:
    """The turn that each was begun in, its key and its effort's."""
    states = EffortState.objects.filter(Exists(turns_in(branch, days, before=before)), branch=branch)
    return states.values_list("opened_turn", "pk", "effort")


def turns_in(branch: Branch, days: Days, *, before: int) -> QuerySet[TurnLabel]:
    """Of the effort that a query is about, in one of these spans, or at any time where there is none."""
    said = Q()
    for first, last in days:
        begins = datetime.combine(date.fromisoformat(first), time.min, UTC)
        ends = datetime.combine(date.fromisoformat(last), time.max, UTC)
        said |= Q(turn__created_at__gte=begins, turn__created_at__lte=ends)
    return TurnLabel.objects.filter(said, branch=branch, turn__number__lt=before, effort=OuterRef("effort"))


def entries_of(branch: Branch, rows: Mapping[int, int], *, before: int) -> Iterator[EffortInLine]:
    """`rows`: places by the keys of the efforts' states."""
    states = list(EffortState.objects.filter(pk__in=rows).select_related("effort"))
    efforts = [state.effort_id for state in states]
    texts = texts_of(branch, efforts)
    labels = TurnLabel.objects.filter(branch=branch, effort__in=efforts, turn__number__lt=before)
    spans = labels.values_list("effort").annotate(*(end(of) for of in ENDS for end in (Min, Max)))
    ends = {effort: ends for effort, *ends in spans.order_by()}
    for state in states:
        first, last, begun, ended = ends[state.effort_id]
        yield EffortInLine(
            place=rows[state.pk],
            slug=state.effort.slug,
            turns=(first, last),
            days=(begun.date().isoformat(), ended.date().isoformat()),
            is_open=state.status == EffortStatus.OPEN,
            text=texts.get(state.effort_id, ""),
            name=name_beside(state.effort),
        )


def texts_of(branch: Branch, efforts: Collection[int]) -> dict[int, str]:
    """By effort, the one line of what stands for it; of excerpts that is what was asked at first."""
    rows = active_summaries(branch).filter(effort__in=efforts).exclude(headline="")
    told = rows.values_list("effort", "headline", "digest")
    return {
        effort: ASKED.format(text=clipped(text)) if is_digest else clipped(text)
        for effort, text, is_digest in told
        if effort
    }


def clipped(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LONGEST_TEXT else f"{line[:LONGEST_TEXT].rsplit(' ', 1)[0]} …"
