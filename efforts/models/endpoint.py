"""Where models answer."""

from __future__ import annotations

from django.conf import settings
from django.db import models

DRAFT_SECONDS = 90


class Endpoint(models.Model):
    """An OpenAI-compatible address of one person, with its key encrypted at rest."""

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="endpoints")
    name = models.CharField(max_length=80)
    base_url = models.URLField(max_length=300)
    key_encrypted = models.TextField(blank=True)
    model = models.CharField(
        max_length=200, blank=True, help_text="Used by new conversations and where a session names none."
    )
    context_window = models.PositiveIntegerField(
        null=True, blank=True, help_text="Tokens; empty where it is not known."
    )
    reply_limit = models.PositiveIntegerField(
        null=True, blank=True, help_text="Tokens a reply may have; empty: the model's own limit."
    )
    timeout_seconds = models.PositiveIntegerField(
        default=300, help_text="How long to wait for the next piece of a reply."
    )
    draft_model = models.CharField(
        max_length=200, blank=True, help_text="Writes summaries, for example a cheaper one; empty: the model itself."
    )
    embedding_model = models.CharField(
        max_length=200, blank=True, help_text="Compares meanings; empty: that of the installation, if any."
    )
    sees_pictures = models.BooleanField(
        default=False, db_default=False, help_text="Pictures in a message are sent to the model."
    )
    writes_titles = models.BooleanField(
        default=True, db_default=True, help_text="Is asked for a title after the first reply of a conversation."
    )
    draft_seconds = models.PositiveIntegerField(
        default=DRAFT_SECONDS, help_text="The longest that one summary may take."
    )
    price_prompt = models.DecimalField(
        max_digits=12, decimal_places=6, null=True, blank=True, help_text="Of a million tokens; empty: not known."
    )
    price_completion = models.DecimalField(max_digits=12, decimal_places=6, null=True, blank=True)
    price_cached = models.DecimalField(
        max_digits=12, decimal_places=6, null=True, blank=True, help_text="Empty: as any other input."
    )
    currency = models.CharField(
        max_length=3, default="USD", db_default="USD", help_text="ISO 4217, of all three prices."
    )
    is_default = models.BooleanField(default=False, help_text="New conversations use it.")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(fields=["owner", "name"], name="endpoint_name_once_per_owner"),
            models.UniqueConstraint(
                fields=["owner"], condition=models.Q(is_default=True), name="one_default_endpoint_per_owner"
            ),
        ]

    def __str__(self) -> str:
        return self.name
