"""What a person wants every reply to follow, in their own words."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q


class Instructions(models.Model):
    """Of a person for all conversations, where it names none, or for one. Sent word for word with every request."""

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="instructions")
    session = models.OneToOneField("Session", models.CASCADE, null=True, blank=True, related_name="instructions")
    text = models.TextField()
    changed_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["id"]
        verbose_name_plural = "instructions"
        constraints = [
            models.UniqueConstraint(
                fields=["owner"], condition=Q(session__isnull=True), name="one_instructions_for_all_per_owner"
            )
        ]

    def __str__(self) -> str:
        return self.text[:60]
