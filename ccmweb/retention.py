"""What is kept for a time only. Nothing that a person or a model said in a conversation is among it, ever."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from axes.models import AccessAttempt
from django.conf import settings
from django.contrib.sessions.models import Session as SignedIn
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext_noop as _

from ccmweb.models import SignInLink
from compaction.models import ModelRequest
from efforts.log import events
from efforts.models import AccountEvent

# Of the log of an account: who came in, and which of staff looked at what is theirs.
AUDIT = ("signed in", "signed out", "read by staff", "listed by staff")
# What is over is kept so long for whoever wonders why it does not work.
MOMENT = timedelta(days=1)


@dataclass(frozen=True)
class Overdue:
    """Rows whose time is over, and what is done with them."""

    what: str
    rows: QuerySet[Any]
    end: Callable[[QuerySet[Any]], None]


def overdue(now: datetime) -> list[Overdue]:
    found = [
        Overdue(_("expired sign-ins"), SignedIn.objects.filter(expire_date__lt=now), delete),
        Overdue(_("expired sign-in links"), SignInLink.objects.filter(expires_at__lt=now - MOMENT), delete),
        Overdue(
            _("wrong passwords that hold up nobody any more"),
            AccessAttempt.objects.filter(attempt_time__lt=now - max(MOMENT, settings.AXES_COOLOFF_TIME)),
            delete,
        ),
    ]
    if days := settings.CCM_KEEP_AUDIT_DAYS:
        before = now - timedelta(days=days)
        looks = AccountEvent.objects.filter(kind__in=AUDIT, created_at__lt=before)
        found.append(Overdue(_("records of sign-ins and of looks by staff"), looks, remove_and_tell))
    if days := settings.CCM_KEEP_REQUESTS_DAYS:
        before = now - timedelta(days=days)
        asked = ModelRequest.objects.filter(created_at__lt=before).exclude(packed=b"")
        found.append(Overdue(_("texts of requests about summaries"), asked, empty))
    return found


def tidy(*, really: bool) -> dict[str, int]:
    """How many there are of each, and with `really` no more."""
    told = {}
    for one in overdue(timezone.now()):
        with transaction.atomic():
            told[one.what] = one.rows.count()
            if really and told[one.what]:
                one.end(one.rows)
    return told


def delete(rows: QuerySet[Any]) -> None:
    rows.delete()


def remove_and_tell(rows: QuerySet[Any]) -> None:
    """Each person's log says how many of its records are gone."""
    # Once for both: what comes meanwhile is too young to be among them, but a second run may be under way.
    found = list(rows.select_for_update().select_related("owner"))
    counts = Counter(row.owner for row in found)
    AccountEvent.objects.filter(pk__in=[row.pk for row in found]).delete()
    for owner, count in counts.items():
        events.account(
            owner, events.RECORDS_REMOVED, {"records": count, "older_than_days": settings.CCM_KEEP_AUDIT_DAYS}
        )


def empty(rows: QuerySet[Any]) -> None:
    """The answers stay, by which summaries were judged, and the hash of what was asked."""
    rows.update(packed=b"")
