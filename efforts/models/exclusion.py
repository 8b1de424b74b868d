"""What a person has left out of prompts."""

from __future__ import annotations

from django.db import models


class Exclusion(models.Model):
    """A turn that no prompt of this branch shows, with all that answers it; nothing of it is lost."""

    branch = models.ForeignKey("Branch", models.CASCADE, related_name="exclusions")
    turn = models.ForeignKey("Turn", models.CASCADE, related_name="exclusions")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["branch", "turn"], name="exclusion_once_in_branch")]

    def __str__(self) -> str:
        return f"{self.turn} left out"
