"""Rules and prohibitions that a person states."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q

from efforts.domain.effort.states import ConstraintBy, ConstraintState


class Constraint(models.Model):
    """A rule of one session, in all its branches; without a session a standing rule for all sessions of its owner.

    `source` is the message it comes from, `start` and `end` the characters of its words there.
    """

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="constraints")
    session = models.ForeignKey("Session", models.CASCADE, null=True, blank=True, related_name="constraints")
    text = models.TextField(help_text="One line, word for word as it stands in the prompt.")
    source = models.ForeignKey("Message", models.CASCADE, null=True, blank=True, related_name="constraints")
    start = models.PositiveIntegerField(null=True, blank=True)
    end = models.PositiveIntegerField(null=True, blank=True)
    state = models.CharField(max_length=9, choices=[(s.value, s.value) for s in ConstraintState])
    by = models.CharField(max_length=6, choices=[(b.value, b.value) for b in ConstraintBy], default=ConstraintBy.PERSON)
    created_at = models.DateTimeField(auto_now_add=True)
    changed_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["id"]
        # Every plan reads those in force.
        indexes = [
            models.Index(fields=["session", "state"], name="constraint_by_session"),
            models.Index(fields=["owner", "state"], name="constraint_by_owner"),
        ]
        constraints = [
            models.CheckConstraint(
                condition=Q(source__isnull=True, start__isnull=True, end__isnull=True)
                | Q(session__isnull=False, source__isnull=False, start__isnull=False, end__isnull=False),
                name="constraint_source_is_of_a_session",
            ),
            models.CheckConstraint(
                condition=Q(session__isnull=False) | ~Q(state=ConstraintState.SUGGESTED),
                name="standing_constraint_is_no_suggestion",
            ),
        ]

    def __str__(self) -> str:
        return self.text[:80]
