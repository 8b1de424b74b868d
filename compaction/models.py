"""Artifacts, how they were drafted, and what the gates say of them."""

from __future__ import annotations

import zlib

from django.conf import settings
from django.db import models

from .domain.artifact import Kind
from .domain.lifecycle import ArtifactState, Ended


class DraftRun(models.Model):
    """One drafter at work on one scope: all attempts, what they cost and how it ended."""

    session = models.ForeignKey("efforts.Session", models.CASCADE, related_name="draft_runs")
    branch = models.ForeignKey("efforts.Branch", models.CASCADE, related_name="+")
    effort = models.ForeignKey("efforts.Effort", models.CASCADE, null=True, blank=True, related_name="+")
    purpose = models.CharField(max_length=20, default="compaction")
    drafter = models.CharField(max_length=10)
    model = models.CharField(max_length=200, blank=True)
    prompt_version = models.CharField(max_length=12)
    ended = models.CharField(max_length=12, choices=[(e.value, e.value) for e in Ended])
    attempts = models.JSONField(default=list, help_text="What was answered, word for word, with usage and time.")
    tokens = models.PositiveIntegerField(null=True, blank=True, help_text="Of all attempts; empty: not known.")
    elapsed_ms = models.PositiveIntegerField(null=True, blank=True, help_text="Empty: it did not end by itself.")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]
        # Gate E asks for the newest of one kind.
        indexes = [models.Index(fields=["purpose", "model", "prompt_version", "id"], name="draft_run_by_kind")]

    def __str__(self) -> str:
        return f"draft run {self.pk}: {self.ended}"


class Artifact(models.Model):
    """A `compaction.v1` document, known by its hash. Only `state` ever changes."""

    id = models.CharField(primary_key=True, max_length=68)
    session = models.ForeignKey("efforts.Session", models.CASCADE, related_name="artifacts")
    branch = models.ForeignKey("efforts.Branch", models.CASCADE, related_name="+")
    effort = models.ForeignKey("efforts.Effort", models.CASCADE, null=True, blank=True, related_name="artifacts")
    run = models.ForeignKey(DraftRun, models.CASCADE, related_name="artifacts")
    kind = models.CharField(max_length=12, choices=[(k.value, k.value) for k in Kind])
    state = models.CharField(max_length=11, choices=[(s.value, s.value) for s in ArtifactState])
    # What many items quote of one message is alike: it takes a twentieth.
    packed = models.BinaryField(help_text="The canonical JSON that the id was made of, compressed.")
    offered = models.TextField(blank=True, help_text="What a model answered; empty: the document itself was offered.")
    offered_form = models.CharField(max_length=8)
    stop_reason = models.CharField(max_length=20)
    source_sha256 = models.CharField(max_length=64)
    source_start = models.PositiveIntegerField()
    source_end = models.PositiveIntegerField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["created_at"]

    def __str__(self) -> str:
        return f"{self.kind} {self.pk[:12]}: {self.state}"

    @property
    def document(self) -> str:
        return zlib.decompress(self.packed).decode()


class GateRun(models.Model):
    """What the gates said once, and by which inputs. Without an artifact the drafter's bytes were none."""

    run = models.ForeignKey(DraftRun, models.CASCADE, related_name="gate_runs")
    artifact = models.ForeignKey(Artifact, models.CASCADE, null=True, blank=True, related_name="gate_runs")
    passed = models.BooleanField()
    tags = models.JSONField(default=list, help_text="What it is rejected for, by the names of the rubric.")
    policy_version = models.CharField(max_length=12)
    evaluator_version = models.CharField(max_length=12)
    inputs = models.JSONField(help_text="Hashes of all that was judged by.")
    verdicts = models.JSONField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return f"gates {self.pk}: {'passed' if self.passed else 'not passed'}"


class Acceptance(models.Model):
    """From this moment, and by this person, the artifact's text stood in for its scope."""

    artifact = models.ForeignKey(Artifact, models.CASCADE, related_name="acceptances")
    pointer = models.OneToOneField("efforts.ContextPointer", models.CASCADE, related_name="acceptance")
    gate_run = models.ForeignKey(GateRun, models.CASCADE, related_name="+")
    actor = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+")
    via = models.CharField(max_length=12, help_text="How the person said yes: control, offer, model or review.")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return f"{self.artifact_id[:12]} accepted"
