"""How much one person may ask for at a time, so that there is something left for all others."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from django.conf import settings
from django.db.models import Count, QuerySet
from django.utils import timezone

from efforts.domain.effort.states import RunState
from efforts.domain.errors import Refused
from efforts.models import Run
from efforts.models.prepared import in_one_row, prepared

if TYPE_CHECKING:
    from django.contrib.auth.models import User

MINUTE = timedelta(minutes=1)


def check_share(person: User) -> None:
    """Before a person's turn is asked for. Raises `Refused` with `too_many_waiting` or `too_fast`."""
    [(waiting,)] = waiting_of(person.pk)
    if waiting >= settings.CCM_PERSON_WAITING:
        raise Refused(
            "too_many_waiting",
            f"{waiting} of your messages wait to be answered, and no more than {settings.CCM_PERSON_WAITING} can. "
            "Send this one when some have been.",
        )
    [(recent,)] = sent_since(person.pk, timezone.now() - MINUTE)
    if recent >= settings.CCM_PERSON_SENDS:
        raise Refused(
            "too_fast", f"You have sent {recent} messages within a minute, which is the most. Wait, and send it again."
        )


@prepared
def waiting_of(person: int) -> QuerySet[Run, tuple[int, ...]]:
    return in_one_row(Run.objects.filter(turn__session__owner=person, state=RunState.QUEUED), count=Count("pk"))


@prepared
def sent_since(person: int, since: datetime) -> QuerySet[Run, tuple[int, ...]]:
    # By all states, because the index of runs begins with it.
    sent = Run.objects.filter(turn__session__owner=person, state__in=list(RunState), created_at__gt=since)
    return in_one_row(sent, count=Count("pk"))
