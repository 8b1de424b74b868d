"""What an effort's summary is made of, and stands in for."""

from __future__ import annotations

from dataclasses import dataclass

from efforts.domain.conversation import PastTurn
from efforts.domain.lifecycle import UNFINISHED, RunState
from efforts.domain.source_text import Source, source_of
from efforts.models import Branch, Effort
from efforts.timelines import branch_turns

from .layers import Finished, past_turns


@dataclass(frozen=True, kw_only=True)
class EffortLog:
    """The finished turns of an effort in one branch, oldest first; `turn_ids` are their rows."""

    turns: tuple[PastTurn, ...]
    turn_ids: tuple[int, ...]
    source: Source


def read_effort_log(branch: Branch, effort: Effort) -> EffortLog:
    labelled = branch_turns(branch).filter(labels__branch=branch, labels__effort=effort)
    rows = labelled.exclude(run__state__in=[RunState.CANCELLED, *UNFINISHED])
    finished = Finished.read(rows.order_by("number"))
    turns = tuple(past_turns(finished))
    return EffortLog(turns=turns, turn_ids=tuple(row.pk for row in finished), source=source_of(turns))
