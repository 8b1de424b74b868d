"""Artifacts, how they were drafted and checked, and what the gates say of them."""

from __future__ import annotations

import json
import zlib
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.urls import reverse
from django.utils.functional import cached_property

from efforts.domain.effort.notices import span_said
from efforts.llm.recorded import RECORDED_MODEL
from efforts.models.said import OwnWords

from .domain.artifact import SCHEMA_VERSION, Kind
from .domain.lifecycle import ArtifactState, ClaimVerdictValue, Ended, PackageState

if TYPE_CHECKING:
    from django.contrib.auth.models import AbstractBaseUser, AnonymousUser


class ArtifactQuerySet(models.QuerySet["Artifact"]):
    def reviewable_by(self, user: AbstractBaseUser | AnonymousUser) -> ArtifactQuerySet:
        """Those of the person's own conversations, and of those for which they were named as a reviewer."""
        named = Reviewer.objects.filter(user=user.pk).values("session")
        return self.filter(Q(session__owner_id=user.pk) | Q(session__in=named), session__erase_at=None)


class Row(models.Model):
    """In the order in which they came."""

    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        abstract = True
        ordering = ["id"]


class DraftRun(Row):
    """One drafter at work on one scope: all attempts, what they cost and how it ended."""

    session = models.ForeignKey("efforts.Session", models.CASCADE, related_name="draft_runs")
    branch = models.ForeignKey("efforts.Branch", models.CASCADE, related_name="+")
    effort = models.ForeignKey("efforts.Effort", models.CASCADE, null=True, blank=True, related_name="+")
    scope = models.ForeignKey("efforts.ScopeDraft", models.SET_NULL, null=True, blank=True, related_name="runs")
    family = models.CharField(
        max_length=68, blank=True, db_default="", help_text="Of the artifact that it was for; empty: its own, or none."
    )
    purpose = models.CharField(max_length=20, default="compaction")
    drafter = models.CharField(max_length=10)
    model = models.CharField(max_length=200, blank=True)
    prompt_version = models.CharField(max_length=12)
    ended = models.CharField(max_length=12, choices=[(e.value, e.value) for e in Ended])
    focus = models.CharField(max_length=500, blank=True, help_text="What a person wanted kept in view.")
    spent = models.JSONField(default=list, help_text="By purpose what its requests and checks took, and the limits.")
    tokens = models.PositiveIntegerField(null=True, blank=True, help_text="Of all attempts; empty: not known.")
    elapsed_ms = models.PositiveIntegerField(null=True, blank=True, help_text="Empty: it did not end by itself.")

    class Meta(Row.Meta):
        # Gate E asks for the newest of one kind.
        indexes = [
            models.Index(fields=["purpose", "model", "prompt_version", "id"], name="draft_run_by_kind"),
            models.Index(fields=["family"], name="draft_run_of_family"),
        ]

    def __str__(self) -> str:
        return f"{self.purpose} by {self.model or self.drafter}: {self.ended}"


class Artifact(models.Model):
    """A document, known by its hash, and the texts that it stands by. Only `state` ever changes.

    One of `compaction.v1` keeps its frozen texts: it stands, forks and rolls back, and is not judged or edited again.
    """

    id = models.CharField(primary_key=True, max_length=68)
    session = models.ForeignKey("efforts.Session", models.CASCADE, related_name="artifacts")
    branch = models.ForeignKey("efforts.Branch", models.CASCADE, related_name="+")
    effort = models.ForeignKey("efforts.Effort", models.CASCADE, null=True, blank=True, related_name="artifacts")
    run = models.ForeignKey(DraftRun, models.CASCADE, related_name="artifacts")
    schema_version = models.CharField(max_length=20, default=SCHEMA_VERSION)
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
    headline = models.TextField(blank=True, help_text="One line: how it ended.")
    standing = models.TextField(blank=True, help_text="What stands in the prompt where it is accepted, to the byte.")
    body = models.TextField(blank=True, help_text="What that is expanded to; empty where there is no more.")
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
        return f"{self.headline[:60].rstrip('.') or self.kind}, version {self.version}: {self.state}"

    def get_absolute_url(self) -> str:
        return reverse("artifact", args=[self.pk])

    @property
    def name(self) -> str:
        """Of what it was made of."""
        return OwnWords(self.effort.name) if self.effort else "Chosen turns"

    @property
    def span(self) -> str:
        """The turns that it was made of."""
        return span_said(self.source_start, self.source_end)

    @property
    def document(self) -> str:
        return zlib.decompress(self.packed).decode()

    @property
    def last_judged(self) -> GateRun | None:
        """What the gates said of it last; None where they have not been asked."""
        return self.gate_runs.order_by("-pk").first()

    @property
    def is_turned_down(self) -> bool:
        """By a person: what the gates reject has a tag."""
        if self.state != ArtifactState.REJECTED:
            return False
        judged = self.last_judged
        return judged is None or not judged.tags

    @property
    def is_current(self) -> bool:
        """Not of an earlier form, whose claims cite nothing that could be judged now."""
        return self.schema_version == SCHEMA_VERSION


