"""What every page shows of reviews."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from django import template

from compaction.drafting.costs import spent_in
from compaction.pages.presenters.checkers import CheckersView, SlowDrafter, checkers_of, slow_drafters_of
from compaction.pages.presenters.claims import LOOKS
from compaction.pages.presenters.queue import needs_me, next_in_queue

if TYPE_CHECKING:
    from django.template.context import RequestContext

    from compaction.models import Artifact
    from compaction.pages.presenters.gates import GateView
    from efforts.models import Endpoint

register = template.Library()


@register.simple_tag(takes_context=True)
def waiting_reviews(context: RequestContext) -> int:
    """How many summaries wait for the person who asks."""
    return needs_me(context["user"])


@register.simple_tag(takes_context=True)
def checkers(context: RequestContext) -> CheckersView:
    """Who checks the summaries of the person who asks, and how well."""
    return checkers_of(context["user"])


@register.simple_tag(takes_context=True)
def slow_drafters(context: RequestContext) -> list[SlowDrafter]:
    """Models whose drafts take the person who asks too long."""
    return slow_drafters_of(context["user"])


@register.simple_tag
def exams_at(endpoint: Endpoint) -> CheckersView:
    """How the models of one connection do as checkers."""
    found = checkers_of(endpoint.owner)
    return replace(found, rows=tuple(row for row in found.rows if row.endpoint == endpoint))


@register.simple_tag(takes_context=True)
def next_review(context: RequestContext, after: Artifact) -> Artifact | None:
    """What waits for the person who asks, behind that one."""
    return next_in_queue(context["user"], after)


@register.filter
def by_outcome(gates: Iterable[GateView]) -> list[tuple[str, int]]:
    """How many gates came out so, in their order."""
    return list(Counter(gate.outcome for gate in gates).items())


@register.filter
def verdict_look(verdict: str) -> tuple[str, str, str]:
    """What a verdict is called, its colour and its icon."""
    return LOOKS[verdict]


register.simple_tag(spent_in, name="spent_on_summaries")
