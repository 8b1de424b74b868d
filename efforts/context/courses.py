"""Where the efforts of a branch stood when a turn had ended, read from its log."""

from __future__ import annotations

from django.db.models import QuerySet

from efforts.domain.effort.reducer import STEPS, Course, Happening
from efforts.log.timelines import branch_events
from efforts.models import Branch, Event, Run

Read = tuple[Course, int]


def course_at(branch: Branch, number: int, before: Read | None = None) -> Read:
    """The course up to the start of the first turn after `number`, a turn of the branch's own; and its last event.
    `before`: what was read earlier, and is read on from there."""
    events = branch_events(branch)
    if begins := first_after(branch, number):
        events = events.filter(seq__lt=begins)
    return read_on(events, before)


def course_now(branch: Branch, before: Read | None = None) -> Read:
    """Of all that is told by now."""
    return read_on(branch_events(branch), before)


def read_on(events: QuerySet[Event], before: Read | None) -> Read:
    # First: what comes meanwhile is read the next time.
    last = events.order_by("-seq").values_list("seq", flat=True).first() or 0
    # A turn that began meanwhile ends it earlier: what was read too far is no use.
    course, done = before if before and before[1] <= last else (Course(), 0)
    return read_course(events.filter(seq__gt=done, seq__lte=last), course), last


def read_course(events: QuerySet[Event], course: Course | None = None) -> Course:
    """What these events tell of efforts, after those that `course` came of. Raises what a log that was tampered with
    makes it raise."""
    course = course or Course()
    for seq, kind, data in events.filter(kind__in=STEPS).values_list("seq", "kind", "data").iterator():
        course.take(Happening(seq=seq, kind=kind, data=data))
    return course


def first_after(branch: Branch, number: int) -> int | None:
    """The number of the event with which the first turn after `number` started."""
    # Turns of a branch run one after the other: what is told before it is all of the turns before it, and no more.
    runs = Run.objects.filter(branch=branch, turn__number__gt=number, started_at__isnull=False)
    first = runs.order_by("turn__number", "attempt").first()
    if first is None:
        return None
    started = Event.objects.filter(session=branch.session_id, kind="run.started", data__run=str(first.pk))
    return started.values_list("seq", flat=True).order_by("seq").first()
