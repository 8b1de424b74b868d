"""What accepting or rolling back would change in the next prompt: done for once, looked at, and never written."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db import transaction

from compaction.drafting.costs import spent_on
from compaction.models import Artifact
from compaction.standing.accepting import accept_compaction, next_prompt, rollback_compaction
from compaction.standing.history import PointerMoveView, last_move
from efforts.context.inspection import DifferenceView, differing
from efforts.context.plans import PlanView
from efforts.domain.errors import Refused
from efforts.models import Branch, ContextPointer
from efforts.standins.seen import Saving

if TYPE_CHECKING:
    from django.contrib.auth.models import User


NOTHING = "This is done already, so nothing would change. Load the page again."


@dataclass(frozen=True, kw_only=True)
class Effect:
    """`move`: what stands for what, before and after. `difference` is missing where one of the prompts would not be
    sent, or is nobody's business but the owner's; so are `entered`, the summaries that come to stand. `spent`: tokens
    that it took to draft and check it.
    """

    move: PointerMoveView
    entered: tuple[ContextPointer, ...]
    now: PlanView
    then: PlanView
    difference: DifferenceView | None
    spent: int

    @property
    def saving(self) -> Saving:
        """Of accepting it."""
        return Saving(saved=-self.more if self.fits else None, spent=self.spent)

    @property
    def more(self) -> int:
        return self.then.tokens - self.now.tokens

    @property
    def fits(self) -> bool:
        return not self.now.problem and not self.then.problem


def effect_of_accepting(artifact: Artifact, user: User, branch: Branch | None = None) -> Effect:
    """Raises `Refused` as accepting would."""

    def accept() -> list[ContextPointer]:
        first, last = artifact.source_start, artifact.source_end
        pointer = accept_compaction(
            artifact.pk, artifact.session_id, first, last, actor=user, branch=branch, unchecked=True
        )
        return [pointer]

    return effect(branch or artifact.branch, accept, user, spent_on(artifact.family))


def effect_of_rolling_back(artifact: Artifact, user: User, branch: Branch) -> Effect:
    """Raises `Refused` as rolling back would, and where that is done already."""
    return effect(branch, lambda: rollback_compaction(artifact.pk, actor=user, branch=branch), user, 0)


def effect(branch: Branch, act: Callable[[], list[ContextPointer]], user: User, spent: int) -> Effect:
    # Both sides in one transaction, so that nothing else comes in between them.
    with transaction.atomic():
        now, before = next_prompt(branch), last_move(branch)
        stands = act()
        move, then = last_move(branch), next_prompt(branch)
        # And no ring either: what would be done on commit is forgotten with it.
        transaction.set_rollback(True)
    if move is None or move == before:
        raise Refused("nothing", NOTHING)
    found = None
    if now.made and then.made and branch.session.owner_id == user.pk:
        found = differing(now.made, then.made, branch, more=then.tokens - now.tokens)
    return Effect(move=move, entered=tuple(stands), now=now, then=then, difference=found, spent=spent)
