"""What a branch has at all: most conversations have next to nothing of it, and are asked for no more."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.db.models import Exists, QuerySet, Subquery, Sum

from efforts.context.constraints import in_force
from efforts.context.instructions import instructions_in
from efforts.context.ledger import live_entries
from efforts.domain.effort.states import HoldState, PointerState
from efforts.log.exclusions import left_out
from efforts.models import Branch, ContextPointer, EffortState, EffortWord, Hold, PointerWord, TurnLabel
from efforts.models.prepared import in_one_row, prepared
from efforts.standins.chosen import chosen_pointers


@dataclass(frozen=True, kw_only=True)
class BranchContents:
    """`labels`: turns of efforts; `summaries`: those that stand; `words`: by which a text refers to an effort or to
    chosen turns. The tokens of all its efforts, and of those chosen turns that are of no effort."""

    has_efforts: bool
    has_labels: bool
    has_summaries: bool
    has_words: bool
    has_holds: bool
    has_left_out: bool
    has_rules: bool
    has_entries: bool
    has_instructions: bool
    of_efforts: int
    ambient_in_chosen: int

    @classmethod
    def of(cls, branch: Branch) -> BranchContents:
        """In one statement, whatever it has."""
        [row] = read_contents(branch)
        return cls(**row)

    @property
    def can_be_meant(self) -> bool:
        """Something that a text could refer to."""
        return self.has_words or self.has_summaries


@prepared
def read_contents(branch: Branch) -> QuerySet[Branch, Any]:
    states = EffortState.objects.filter(branch=branch)
    words = EffortWord.objects.filter(session=branch.session_id)
    return Branch.objects.filter(pk=branch.pk).values(
        has_efforts=Exists(states),
        has_labels=Exists(TurnLabel.objects.filter(branch=branch)),
        has_summaries=Exists(ContextPointer.objects.filter(branch=branch, state=PointerState.ACTIVE)),
        has_words=Exists(words) | Exists(PointerWord.objects.filter(branch=branch)),
        has_holds=Exists(Hold.objects.filter(branch=branch, state=HoldState.STANDING)),
        has_left_out=Exists(left_out(branch)),
        has_rules=Exists(in_force(branch.session_id)),
        has_entries=Exists(live_entries(branch)),
        has_instructions=Exists(instructions_in(branch.session_id)),
        of_efforts=Subquery(in_one_row(states, sum=Sum("tokens", default=0))),
        ambient_in_chosen=Subquery(in_one_row(chosen_pointers(branch), sum=Sum("ambient_tokens", default=0))),
    )
