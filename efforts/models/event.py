"""The append-only logs: what happened in a session, and to an account."""

from __future__ import annotations

from django.conf import settings
from django.db import models


class Event(models.Model):
    """One numbered entry of a session's log; browsers follow it by number, people audit it."""

    session = models.ForeignKey("Session", models.CASCADE, related_name="events")
    seq = models.PositiveBigIntegerField()
    kind = models.CharField(max_length=40)
    # Not CASCADE: what was done stays on record when the account that did it is gone.
    actor = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+")
    data = models.JSONField(default=dict)
    seal = models.CharField(max_length=64, blank=True, help_text="Over it and the seal before it; a delta has none.")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["session", "seq"]
        constraints = [models.UniqueConstraint(fields=["session", "seq"], name="event_number_once_in_session")]
        # Deltas are read and removed by their kind while text streams.
        indexes = [models.Index(fields=["session", "kind", "seq"], name="event_by_kind")]

    def __str__(self) -> str:
        return f"{self.seq} {self.kind}"


class AccountEvent(models.Model):
    """What happened outside any session: sign-ins, endpoints, deletions."""

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="account_events")
    kind = models.CharField(max_length=40)
    actor = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+")
    data = models.JSONField(default=dict)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return self.kind
