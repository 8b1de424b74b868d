"""Models that take longer over drafts than their connection allows for one request."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from compaction.domain.gates.cost import ENOUGH_RUNS, LAST_RUNS, percentile
from compaction.models import DraftRun

if TYPE_CHECKING:
    from django.contrib.auth.models import User


@dataclass(frozen=True, kw_only=True)
class SlowDrafter:
    """Of the last `runs` drafts 95 % took at most `p95_ms`, None where more than the others did not end."""

    model: str
    runs: int
    p95_ms: int | None
    timeout_ms: int


def slow_drafters_of(user: User) -> list[SlowDrafter]:
    """From twenty drafts on; those that did not end last for ever."""
    runs = DraftRun.objects.filter(session__owner=user, drafter="model").exclude(model="")
    found = []
    for model in runs.order_by("model").values_list("model", flat=True).distinct():
        latest = list(runs.filter(model=model).order_by("-pk")[:LAST_RUNS])
        limits = [one["timeout_ms"] for run in latest for one in run.spent if one["purpose"] == run.purpose]
        if len(latest) < ENOUGH_RUNS or not limits:
            continue
        p95 = percentile([run.elapsed_ms for run in latest])
        if p95 is None or p95 > limits[0]:
            found.append(SlowDrafter(model=model, runs=len(latest), p95_ms=p95, timeout_ms=limits[0]))
    return found
