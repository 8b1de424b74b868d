"""What a person writes often."""

from __future__ import annotations

from django.conf import settings
from django.db import models


class SavedPrompt(models.Model):
    """Typed by `/` and its name where messages are written."""

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="saved_prompts")
    name = models.CharField(max_length=40)
    text = models.TextField()
    changed_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["name"]
        constraints = [models.UniqueConstraint(fields=["owner", "name"], name="prompt_name_once_per_owner")]

    def __str__(self) -> str:
        return f"/{self.name}"
