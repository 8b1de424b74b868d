"""How much one person may ask for at a time, so that there is something left for all others."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from django.conf import settings
from django.utils import timezone

from efforts.domain.effort.states import RunState
from efforts.domain.errors import Refused
from efforts.models import Run

if TYPE_CHECKING:
    from django.contrib.auth.models import User

MINUTE = timedelta(minutes=1)


def check_share(person: User) -> None:
    """Before a person's turn is asked for. Raises `Refused` with `too_many_waiting` or `too_fast`."""
    runs = Run.objects.filter(turn__session__owner=person)
    waiting = runs.filter(state=RunState.QUEUED).count()
    if waiting >= settings.CCM_PERSON_WAITING:
        raise Refused(
            "too_many_waiting",
            f"{waiting} of your messages wait to be answered, and no more than {settings.CCM_PERSON_WAITING} can. "
            "Send this one when some have been.",
        )
    # By all states, because the index of runs begins with it.
    recent = runs.filter(state__in=list(RunState), created_at__gt=timezone.now() - MINUTE).count()
    if recent >= settings.CCM_PERSON_SENDS:
        raise Refused(
            "too_fast", f"You have sent {recent} messages within a minute, which is the most. Wait, and send it again."
        )
