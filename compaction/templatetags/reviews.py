"""What every page shows of reviews."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from django import template

from compaction.drafting.costs import spent_in
from compaction.pages.presenters.checkers import CheckersView, checkers_of, slow_drafters_of
from compaction.pages.presenters.claims import LOOKS
from compaction.pages.presenters.queue import needs_me, next_in_queue

if TYPE_CHECKING:
    from compaction.pages.presenters.gates import GateView
    from efforts.models import Endpoint

register = template.Library()


# Of the person who asks: how many summaries wait, and which after another; who checks them, and who drafts too slowly.
register.simple_tag(needs_me, name="waiting_reviews")
register.simple_tag(next_in_queue, name="next_review")
register.simple_tag(checkers_of, name="checkers")
register.simple_tag(slow_drafters_of, name="slow_drafters")
register.simple_tag(spent_in, name="spent_on_summaries")


@register.simple_tag
def exams_at(endpoint: Endpoint) -> CheckersView:
    """How the models of one connection do as checkers."""
    found = checkers_of(endpoint.owner)
    return replace(found, rows=tuple(row for row in found.rows if row.endpoint == endpoint))


@register.filter
def by_outcome(gates: Iterable[GateView]) -> list[tuple[str, int]]:
    """How many gates came out so, in their order."""
    return list(Counter(gate.outcome for gate in gates).items())


@register.filter
def verdict_look(verdict: str) -> tuple[str, str, str]:
    """What a verdict is called, its colour and its icon."""
    return LOOKS[verdict]
