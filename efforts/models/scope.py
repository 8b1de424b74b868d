"""Chosen turns that are to be summarised."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from efforts.domain.effort.notices import span_said
from efforts.domain.effort.states import ScopeKind, ScopeState


class ScopeDraft(models.Model):
    """A summary of chosen turns of one branch, on its way to an artifact. Claimed and leased like a run."""

    branch = models.ForeignKey("Branch", models.CASCADE, related_name="scope_drafts")
    kind = models.CharField(max_length=11, choices=[(k.value, k.value) for k in ScopeKind])
    turns = models.JSONField(help_text="Numbers of the chosen turns, in order.")
    state = models.CharField(max_length=8, choices=[(s.value, s.value) for s in ScopeState], default=ScopeState.DUE)
    owner_key = models.CharField(max_length=100, blank=True, help_text="Who drafts it.")
    expires_at = models.DateTimeField(null=True, blank=True)
    actor = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
        help_text="Who asked.",
    )
    artifact = models.CharField(max_length=68, blank=True, help_text="What was made; not always what may stand.")
    why = models.TextField(blank=True, help_text="Why there is none that may stand.")
    focus = models.CharField(max_length=500, blank=True, help_text="What it is to keep in view.")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]
        indexes = [models.Index(fields=["state"], name="scope_draft_by_state")]

    def __str__(self) -> str:
        return f"{self.kind} {span_said(self.turns[0], self.turns[-1])}: {self.state}" if self.turns else self.kind
