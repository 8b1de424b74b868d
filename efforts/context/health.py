"""How the models of one person do: what they report beside what is counted here, and how calls fail."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.db.models import Prefetch, QuerySet

from efforts.context.connections import label_of
from efforts.domain.effort.states import RunState
from efforts.domain.prompt.usage import NEWEST, Counted, cached_share, correction, off_share
from efforts.models import ContextPlan, Run
from efforts.models.prepared import prepared

if TYPE_CHECKING:
    from django.contrib.auth.models import AbstractBaseUser, AnonymousUser

# Attempts that are looked at, the newest: a page must not grow with the past.
NEWEST_RUNS = 1_000


@dataclass(frozen=True, kw_only=True)
class ModelHealth:
    """One model at one endpoint. Shares are of 1; `correction` is what a count is multiplied by."""

    label: str
    model: str
    calls: int
    reported: int
    corrected_by: int
    correction: float | None
    off_share: float | None
    cached_share: float | None
    runs: int
    failures: tuple[tuple[str, int], ...]

    @property
    def failed(self) -> int:
        return sum(count for _, count in self.failures)


def model_health(owner: AbstractBaseUser | AnonymousUser) -> tuple[ModelHealth, ...]:
    """Of every model that was asked lately, the one asked last first."""
    groups: dict[tuple[Any, ...], list[Run]] = {}
    plans = Prefetch("plans", ContextPlan.objects.defer("body").order_by("-call"))
    mine = Run.objects.filter(turn__session__owner_id=owner.pk, started_at__isnull=False)
    # Where no settings could be taken, no model was chosen, and none was asked.
    for run in mine.exclude(settings={}).prefetch_related(plans).order_by("-started_at")[:NEWEST_RUNS]:
        groups.setdefault(model_in(run.settings), []).append(run)
    return tuple(health_of(runs) for runs in groups.values())


def model_in(chosen: Mapping[str, Any]) -> tuple[Any, ...]:
    """Of a run's settings."""
    return tuple(chosen.get(key) for key in ("kind", "endpoint", "model"))


def health_of(runs: Sequence[Run]) -> ModelHealth:
    plans = [plan for run in runs for plan in run.plans.all()]
    calls = [counted(plan) for plan in plans if plan.prompt_tokens and plan.tokens]
    return ModelHealth(
        label=label_of(runs[0].settings),
        model=runs[0].settings.get("model", ""),
        calls=len(plans),
        reported=len(calls),
        corrected_by=min(len(calls), NEWEST),
        correction=correction(calls),
        off_share=off_share(calls),
        cached_share=cached_share(calls),
        runs=len(runs),
        failures=failures(runs),
    )


def counted(plan: ContextPlan) -> Counted:
    return Counted(counted=plan.tokens, reported=plan.prompt_tokens or 0, cached=plan.cached_tokens)


def learned_correction(run: Run) -> float | None:
    """By what the counts of a run are to be multiplied, from the newest calls of its branch with the same model."""
    # Not those with a report alone: where a provider reports nothing, that would read the whole history.
    rows = newest_counts(run.branch_id)
    same = [counts for chosen, *counts in rows if model_in(chosen) == model_in(run.settings)]
    factor = correction([Counted(counted=n, reported=told, cached=cached) for n, told, cached in same if n and told])
    return factor and round(factor, 4)


@prepared
def newest_counts(branch: UUID) -> QuerySet[ContextPlan, tuple[Any, ...]]:
    newest = ContextPlan.objects.filter(branch=branch).order_by("-created_at")
    return newest.values_list("run__settings", "tokens", "prompt_tokens", "cached_tokens")[:NEWEST]


def failures(runs: Iterable[Run]) -> tuple[tuple[str, int], ...]:
    """By their code, the most frequent first."""
    bad = (run.error_code or run.state for run in runs if run.state in (RunState.FAILED, RunState.INTERRUPTED))
    return tuple(Counter(bad).most_common())