class Exam(Row):
    """Forty hand-made claims, by which a model has shown whether it can tell wrong ones from true ones."""

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="exams")
    provider = models.CharField(max_length=300, help_text="The address that it was asked at.")
    model = models.CharField(max_length=200)
    version = models.CharField(max_length=12, help_text="Of the checker's prompts and of the exam.")
    caught = models.PositiveSmallIntegerField()
    wrong = models.PositiveSmallIntegerField()
    doubted = models.PositiveSmallIntegerField()
    true = models.PositiveSmallIntegerField()
    passed = models.BooleanField()
    why = models.CharField(max_length=500, blank=True, help_text="Why it could not be read, where it could not.")
    tokens = models.PositiveIntegerField(default=0)

    class Meta(Row.Meta):
        indexes = [models.Index(fields=["owner", "provider", "model", "version"], name="exam_of_model")]

    def __str__(self) -> str:
        return f"exam of {self.model}: {'passed' if self.passed else 'failed'}"

    @property
    def missed(self) -> int:
        """Wrong claims that it held for true."""
        return self.wrong - self.caught

    @property
    def score(self) -> int:
        """Of all claims those that it judged right."""
        return self.caught + self.true - self.doubted


class Check(Row):
    """One attempt of a model at reading claims beside their log. A void one says why and counts for nothing."""

    run = models.ForeignKey(DraftRun, models.CASCADE, related_name="checks")
    family = models.CharField(max_length=68, blank=True, help_text="Of the artifact; empty where none was made.")
    model = models.CharField(max_length=200)
    provider = models.CharField(max_length=300)
    version = models.CharField(max_length=12, help_text="Of the checker's prompts.")
    attempt = models.PositiveSmallIntegerField()
    seed = models.CharField(max_length=64)
    source_sha256 = models.CharField(max_length=64)
    turns = models.JSONField(default=list, help_text="Numbers of the turns that it was made of.")
    void = models.CharField(max_length=500, blank=True, help_text="Why it proves nothing; empty: it is valid.")
    examined = models.BooleanField(default=False, help_text="The model had passed its exam.")
    listed = models.JSONField(null=True, blank=True, help_text="An inventory that an earlier check has made.")
    tokens = models.PositiveIntegerField(default=0)
    caught = models.PositiveSmallIntegerField(default=0)
    planted = models.PositiveSmallIntegerField(default=0)

    class Meta(Row.Meta):
        indexes = [models.Index(fields=["family", "id"], name="check_of_family")]

    def __str__(self) -> str:
        return f"check by {self.model}, attempt {self.attempt}: {'void' if self.void else 'valid'}"

    @property
    def is_recorded(self) -> bool:
        """Of the example: its model takes no exam."""
        return self.model == RECORDED_MODEL

    @cached_property
    def exam(self) -> Exam | None:
        """The newest of its model; None where it has taken none."""
        same = {"provider": self.provider, "model": self.model, "version": self.version}
        return Exam.objects.filter(owner=self.run.session.owner_id, **same).last()


