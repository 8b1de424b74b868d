"""Where the efforts of a branch stood when a turn had ended, read from its log."""

from __future__ import annotations

from django.db.models import QuerySet

from efforts.domain.effort.reducer import STEPS, Course, Happening, course_of
from efforts.log.timelines import branch_events
from efforts.models import Branch, Event, Run


def course_at(branch: Branch, number: int) -> tuple[Course, int]:
    """The course up to the start of the first turn after `number`, a turn of the branch's own; and its last event."""
    events = branch_events(branch)
    if begins := first_after(branch, number):
        events = events.filter(seq__lt=begins)
    last = events.order_by("-seq").values_list("seq", flat=True).first()
    return read_course(events), last or 0


def read_course(events: QuerySet[Event]) -> Course:
    """What these events tell of efforts. Raises what a log that was tampered with makes it raise."""
    told = events.filter(kind__in=STEPS).values_list("seq", "kind", "data")
    return course_of(Happening(seq=seq, kind=kind, data=data) for seq, kind, data in told.iterator())


def first_after(branch: Branch, number: int) -> int | None:
    """The number of the event with which the first turn after `number` started."""
    # Turns of a branch run one after the other: what is told before it is all of the turns before it, and no more.
    runs = Run.objects.filter(branch=branch, turn__number__gt=number, started_at__isnull=False)
    first = runs.order_by("turn__number", "attempt").first()
    if first is None:
        return None
    started = Event.objects.filter(session=branch.session_id, kind="run.started", data__run=str(first.pk))
    return started.values_list("seq", flat=True).order_by("seq").first()
