"""What a model call was sent, and why."""

from __future__ import annotations

import uuid
from typing import Any

from django.db import models
from django.urls import reverse


class ContextPlan(models.Model):
    """One plan a model call, saved before the request is sent. Immutable but for what the provider reports."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    session = models.ForeignKey("Session", models.CASCADE, related_name="plans")
    branch = models.ForeignKey("Branch", models.CASCADE, related_name="plans")
    run = models.ForeignKey("Run", models.CASCADE, related_name="plans")
    call = models.PositiveSmallIntegerField(help_text="Number of the model call in its run, from 1.")
    planner_version = models.CharField(max_length=20)
    encoding = models.CharField(max_length=40, help_text="The tokenizer that counted.")
    budget = models.PositiveIntegerField(help_text="Effective budget, tokens.")
    tokens = models.PositiveIntegerField(help_text="The rendered request, counted.")
    layout_key = models.CharField(max_length=64, blank=True, help_text="Calls with the same key keep the same cuts.")
    request_sha256 = models.CharField(max_length=64)
    body = models.JSONField(
        help_text="Items with decisions and reasons, sections, layout and the recipe of the request."
    )
    seal_before = models.CharField(max_length=64, blank=True, help_text="Of the plan before it in its branch.")
    seal = models.CharField(
        max_length=64, blank=True, help_text="Over all of it up to here; empty: it is from before there were seals."
    )
    prompt_tokens = models.PositiveIntegerField(null=True, blank=True, help_text="As reported by the provider.")
    cached_tokens = models.PositiveIntegerField(null=True, blank=True)
    completion_tokens = models.PositiveIntegerField(null=True, blank=True)
    first_token_ms = models.PositiveIntegerField(null=True, blank=True)
    elapsed_ms = models.PositiveIntegerField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["created_at"]
        constraints = [models.UniqueConstraint(fields=["run", "call"], name="one_plan_per_call")]
        # Every call begins with the layout of the newest plan of its branch.
        indexes = [
            models.Index(fields=["branch", "-created_at"], name="plan_by_branch"),
            models.Index(fields=["branch", "layout_key", "-created_at"], name="plan_by_layout"),
        ]

    def __str__(self) -> str:
        return f"call {self.call}: {self.tokens:,} of {self.budget:,} tokens"

    def get_absolute_url(self) -> str:
        return reverse("plan", args=[self.session_id, self.pk])

    @property
    def sealed_content(self) -> dict[str, Any]:
        """What the seal is over: all but what the provider reports later."""
        ids = {"id": str(self.pk), "branch": str(self.branch_id), "run": str(self.run_id)}
        made = {"version": self.planner_version, "encoding": self.encoding, "layout_key": self.layout_key}
        counts = {"call": self.call, "budget": self.budget, "tokens": self.tokens}
        return {**ids, **made, **counts, "request": self.request_sha256, "body": self.body}


class Fragment(models.Model):
    """A rendered text that is not a message, stored once per session by its hash."""

    session = models.ForeignKey("Session", models.CASCADE, related_name="fragments")
    sha256 = models.CharField(max_length=64)
    text = models.TextField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["session", "sha256"], name="fragment_once_in_session")]

    def __str__(self) -> str:
        return self.sha256[:12]
