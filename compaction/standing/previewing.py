"""What accepting or rolling back would change in the next prompt: done for once, looked at, and never written."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from django.db import transaction

from compaction.drafting.costs import spent_on
from compaction.models import Artifact
from compaction.standing.accepting import (
    let_stand,
    read_next_prompt,
    rollback_compaction,
    saved_by,
    standing_pointer,
)
from compaction.standing.blockers import in_its_place, log_leaves_in
from compaction.standing.history import PointerMoveView, last_move
from efforts.actions.places import Place, changing
from efforts.context.inspection import DifferenceView, differing
from efforts.context.plans import PlanView, read_preview
from efforts.context.presence import Presence, pinned_among, presence_of
from efforts.domain.effort.states import PointerState
from efforts.domain.errors import Refused
from efforts.models import Branch, ContextPointer

if TYPE_CHECKING:
    from django.contrib.auth.models import User


NOTHING = "This is done already, so nothing would change. Load the page again."


@dataclass(frozen=True, kw_only=True)
class Saving:
    """In tokens: by how much a text makes the next prompt smaller, and what was spent on drafting and checking it.
    `saved`: where it stands what rolling it back would add, else what accepting it would take away (None: not known).
    While it is not sent, or would not be, there is nothing to compare. `later`: what it saves once its expanded effort
    is collapsed. `leaves_in`: what it is compared with is the log, which excerpts replace after so many turns without a
    mention."""

    saved: int | None
    spent: int
    stands: bool = True
    presence: Presence = Presence.SENT
    later: int | None = None
    leaves_in: int | None = None

    @property
    def is_larger(self) -> bool:
        return self.saved is not None and self.saved < 0

    @property
    def more(self) -> int:
        return -(self.saved or 0)

    @property
    def calls(self) -> int | None:
        """After how many it has earned back what was spent; None where it never does."""
        return -(-self.spent // self.saved) if self.saved and self.saved > 0 else None


@dataclass(frozen=True, kw_only=True)
class Effect:
    """`move`: what stands for what, before and after, but for turns that are pinned. `difference` is missing where
    one of the prompts would not be sent, or is nobody's business but the owner's; so are `entered`, the summaries that
    come to stand. `saving`: of the artifact that is accepted or rolled back. `later`: what an expanded effort's summary
    saves once that is collapsed.
    """

    move: PointerMoveView
    entered: tuple[ContextPointer, ...]
    now: PlanView
    then: PlanView
    difference: DifferenceView | None
    saving: Saving
    later: int | None = None

    @property
    def more(self) -> int:
        """Tokens by which this step makes the next prompt larger."""
        return self.then.tokens - self.now.tokens

    @property
    def less(self) -> int:
        return -self.more

    @property
    def gets_larger(self) -> bool:
        return self.fits and self.more > 0

    @property
    def fits(self) -> bool:
        return not self.now.problem and not self.then.problem


def effect_of_accepting(artifact: Artifact, user: User, branch: Branch | None = None) -> Effect:
    """Raises `Refused` as accepting would."""

    def accept() -> list[ContextPointer]:
        with changing(Place(branch=branch or artifact.branch, turn=0, actor=user)) as here:
            standing = standing_pointer(here, artifact.pk)
            return [standing or let_stand(here, artifact.pk, actor=user, unchecked=True).pointer]

    return effect(branch or artifact.branch, accept, user, artifact)


def effect_of_rolling_back(artifact: Artifact, user: User, branch: Branch) -> Effect:
    """Raises `Refused` as rolling back would, and where that is done already."""
    return effect(branch, lambda: rollback_compaction(artifact.pk, actor=user, branch=branch), user, artifact)


def saving_of(artifact: Artifact, user: User, branch: Branch | None = None) -> Saving:
    """As it stands, or as it would once it is accepted. Raises `Refused` where it can do neither."""
    branch = branch or artifact.branch
    stands = ContextPointer.objects.filter(branch=branch, artifact=artifact.pk, state=PointerState.ACTIVE).first()
    presence = presence_of(stands) if stands else None
    if presence == Presence.LEFT:
        return Saving(saved=0, spent=spent_on(artifact.family), presence=presence)
    found = effect_of_rolling_back(artifact, user, branch) if stands else effect_of_accepting(artifact, user, branch)
    if presence == Presence.EXPANDED:
        return replace(found.saving, saved=0, presence=presence, later=found.later)
    return found.saving


def effect(branch: Branch, act: Callable[[], list[ContextPointer]], user: User, artifact: Artifact) -> Effect:
    # Whoever writes waits until this ends: in it is only what has to be read, and nothing is planned.
    with transaction.atomic():
        # Both sides in one transaction, so that nothing else comes in between them.
        pinned = pinned_among(branch, json.loads(artifact.document)["source"]["turns"])
        read_now, before = read_next_prompt(branch), last_move(branch, pinned)
        read_later = read_collapsed(branch, artifact)
        leaves = log_leaves_in(artifact, branch, in_its_place(artifact, branch))
        stands = act()
        move, read_then = last_move(branch, pinned), read_next_prompt(branch)
        accepted = next((one for one in stands if one.artifact == artifact.pk), None)
        presence = presence_of(accepted) if accepted else Presence.SENT
        # And no ring either: what would be done on commit is forgotten with it.
        transaction.set_rollback(True)
    now, then = read_now(), read_then()
    if move is None or move == before:
        raise Refused("nothing", NOTHING)
    found = None
    if now.made and then.made and branch.session.owner_id == user.pk:
        found = differing(now.made, then.made, branch, more=then.tokens - now.tokens)
    saved = saved_by(now, then) if accepted else saved_by(then, now)
    leaves = leaves if accepted else None
    saving = Saving(
        saved=saved, spent=spent_on(artifact.family), stands=not accepted, presence=presence, leaves_in=leaves
    )
    later = saved_by(then, read_later()) if read_later else None
    return Effect(move=move, entered=tuple(stands), now=now, then=then, difference=found, saving=saving, later=later)


def read_collapsed(branch: Branch, artifact: Artifact) -> Callable[[], PlanView] | None:
    """The next prompt once its effort is collapsed; None where that is not expanded."""
    states = branch.effort_states.exclude(expanded_turn=None)
    expanded = dict(states.values_list("effort__slug", "expanded_what"))
    slug = artifact.effort.slug if artifact.effort else ""
    if slug not in expanded:
        return None
    del expanded[slug]
    return read_preview(Branch.objects.get(pk=branch.pk), expanded=expanded)
