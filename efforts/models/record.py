"""What came of a model call: tools that ran, what searches found, and what the person thought of the answer."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.db import models
from django.db.models import Q

from efforts.domain.effort.states import Trigger, VerdictValue


class ToolTrace(models.Model):
    """One tool call as it was answered; written with its result, and never changed."""

    session = models.ForeignKey("Session", models.CASCADE, related_name="tool_traces")
    run = models.ForeignKey("Run", models.CASCADE, related_name="tool_traces")
    plan = models.ForeignKey(
        "ContextPlan",
        models.CASCADE,
        null=True,
        blank=True,
        related_name="tool_traces",
        help_text="Of the call that asked; empty in a conversation that was played from a script.",
    )
    message = models.OneToOneField("Message", models.CASCADE, related_name="tool_trace", help_text="The result.")
    tool_call_id = models.CharField(max_length=80)
    name = models.CharField(max_length=64)
    arguments_sha256 = models.CharField(max_length=64)
    result_sha256 = models.CharField(max_length=64)
    elapsed_ms = models.PositiveIntegerField(null=True, blank=True, help_text="Empty: it was never run.")
    error = models.TextField(blank=True, help_text="What the model was told went wrong.")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return f"{self.name}: {self.error or 'done'}"[:80]


class RetrievalSet(models.Model):
    """The ranked result of one retrieval, with all that it depends on: the same again gives the same `result_hash`."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    session = models.ForeignKey("Session", models.CASCADE, related_name="retrieval_sets")
    branch = models.ForeignKey("Branch", models.CASCADE, related_name="retrieval_sets")
    run = models.ForeignKey("Run", models.CASCADE, related_name="retrieval_sets")
    plan = models.ForeignKey(
        "ContextPlan",
        models.CASCADE,
        null=True,
        blank=True,
        related_name="retrieval_sets",
        help_text="Of the call that asked, or that it was made for.",
    )
    trigger = models.CharField(max_length=4, choices=[(t.value, t.value) for t in Trigger])
    query = models.TextField()
    query_hash = models.CharField(max_length=64)
    # No foreign key: it says how far the log had come, and no row hangs on it.
    snapshot = models.BigIntegerField(help_text="Id of the last message that could be found; 0 where there was none.")
    strategy = models.CharField(max_length=40, help_text="What ranked, with its version.")
    params = models.JSONField(default=dict)
    found = models.PositiveIntegerField(help_text="Hits, of which the first are kept here.")
    why = models.TextField(blank=True, help_text="Of automatic recall: why it looked, or why not.")
    tokens = models.PositiveIntegerField(default=0, help_text="Of what the prompt quotes of it.")
    result_hash = models.CharField(max_length=64)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["created_at"]

    def __str__(self) -> str:
        return f"{self.trigger}: {self.query[:60]}"


class RetrievalItem(models.Model):
    """One hit; its target is a message in its turn, or an effort."""

    retrieval = models.ForeignKey(RetrievalSet, models.CASCADE, related_name="items")
    rank = models.PositiveSmallIntegerField(help_text="From 1.")
    turn = models.ForeignKey("Turn", models.CASCADE, null=True, blank=True, related_name="+")
    message = models.ForeignKey("Message", models.CASCADE, null=True, blank=True, related_name="+")
    effort = models.ForeignKey("Effort", models.CASCADE, null=True, blank=True, related_name="+")
    start = models.PositiveIntegerField(null=True, blank=True, help_text="Of a passage: its first character.")
    end = models.PositiveIntegerField(null=True, blank=True)
    included = models.BooleanField(default=False, help_text="Whether the prompt quotes it.")
    leaves = models.BooleanField(default=False, help_text="It stands on free room, and not in later prompts.")
    score = models.FloatField()
    why = models.JSONField(default=list, help_text="Sentences for people.")

    class Meta:
        ordering = ["rank"]
        constraints = [
            models.UniqueConstraint(fields=["retrieval", "rank"], name="one_item_per_rank"),
            models.CheckConstraint(
                condition=Q(turn__isnull=False) | Q(effort__isnull=False), name="retrieval_item_has_a_target"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.rank}: {self.effort or self.turn}"


class Verdict(models.Model):
    """What the person thinks of the answer of one run, and by it of the plans that it was made from."""

    session = models.ForeignKey("Session", models.CASCADE, related_name="verdicts")
    run = models.OneToOneField("Run", models.CASCADE, related_name="verdict")
    value = models.CharField(max_length=4, choices=[(v.value, v.value) for v in VerdictValue])
    why = models.TextField(blank=True)
    actor = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    changed_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return f"{self.value}: {self.why}"[:80]
