"""A dry run: the plan of the next call as it would be with other settings, beside the one as it is."""

from __future__ import annotations

from dataclasses import dataclass

from efforts.context.efforts import EffortView, Standing, effort_views
from efforts.context.inspection import DifferenceView, differing
from efforts.context.naming import with_names
from efforts.context.plans import PlanView, preview
from efforts.models import Branch

# More boxes than this are no choice; the panel finds the others.
LISTED = 50


@dataclass(frozen=True, kw_only=True)
class WhatIf:
    """`difference` is missing where one of the two would not be sent."""

    now: PlanView
    then: PlanView
    difference: DifferenceView | None


def what_if(branch: Branch, *, budget: int, ambient_window: int, expanded: list[str], text: str) -> WhatIf:
    now = preview(branch)
    changes = {"budget": budget, "ambient_window": ambient_window}
    then = preview(branch, draft_text=text, changes=changes, expanded=expanded)
    if not now.made or not then.made:
        return WhatIf(now=now, then=with_names(then, branch.session), difference=None)
    found = differing(now.made, then.made, branch, more=then.tokens - now.tokens)
    return WhatIf(now=now, then=with_names(then, branch.session), difference=found)


def expandable(branch: Branch) -> tuple[EffortView, ...]:
    """Concluded efforts with a summary: those that are expanded first, then the newest."""
    concluded = (row for row in effort_views(branch) if row.standing in (Standing.EXPANDED, Standing.CONCLUDED))
    return tuple(concluded)[:LISTED]
