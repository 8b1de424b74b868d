"""Which calls sent a turn, and why the others did not."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import groupby

from efforts.domain.prompt.difference import MadePlan
from efforts.domain.prompt.whereabouts import Presence, Whereabouts, whereabouts
from efforts.log.timelines import branch_plans
from efforts.models import Branch, ContextPlan, PointerTurn, Turn, TurnLabel

# A turn of long ago is in many plans; the newest say why it is out now.
NEWEST_PLANS = 100

LABELS = {
    Presence.ANSWERED: "Answered",
    Presence.WHOLE: "Sent whole",
    Presence.CUT: "Sent, cut to fit",
    Presence.PINNED: "Sent as a pin",
    Presence.QUOTED: "Quoted in part, as found earlier",
    Presence.SUMMARY: "Replaced by a summary or excerpts",
    Presence.OUT: "Not sent",
}


@dataclass(frozen=True, kw_only=True)
class Stretch:
    """Calls that follow each other and did the same with the turn."""

    plans: tuple[ContextPlan, ...]
    found: Whereabouts

    @property
    def label(self) -> str:
        return LABELS[self.found.presence]

    @property
    def first(self) -> ContextPlan:
        return self.plans[0]

    @property
    def last(self) -> ContextPlan:
        return self.plans[-1]


@dataclass(frozen=True, kw_only=True)
class Sendings:
    """Oldest first. `has_older`: there were calls before these."""

    stretches: tuple[Stretch, ...]
    has_older: bool


def sendings_of(branch: Branch, turn: Turn) -> Sendings:
    since = branch_plans(branch).filter(run__turn__number__gte=turn.number)
    newest = list(since.select_related("run__turn").order_by("-created_at")[: NEWEST_PLANS + 1])
    plans = list(reversed(newest[:NEWEST_PLANS]))
    return Sendings(stretches=tuple(stretches(branch, turn, plans)), has_older=len(newest) > NEWEST_PLANS)


def stretches(branch: Branch, turn: Turn, plans: Iterable[ContextPlan]) -> Iterable[Stretch]:
    label = TurnLabel.objects.filter(branch=branch, turn=turn).select_related("effort").first()
    effort = label.effort.slug if label else ""
    scopes = PointerTurn.objects.filter(turn=turn, branch=branch, pointer__effort__isnull=False)
    pointers = dict(scopes.values_list("pointer_id", "pointer__effort__slug"))
    found = ((plan, in_plan(turn.number, plan, effort, pointers)) for plan in plans)
    for where, group in groupby(found, lambda pair: pair[1]):
        yield Stretch(plans=tuple(plan for plan, _ in group), found=where)


def in_plan(number: int, plan: ContextPlan, effort: str, pointers: Mapping[int, str]) -> Whereabouts:
    made = MadePlan.from_body(plan.run.turn.number, plan.body)
    # Which summary an effort had then: one that was written since may be about other turns.
    stood = {pointers[pointer] for pointer in plan.body["layout"]["headlines"] if pointer in pointers}
    return whereabouts(number, made, effort=effort, summarised_by=stood)
