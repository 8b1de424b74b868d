"""Artifacts, how they were drafted, and what the gates say of them."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.urls import reverse

from .domain.artifact import Kind
from .domain.lifecycle import ArtifactState, ClaimVerdictValue, Ended, PackageState

if TYPE_CHECKING:
    from django.contrib.auth.models import AbstractBaseUser, AnonymousUser


class ArtifactQuerySet(models.QuerySet["Artifact"]):
    def reviewable_by(self, user: AbstractBaseUser | AnonymousUser) -> ArtifactQuerySet:
        """Those of the person's own conversations, and of those for which they were named as a reviewer."""
        named = Reviewer.objects.filter(user=int(user.pk or 0)).values("session")
        return self.filter(Q(session__owner_id=user.pk) | Q(session__in=named))


class DraftRun(models.Model):
    """One drafter at work on one scope: all attempts, what they cost and how it ended."""

    session = models.ForeignKey("efforts.Session", models.CASCADE, related_name="draft_runs")
    branch = models.ForeignKey("efforts.Branch", models.CASCADE, related_name="+")
    effort = models.ForeignKey("efforts.Effort", models.CASCADE, null=True, blank=True, related_name="+")
    scope = models.ForeignKey("efforts.ScopeDraft", models.SET_NULL, null=True, blank=True, related_name="runs")
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
    standing = models.TextField(blank=True, help_text="What stands in the prompt where it is accepted: the headline.")
    family = models.CharField(max_length=68, help_text="The id of its first version: edits make new ones.")
    version = models.PositiveIntegerField(default=1)
    edited_from = models.ForeignKey("self", models.CASCADE, null=True, blank=True, related_name="edits")
    edited_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    objects = ArtifactQuerySet.as_manager()

    class Meta:
        ordering = ["created_at"]
        # Of two people who edit the same version at once, one is told of the other.
        constraints = [models.UniqueConstraint(fields=["family", "version"], name="version_once_in_family")]

    def __str__(self) -> str:
        return f"{self.kind} {self.pk[:12]} v{self.version}: {self.state}"

    def get_absolute_url(self) -> str:
        return reverse("artifact", args=[self.pk])

    @property
    def name(self) -> str:
        """Of what it was made of."""
        return self.effort.name if self.effort else "Chosen turns"

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
    findings = models.JSONField(default=list, help_text="What a judge had found, for when it is judged again.")
    set_aside = models.JSONField(default=list, help_text="Ids of findings that a person had set aside.")
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


class Reviewer(models.Model):
    """Somebody whom the owner of a conversation has named: they see its artifacts with their sources, nothing else."""

    session = models.ForeignKey("efforts.Session", models.CASCADE, related_name="reviewers")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    named_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["session", "user"], name="reviewer_once_in_session")]

    def __str__(self) -> str:
        return f"{self.user} reviews {self.session}"


class ClaimVerdict(models.Model):
    """What one reviewer says of one claim. A draft until it is submitted with all others of that reviewer."""

    artifact = models.ForeignKey(Artifact, models.CASCADE, related_name="claim_verdicts")
    reviewer = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    item = models.CharField(max_length=200, help_text="The claim's id; of an added one a new id; 'headline'.")
    verdict = models.CharField(max_length=12, choices=[(v.value, v.value) for v in ClaimVerdictValue])
    text = models.TextField(blank=True, help_text="The claim's new words, where it is edited.")
    added = models.JSONField(null=True, blank=True, help_text="The whole claim, where it is added.")
    submitted_at = models.DateTimeField(null=True, blank=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["artifact", "reviewer", "item"], name="verdict_once_per_claim_and_reviewer")
        ]

    def __str__(self) -> str:
        return f"{self.reviewer}: {self.item} {self.verdict}"


class Review(models.Model):
    """One reviewer's verdicts on one version, submitted; `made` is the version that came of them, if any did."""

    artifact = models.ForeignKey(Artifact, models.CASCADE, related_name="reviews")
    reviewer = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    made = models.ForeignKey(Artifact, models.SET_NULL, null=True, blank=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return f"{self.reviewer} reviewed {self.artifact_id[:12]}"


class SetAside(models.Model):
    """A finding of gate D that a person does not hold for a contradiction. Collected as a false rejection."""

    artifact = models.ForeignKey(Artifact, models.CASCADE, related_name="set_aside")
    finding = models.CharField(max_length=68)
    text = models.TextField(help_text="The finding, as it was shown.")
    reason = models.CharField(max_length=500)
    actor = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]
        verbose_name, verbose_name_plural = "finding set aside", "findings set aside"
        constraints = [models.UniqueConstraint(fields=["artifact", "finding"], name="finding_set_aside_once")]

    def __str__(self) -> str:
        return f"{self.finding[:12]} set aside"


class NotNeeded(models.Model):
    """Something of the source that no claim cites, and that a person does not miss in any version."""

    family = models.CharField(max_length=68)
    session = models.ForeignKey("efforts.Session", models.CASCADE, related_name="+")
    key = models.CharField(max_length=68, help_text="Of its kind and words.")
    actor = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]
        verbose_name = verbose_name_plural = "not needed"
        constraints = [models.UniqueConstraint(fields=["family", "key"], name="not_needed_once")]

    def __str__(self) -> str:
        return self.key


class DraftingPolicy(models.Model):
    """What one person allows models to draft, over all conversations."""

    user = models.OneToOneField(settings.AUTH_USER_MODEL, models.CASCADE, related_name="drafting_policy")
    stopped_at = models.DateTimeField(null=True, blank=True, help_text="No model drafts since then; empty: they may.")
    daily_cap = models.PositiveIntegerField(null=True, blank=True, help_text="Tokens a day; empty: the installation's.")

    class Meta:
        verbose_name_plural = "drafting policies"

    def __str__(self) -> str:
        return f"{self.user}: {'stopped' if self.stopped_at else 'allowed'}"


class Reserved(models.Model):
    """What a model that is drafting now may use up of a person's day, until its run is kept, or `until` if it dies."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    tokens = models.PositiveIntegerField()
    until = models.DateTimeField()

    class Meta:
        ordering = ["id"]
        verbose_name_plural = "reserved"

    def __str__(self) -> str:
        return f"{self.tokens} tokens of {self.user}"


class SeedPackage(models.Model):
    """What several conversations came to, for a new one to start from: made in stages, each judged by itself."""

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="seed_packages")
    title = models.CharField(max_length=200)
    state = models.CharField(max_length=8, choices=[(s.value, s.value) for s in PackageState])
    session = models.OneToOneField(
        "efforts.Session", models.SET_NULL, null=True, blank=True, related_name="+", help_text="What it has started."
    )
    artifact = models.ForeignKey(Artifact, models.SET_NULL, null=True, blank=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return self.title


class SeedStage(models.Model):
    """One window of one conversation."""

    package = models.ForeignKey(SeedPackage, models.CASCADE, related_name="stages")
    place = models.PositiveSmallIntegerField()
    draft = models.OneToOneField("efforts.ScopeDraft", models.CASCADE, related_name="stage")

    class Meta:
        ordering = ["package", "place"]
        constraints = [models.UniqueConstraint(fields=["package", "place"], name="stage_once_in_package")]

    def __str__(self) -> str:
        return f"stage {self.place}"
