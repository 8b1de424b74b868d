"""How much one person may ask for at a time, so that there is something left for all others."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.conf import settings
from django.contrib.auth.models import User
from django.db.models import Count, QuerySet, Subquery
from django.utils import timezone

from efforts.domain.effort.states import RunState
from efforts.domain.errors import Refused
from efforts.models import Run
from efforts.models.prepared import in_one_row, prepared

MINUTE = timedelta(minutes=1)


def check_share(person: User) -> None:
    """Before a person's turn is asked for. Raises `Refused` with `too_many_waiting` or `too_fast`."""
    [(waiting, recent)] = asked_by(person.pk, timezone.now() - MINUTE)
    if waiting >= settings.CCM_PERSON_WAITING:
        raise Refused(
            "too_many_waiting",
            f"{waiting} of your messages wait to be answered, and no more than {settings.CCM_PERSON_WAITING} can. "
            "Send this one when some have been.",
        )
    if recent >= settings.CCM_PERSON_SENDS:
        raise Refused(
            "too_fast", f"You have sent {recent} messages within a minute, which is the most. Wait, and send it again."
        )


@prepared
def asked_by(person: int, since: datetime) -> QuerySet[User, tuple[int, int]]:
    """How many of the person's runs wait, and how many were asked for since then."""
    mine = Run.objects.filter(turn__session__owner=person)
    # By all states, because the index of runs begins with it.
    recent = mine.filter(state__in=list(RunState), created_at__gt=since)
    counts = [Subquery(in_one_row(rows, n=Count("pk"))) for rows in (mine.filter(state=RunState.QUEUED), recent)]
    return User.objects.filter(pk=person).values_list(*counts)
