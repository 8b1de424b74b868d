"""Who has read an artifact beside its log, and how each check has proved itself."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from compaction.models import Artifact, Check, Exam
from efforts.llm.recorded import RECORDED_MODEL


@dataclass(frozen=True, kw_only=True)
class CheckView:
    """`void` says why it proves nothing. `exam` is what the model has shown, None where it has taken none."""

    model: str
    at: datetime
    void: str
    caught: int
    planted: int
    exam: Exam | None

    @property
    def is_recorded(self) -> bool:
        """Of the example: it takes no exam."""
        return self.model == RECORDED_MODEL


def checks_of(row: Artifact) -> tuple[CheckView, ...]:
    """Of all its versions, oldest first."""
    checks = list(Check.objects.filter(family=row.family).order_by("pk"))
    exams = exams_of(row, checks)
    return tuple(
        CheckView(
            model=one.model,
            at=one.created_at,
            void=one.void,
            caught=one.caught,
            planted=one.planted,
            exam=exams.get((one.provider, one.model, one.version)),
        )
        for one in checks
    )


def exams_of(row: Artifact, checks: Iterable[Check]) -> dict[tuple[str, str, str], Exam]:
    """The newest of each model."""
    models = {one.model for one in checks}
    taken = Exam.objects.filter(owner=row.session.owner_id, model__in=models).order_by("pk")
    return {(exam.provider, exam.model, exam.version): exam for exam in taken}
