"""The call that asked a model for the title of a conversation, as every other call of a model is kept."""

from __future__ import annotations

from django.db import models


class Titling(models.Model):
    session = models.OneToOneField("Session", models.CASCADE, primary_key=True, related_name="titling")
    model = models.CharField(max_length=200)
    messages = models.JSONField(help_text="Of the request.")
    answer = models.TextField(blank=True)
    title = models.CharField(max_length=200, blank=True, help_text="What was made of the answer; empty: nothing.")
    prompt_tokens = models.PositiveIntegerField(null=True, help_text="As the provider counts; empty: not reported.")
    completion_tokens = models.PositiveIntegerField(null=True)
    tokens = models.PositiveIntegerField(default=0, db_default=0, help_text="Of the request, as counted here.")
    price = models.JSONField(null=True, help_text="Of the model then; empty: none was set.")
    elapsed_ms = models.PositiveIntegerField()
    error = models.TextField(blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["created_at"]

    def __str__(self) -> str:
        return self.title or self.error or "no title"
