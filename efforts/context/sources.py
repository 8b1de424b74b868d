"""What summaries are made of, and stand in for: the log of an effort, or of chosen turns."""

from __future__ import annotations

from collections.abc import Collection
from datetime import UTC

from django.db.models import QuerySet

from efforts.context.layers import FinishedTurn, past_turns
from efforts.domain.effort.states import UNFINISHED, RunState
from efforts.domain.text.source_text import source_of
from efforts.log.exclusions import numbers_left_out
from efforts.log.timelines import branch_turns
from efforts.models import Branch, Effort, Message, Turn
from efforts.standins.chosen import chosen_turns
from efforts.standins.logs import SourceLog


def read_effort_log(branch: Branch, effort: Effort) -> SourceLog:
    """All that belongs to an effort."""
    return log_of(branch, labelled(branch, effort))


def read_summary_log(branch: Branch, effort: Effort) -> SourceLog:
    """What a summary of the effort is to stand for."""
    return log_of(branch, summary_turns(branch, effort))


def summary_turn_ids(branch: Branch, effort: Effort) -> set[int]:
    """The same, without what was said."""
    return ids_of(summary_turns(branch, effort))


def summary_turns(branch: Branch, effort: Effort) -> QuerySet[Turn]:
    """All of its turns but those for which a summary of chosen turns stands. From one that has only some of the
    effort's turns, and no others, it takes over."""
    turns = labelled(branch, effort)
    mine = set(turns.values_list("pk", flat=True))
    chosen: dict[int, set[int]] = {}
    for pointer, turn in chosen_turns(branch).values_list("pointer", "turn"):
        chosen.setdefault(pointer, set()).add(turn)
    apart = {turn for covered in chosen.values() if not covered < mine for turn in covered & mine}
    return turns.exclude(pk__in=apart) if apart else turns


def read_scope_log(branch: Branch, numbers: Collection[int]) -> SourceLog:
    """Of chosen turns, as far as they are in this timeline and have ended."""
    return log_of(branch, branch_turns(branch).filter(number__in=numbers))


def scope_turn_ids(branch: Branch, numbers: Collection[int]) -> set[int]:
    """The same, without what was said."""
    return ids_of(branch_turns(branch).filter(number__in=numbers))


def labelled(branch: Branch, effort: Effort) -> QuerySet[Turn]:
    return branch_turns(branch).filter(labels__branch=branch, labels__effort=effort)


def finished(turns: QuerySet[Turn]) -> QuerySet[Turn]:
    return turns.exclude(run__state__in=[RunState.CANCELLED, *UNFINISHED])


def ids_of(turns: QuerySet[Turn]) -> set[int]:
    return set(finished(turns).exclude(run=None).values_list("pk", flat=True))


def log_of(branch: Branch, turns: QuerySet[Turn]) -> SourceLog:
    """What the person has left out of prompts is stood for, and not summarised."""
    rows = FinishedTurn.read(finished(turns).order_by("number"))
    past = tuple(past_turns(rows))
    ids = tuple(row.pk for row in rows)
    gone = numbers_left_out(branch)
    told = (turn for turn in past if turn.number not in gone)
    return SourceLog(turns=past, turn_ids=ids, source=source_of(told, said_on(ids)))


def said_on(turn_ids: Collection[int]) -> dict[int, str]:
    """The dates of their messages, as of UTC."""
    rows = Message.objects.filter(turn__in=turn_ids).values_list("pk", "created_at")
    return {pk: created_at.astimezone(UTC).date().isoformat() for pk, created_at in rows}