class Recheck(Row):
    """A version that a person has worded, on its way to the checker. Claimed and leased like a draft."""

    artifact = models.OneToOneField(Artifact, models.CASCADE, related_name="recheck")
    branch = models.ForeignKey("efforts.Branch", models.CASCADE, related_name="+")
    state = models.CharField(
        max_length=8,
        choices=[(state, state) for state in ("due", "drafting", "done", "failed")],
        default="due",
    )
    owner_key = models.CharField(max_length=100, blank=True, help_text="Who has it checked.")
    expires_at = models.DateTimeField(null=True, blank=True)
    why = models.TextField(blank=True, help_text="Why there is no check that counts.")

    class Meta(Row.Meta):
        indexes = [models.Index(fields=["state"], name="recheck_by_state")]

    def __str__(self) -> str:
        return f"recheck of {self.artifact_id[:12]}: {self.state}"


class ModelRequest(Row):
    """What was asked of a model about a summary, to the byte, and what it answered."""

    run = models.ForeignKey(DraftRun, models.CASCADE, null=True, blank=True, related_name="requests")
    check_made = models.ForeignKey(Check, models.CASCADE, null=True, blank=True, related_name="requests")
    exam = models.ForeignKey(Exam, models.CASCADE, null=True, blank=True, related_name="requests")
    place = models.PositiveSmallIntegerField()
    step = models.CharField(max_length=10)
    key = models.CharField(max_length=64, blank=True, help_text="The hash of its messages.")
    packed = models.BinaryField(help_text="Its messages as JSON, compressed.")
    notes = models.JSONField(default=list, help_text="Of a check: what each number stands for, planted ones marked.")
    answer = models.TextField(blank=True)
    stop_reason = models.CharField(max_length=20, blank=True)
    structured = models.BooleanField(default=False, help_text="The form of the answer was asked for.")
    limit = models.PositiveIntegerField(default=0, help_text="Tokens that the answer could take.")
    usage = models.JSONField(null=True, help_text="Empty: not known.")
    elapsed_ms = models.PositiveIntegerField(default=0)
    error = models.TextField(blank=True)

    def __str__(self) -> str:
        return f"{self.step} {self.place}: {self.stop_reason}"

    @property
    def messages(self) -> list[dict[str, str]]:
        found: list[dict[str, str]] = json.loads(zlib.decompress(self.packed)) if self.packed else []
        return found

    @property
    def tokens(self) -> int | None:
        used: dict[str, Any] | None = self.usage
        return sum(used[name] for name in ("input", "cache_read", "cache_creation", "output")) if used else None


class Planted(models.Model):
    """A canary, a control or a hidden claim of a check: what was done to it, and whether the checker noticed."""

    check_made = models.ForeignKey(Check, models.CASCADE, related_name="planted_rows")
    request = models.ForeignKey(ModelRequest, models.CASCADE, related_name="planted")
    role = models.CharField(max_length=8, help_text="canary, control or hidden")
    kind = models.CharField(max_length=40, blank=True)
    number = models.PositiveSmallIntegerField(help_text="What the request called it; of a hidden claim its entry.")
    claim = models.JSONField()
    held = models.BooleanField(null=True, help_text="It was told from the rest; empty: it did not count.")

    class Meta:
        ordering = ["id"]
        verbose_name_plural = "planted"

    def __str__(self) -> str:
        return f"{self.role} {self.number}: {self.held}"


class Checker(models.Model):
    """The model that reads a person's summaries against their logs, where it is not the conversation's own."""

    user = models.OneToOneField(settings.AUTH_USER_MODEL, models.CASCADE, related_name="checker")
    endpoint = models.ForeignKey("efforts.Endpoint", models.CASCADE, null=True, blank=True, related_name="+")
    model = models.CharField(max_length=200, blank=True)
    chosen_at = models.DateTimeField(help_text="Void checks before it are forgotten.")

    def __str__(self) -> str:
        return f"{self.model or 'its own model'} checks for {self.user}"


class CheckerRefused(models.Model):
    """A conversation whose log is not to be sent to a checker at another address."""

    session = models.OneToOneField("efforts.Session", models.CASCADE, related_name="checker_refused")

    class Meta:
        verbose_name_plural = "checkers refused"

    def __str__(self) -> str:
        return str(self.session)


