"""Decisions and open work, each with the message it comes from."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q

from efforts.domain.effort.states import EntryBy, EntryKind, EntryState


class LedgerEntry(models.Model):
    """Of a session; in a branch it stands where its source stands in the timeline.

    `start` and `end` are the characters of its words in `source`; empty where the text says it in other words.
    """

    session = models.ForeignKey("Session", models.CASCADE, related_name="ledger")
    kind = models.CharField(max_length=9, choices=[(k.value, k.label) for k in EntryKind])
    text = models.TextField(help_text="One line.")
    state = models.CharField(max_length=10, choices=[(s.value, s.value) for s in EntryState])
    by = models.CharField(max_length=6, choices=[(b.value, b.value) for b in EntryBy], default=EntryBy.PERSON)
    source = models.ForeignKey("Message", models.CASCADE, related_name="ledger")
    start = models.PositiveIntegerField(null=True, blank=True)
    end = models.PositiveIntegerField(null=True, blank=True)
    superseded_by = models.ForeignKey("self", models.SET_NULL, null=True, blank=True, related_name="supersedes")
    confirmed_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+")
    seems_done_turn = models.PositiveIntegerField(
        null=True, blank=True, help_text="In which the model said that it is done, until the person answers."
    )
    ended_turn = models.PositiveIntegerField(
        null=True, blank=True, help_text="In or after which it was done, superseded or dismissed."
    )
    ended_branch = models.ForeignKey("Branch", models.SET_NULL, null=True, blank=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    changed_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["id"]
        verbose_name_plural = "ledger entries"
        indexes = [models.Index(fields=["session", "kind", "state"], name="entry_by_session")]
        constraints = [
            models.CheckConstraint(
                condition=Q(start__isnull=True, end__isnull=True) | Q(start__isnull=False, end__isnull=False),
                name="entry_has_both_ends_or_none",
            ),
            models.CheckConstraint(
                condition=Q(kind=EntryKind.DECISION, seems_done_turn__isnull=True) & ~Q(state=EntryState.DONE)
                | Q(kind=EntryKind.OPEN_WORK, superseded_by__isnull=True) & ~Q(state=EntryState.SUPERSEDED),
                name="entry_ends_as_its_kind_does",
            ),
        ]

    def __str__(self) -> str:
        return self.text[:80]

    @property
    def name(self) -> str:
        """What tools call it, such as work-12."""
        return f"{'work' if self.kind == EntryKind.OPEN_WORK else 'decision'}-{self.pk}"
