"""What whoever runs CCM Web watches: runs, the queue, what failed, how long turns take, sizes. No word of anybody's.

All but the open pages is read from the database, so that every process tells the same.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.db import connection
from django.db.models import Count, F, Max
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from ccmweb.retention import tidy
from efforts.domain.effort.states import RUN_LABELS, UNFINISHED, RunState
from efforts.models import ContextPlan, Run
from efforts.pages.views.shared import page
from efforts.turns.consumers import open_sockets
from efforts.turns.scopes import SCOPES
from efforts.turns.summaries import SUMMARIES

# Of which errors are counted, and of which times are told.
ERRORS_WITHIN = timedelta(hours=1)
TIMES_WITHIN = timedelta(minutes=15)
MOST_TIMES = 1_000
LISTED = 100
MIDDLE, LATE = 0.5, 0.95


@dataclass(frozen=True, kw_only=True)
class Times:
    """In seconds; None where there are none."""

    count: int
    middle: float | None
    late: float | None


@dataclass(frozen=True, kw_only=True)
class Failures:
    code: str
    count: int
    last: datetime


@dataclass(frozen=True, kw_only=True)
class Figures:
    """`runs` by state and `drafts` by their words; sizes in bytes, ages in seconds."""

    runs: dict[str, int]
    oldest_queued: float
    drafts: dict[str, int]
    failures: tuple[Failures, ...]
    first_token: Times
    turn: Times
    wait: Times
    sockets: int
    people: int
    database_bytes: int
    disk_free_bytes: int


def figures() -> Figures:
    now = timezone.now()
    counted = dict(Run.objects.order_by().values_list("state").annotate(count=Count("pk")))
    oldest = (
        Run.objects.filter(state=RunState.QUEUED).order_by("created_at").values_list("created_at", flat=True).first()
    )
    # Answered within the time, the newest first.
    within = Run.objects.filter(state=RunState.COMPLETED, created_at__gte=now - TIMES_WITHIN)
    ended = list(within.order_by("-created_at").only("created_at", "started_at", "ended_at")[:MOST_TIMES])
    first = ContextPlan.objects.filter(run__in=[run.pk for run in ended], call=1, first_token_ms__isnull=False)
    return Figures(
        runs={state.value: counted.get(state.value, 0) for state in RunState},
        oldest_queued=max(0.0, (now - oldest).total_seconds()) if oldest else 0.0,
        drafts={
            state: sum(line.rows.filter(**{line.state: state}).count() for line in (SUMMARIES, SCOPES))
            for state in ("due", "drafting")
        },
        failures=failures(now),
        first_token=times(
            [value / 1000 for value in first.values_list("first_token_ms", flat=True) if value is not None]
        ),
        turn=times(
            [(run.ended_at - run.started_at).total_seconds() for run in ended if run.ended_at and run.started_at]
        ),
        wait=times([(run.started_at - run.created_at).total_seconds() for run in ended if run.started_at]),
        sockets=sum(open_sockets.values()),
        people=len(open_sockets),
        database_bytes=database_bytes(),
        disk_free_bytes=shutil.disk_usage(settings.CCM_HOME).free,
    )


def failures(now: datetime) -> tuple[Failures, ...]:
    within = Run.objects.filter(state=RunState.FAILED, created_at__gte=now - ERRORS_WITHIN).order_by()
    rows = (
        within.values("error_code").annotate(count=Count("pk"), last=Max("ended_at")).order_by("-count", "error_code")
    )
    return tuple(Failures(code=row["error_code"], count=row["count"], last=row["last"]) for row in rows)


def times(values: Sequence[float]) -> Times:
    ordered = sorted(values)
    if not ordered:
        return Times(count=0, middle=None, late=None)
    at = (ordered[min(len(ordered) - 1, int(len(ordered) * share))] for share in (MIDDLE, LATE))
    return Times(count=len(ordered), middle=next(at), late=next(at))


def database_bytes() -> int:
    asked = "SELECT pg_database_size(current_database())"
    if connection.vendor == "sqlite":
        asked = "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()"
    with connection.cursor() as cursor:
        cursor.execute(asked)
        return int(cursor.fetchone()[0])


@never_cache
@require_GET
def operations(request: HttpRequest) -> HttpResponse:
    if not request.user.is_staff:
        raise PermissionDenied
    found = figures()
    # The oldest first, without what they are about.
    rows = Run.objects.filter(state__in=UNFINISHED).order_by("created_at")
    person, number = F("turn__session__owner__username"), F("turn__number")
    waiting = rows.values("state", "created_at", "lease_owner", "turn__session_id", person=person, number=number)
    context = {
        "figures": found,
        "states": [(RUN_LABELS[state], found.runs[state.value]) for state in RunState],
        "unfinished": [row | {"label": RUN_LABELS[RunState(row["state"])]} for row in waiting[:LISTED]],
        "more": max(0, found.runs["queued"] + found.runs["running"] - LISTED),
        "times": (
            ("First word", found.first_token),
            ("Whole answer", found.turn),
            ("Waited before", found.wait),
        ),
        "due": {what: count for what, count in tidy(really=False).items() if count},
    }
    return page(request, "operations.html", context)  # type: ignore[arg-type]  # signed in, as the middleware saw to
