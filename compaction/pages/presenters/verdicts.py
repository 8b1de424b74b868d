"""What reviewers say of the claims of one artifact: one's own drafts, what others have handed in, where they differ."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.contrib.auth.models import User

from compaction.domain.artifact import Claim
from compaction.domain.editing import Decision
from compaction.domain.lifecycle import ClaimVerdictValue
from compaction.drafting.reading import claim_from, decision_of
from compaction.models import Artifact, ClaimVerdict
from compaction.review import Side, conflicts

if TYPE_CHECKING:
    from compaction.pages.presenters.claims import Claims

LOOKS: dict[str, tuple[str, str, str]] = {
    ClaimVerdictValue.KEPT: ("Kept", "ok", "check"),
    ClaimVerdictValue.EDITED: ("Edited", "on", "edit"),
    ClaimVerdictValue.STRUCK: ("Struck", "bad", "cross"),
    ClaimVerdictValue.NEEDS_SOURCE: ("Needs a source", "warn", "alert"),
    ClaimVerdictValue.ADDED: ("Added", "ok", "plus"),
}


@dataclass(frozen=True, kw_only=True)
class VerdictView:
    value: str
    text: str
    who: str
    submitted: bool

    @property
    def label(self) -> str:
        return LOOKS[self.value][0]

    @property
    def css(self) -> str:
        return LOOKS[self.value][1]

    @property
    def icon(self) -> str:
        return LOOKS[self.value][2]


@dataclass(frozen=True, kw_only=True)
class ConflictView:
    """`claim` is its number on the page, None where no claim of this version has it any more; `item` its id."""

    claim: int | None
    item: str
    sides: tuple[tuple[VerdictView, int], ...]


@dataclass(frozen=True, kw_only=True)
class Verdicts:
    """`mine` by what they are about; of others what they have handed in; `added` are claims that I have added.

    `also_here` are the names of those whose drafts nobody else sees yet; `decisions` are mine, as they change the text.
    """

    mine: Mapping[str, VerdictView]
    others: Mapping[str, tuple[VerdictView, ...]]
    added: tuple[Claim, ...]
    also_here: tuple[str, ...]
    decisions: tuple[Decision, ...]

    @property
    def drafts(self) -> int:
        return sum(not one.submitted for one in self.mine.values())

    @property
    def submitted(self) -> int:
        return len(self.mine) - self.drafts


def verdicts_on(row: Artifact, user: User) -> Verdicts:
    found = list(ClaimVerdict.objects.filter(artifact=row).select_related("reviewer").order_by("pk"))
    mine = [one for one in found if one.reviewer_id == user.pk]
    others: dict[str, tuple[VerdictView, ...]] = {}
    for one in found:
        if one.reviewer_id != user.pk and one.submitted_at:
            others[one.item] = (*others.get(one.item, ()), verdict_view(one))
    waiting = (one.reviewer.get_username() for one in found if one.reviewer_id != user.pk and not one.submitted_at)
    return Verdicts(
        mine={one.item: verdict_view(one) for one in mine},
        others=others,
        added=tuple(claim_from(one.added) for one in mine if one.added),
        also_here=tuple(dict.fromkeys(waiting)),
        decisions=tuple(decision_of(one) for one in mine if not one.submitted_at),
    )


def verdict_view(row: ClaimVerdict) -> VerdictView:
    return VerdictView(
        value=row.verdict,
        text=row.text,
        who=row.reviewer.get_username(),
        submitted=row.submitted_at is not None,
    )


def conflicts_on(row: Artifact, claims: Claims) -> tuple[ConflictView, ...]:
    """Each side with the version that it is of."""
    return tuple(
        ConflictView(
            claim=claims.numbers.get(one.item),
            item=one.item,
            sides=tuple((side_view(side), side.version) for side in one.sides),
        )
        for one in conflicts(row)
    )


def side_view(side: Side) -> VerdictView:
    return VerdictView(value=side.verdict, text=side.words, who=side.reviewer, submitted=True)