class GateRun(Row):
    """What the gates said once, and by which inputs. Without an artifact the drafter's bytes were none."""

    run = models.ForeignKey(DraftRun, models.CASCADE, related_name="gate_runs")
    artifact = models.ForeignKey(Artifact, models.CASCADE, null=True, blank=True, related_name="gate_runs")
    passed = models.BooleanField()
    tags = models.JSONField(default=list, help_text="What it is rejected for, by the names of the rubric.")
    policy_version = models.CharField(max_length=12)
    evaluator_version = models.CharField(max_length=12)
    inputs = models.JSONField(help_text="Hashes of all that was judged by.")
    verdicts = models.JSONField()
    checks = models.JSONField(default=list, help_text="Ids of the checks whose answers it was judged by.")
    set_aside = models.JSONField(default=list, help_text="Ids of findings that a person had set aside.")

    def __str__(self) -> str:
        return f"gates of {(self.artifact_id or 'no summary')[:12]}: {'passed' if self.passed else 'not passed'}"


class Acceptance(Row):
    """From this moment, and by this person, the artifact's text stood in for its scope."""

    artifact = models.ForeignKey(Artifact, models.CASCADE, related_name="acceptances")
    pointer = models.OneToOneField("efforts.ContextPointer", models.CASCADE, related_name="acceptance")
    gate_run = models.ForeignKey(GateRun, models.CASCADE, related_name="+")
    actor = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+")
    via = models.CharField(max_length=12, help_text="How the person said yes: control, offer, model or review.")
    saved = models.IntegerField(
        null=True, blank=True, help_text="Tokens by which it made the next prompt smaller; empty: not known."
    )

    def __str__(self) -> str:
        return f"{self.artifact_id[:12]} accepted"


class Reviewer(Row):
    """Somebody whom the owner of a conversation has named: they see its artifacts with their sources, nothing else."""

    session = models.ForeignKey("efforts.Session", models.CASCADE, related_name="reviewers")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    named_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")

    class Meta(Row.Meta):
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


class Review(Row):
    """One reviewer's verdicts on one version, submitted; `made` is the version that came of them, if any did."""

    artifact = models.ForeignKey(Artifact, models.CASCADE, related_name="reviews")
    reviewer = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    made = models.ForeignKey(Artifact, models.SET_NULL, null=True, blank=True, related_name="+")

    def __str__(self) -> str:
        return f"{self.reviewer} reviewed {self.artifact_id[:12]}"


class SetAside(Row):
    """A finding of gate D that a person does not hold for a contradiction. Collected as a false rejection."""

    artifact = models.ForeignKey(Artifact, models.CASCADE, related_name="set_aside")
    finding = models.CharField(max_length=68)
    text = models.TextField(help_text="The finding, as it was shown.")
    reason = models.CharField(max_length=500)
    actor = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")

    class Meta(Row.Meta):
        verbose_name, verbose_name_plural = "finding set aside", "findings set aside"
        constraints = [models.UniqueConstraint(fields=["artifact", "finding"], name="finding_set_aside_once")]

    def __str__(self) -> str:
        return f"{self.text[:60]} (set aside)"


class NotNeeded(Row):
    """An entry that no claim tells, and that a person does not miss in any version."""

    family = models.CharField(max_length=68)
    session = models.ForeignKey("efforts.Session", models.CASCADE, related_name="+")
    key = models.CharField(max_length=68, help_text="The id of the ledger's entry, or a hash of what was listed.")
    reason = models.CharField(max_length=500, blank=True)
    actor = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")

    class Meta(Row.Meta):
        verbose_name = verbose_name_plural = "not needed"
        constraints = [models.UniqueConstraint(fields=["family", "key"], name="not_needed_once")]

    def __str__(self) -> str:
        return self.reason[:60] or self.key[:12]


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
    exam = models.CharField(
        max_length=501, blank=True, db_default="", help_text="The checker that takes its exam with it."
    )

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
