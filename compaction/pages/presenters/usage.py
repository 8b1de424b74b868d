"""What a model was asked for, one by one: drafts, checks and exams, as the page of their cost lists them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from compaction.domain.lifecycle import Ended
from compaction.domain.limits import Purpose
from compaction.drafting import costs
from compaction.models import Artifact, Exam
from compaction.pages.presenters.artifact import ENDS
from efforts.models import Session

if TYPE_CHECKING:
    from django.contrib.auth.models import User


@dataclass(frozen=True, kw_only=True)
class AskedView:
    """`tokens` is None where they are not known, `model` empty where none was asked. `well`: it did its work."""

    at: datetime
    tokens: int | None
    model: str
    ended: str
    well: bool
    session: Session | None = None
    of: str = ""
    elapsed_ms: int | None = None
    artifacts: tuple[Artifact, ...] = ()


def asked_for(user: User, purpose: str, days: int, most: int) -> list[AskedView]:
    """The newest first, at most so many; without a purpose of all."""
    found: list[AskedView] = []
    if purpose not in (Purpose.CHECK, Purpose.EXAM):
        found += drafts(user, purpose, days, most)
    if purpose in ("", Purpose.CHECK):
        found += checks(user, days, most)
    if purpose in ("", Purpose.EXAM):
        found += exams(user, days, most)
    return sorted(found, key=lambda one: one.at, reverse=True)[:most]


def drafts(user: User, purpose: str, days: int, most: int) -> Iterator[AskedView]:
    runs = costs.runs_of(user, days, purpose).select_related("session", "effort").prefetch_related("artifacts")
    for run in runs.order_by("-pk")[:most]:
        asked = bool(run.model)
        yield AskedView(
            at=run.created_at,
            tokens=run.tokens if asked else 0,
            model=run.model,
            ended=ENDS[Ended(run.ended)] if asked else "Made without a model",
            well=run.ended == Ended.DRAFTED,
            session=run.session,
            of=run.effort.name if run.effort else "",
            elapsed_ms=run.elapsed_ms,
            artifacts=tuple(run.artifacts.all()),
        )


def checks(user: User, days: int, most: int) -> Iterator[AskedView]:
    for row in costs.checks_of(user, days).select_related("run__session", "run__effort").order_by("-pk")[:most]:
        yield AskedView(
            at=row.created_at,
            tokens=row.tokens,
            model=row.model,
            ended=f"Does not count: {row.void}" if row.void else "Checked",
            well=not row.void,
            session=row.run.session,
            of=row.run.effort.name if row.run.effort else "",
            artifacts=tuple(Artifact.objects.filter(pk=row.family)),
        )


def exams(user: User, days: int, most: int) -> Iterator[AskedView]:
    rows = Exam.objects.filter(owner=user, created_at__gte=costs.start_of(days))
    for row in rows.order_by("-pk")[:most]:
        score = f"{row.score} of {row.wrong + row.true}"
        yield AskedView(
            at=row.created_at,
            tokens=row.tokens,
            model=row.model,
            ended=f"Exam passed, {score}" if row.passed else f"Exam not passed, {score}",
            well=row.passed,
        )
