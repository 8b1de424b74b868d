"""What was said: turns, the attempts at them, and the append-only raw log."""

from __future__ import annotations

import uuid

from django.db import models
from django.db.models import Q

from efforts.domain.effort.states import RunState


class Turn(models.Model):
    """From the user's message until control returns to the user."""

    session = models.ForeignKey("Session", models.CASCADE, related_name="turns")
    branch = models.ForeignKey("Branch", models.CASCADE, related_name="turns")
    number = models.PositiveIntegerField(help_text="Counted in its branch, from 1.")
    client_id = models.CharField(
        max_length=64, help_text="The browser's id of the message: a message sent twice is one turn."
    )
    run = models.OneToOneField(
        "Run",
        models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
        help_text="The attempt that counts: always the last.",
    )
    tokens = models.PositiveIntegerField(
        default=0, help_text="What it adds to a prompt; follows the attempt that counts."
    )
    tokens_before = models.PositiveBigIntegerField(
        default=0, help_text="Sum over the turns before it, set when it starts."
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["branch", "number"]
        constraints = [
            models.UniqueConstraint(fields=["branch", "number"], name="turn_number_once_in_branch"),
            models.UniqueConstraint(fields=["session", "client_id"], name="client_id_once_in_session"),
        ]
        # The newest turns of a timeline are those of several branches.
        indexes = [models.Index(fields=["session", "number"], name="turn_by_session")]

    def __str__(self) -> str:
        return f"turn {self.number}"


class TurnLabel(models.Model):
    """The effort a turn belongs to in one branch; a turn without a label is ambient there."""

    class By(models.TextChoices):
        """How the turn came to its effort; a later one here is stronger than those before it."""

        BEGAN = "began"
        CLOSED = "closed"
        OPENED = "opened"
        MOVED = "moved"

    branch = models.ForeignKey("Branch", models.CASCADE, related_name="labels")
    turn = models.ForeignKey(Turn, models.CASCADE, related_name="labels")
    effort = models.ForeignKey("Effort", models.CASCADE, related_name="labels")
    by = models.CharField(max_length=6, choices=By.choices, default=By.BEGAN)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["branch", "turn"], name="one_label_per_turn_and_branch")]

    def __str__(self) -> str:
        return f"{self.turn}: {self.effort}"


class Run(models.Model):
    """One attempt at a turn, claimed by one runner through its lease."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    turn = models.ForeignKey(Turn, models.CASCADE, related_name="runs")
    branch = models.ForeignKey("Branch", models.CASCADE, related_name="runs")
    attempt = models.PositiveIntegerField(default=1)
    state = models.CharField(max_length=12, choices=[(s.value, s.label) for s in RunState], default=RunState.QUEUED)
    settings = models.JSONField(
        default=dict, help_text="Model, endpoint and budgets as they were when the run was made."
    )
    lease_owner = models.CharField(max_length=100, blank=True)
    lease_expires_at = models.DateTimeField(null=True, blank=True)
    stop_requested_at = models.DateTimeField(null=True, blank=True)
    finish_reason = models.CharField(
        max_length=40, blank=True, help_text="Why the last model call ended, as the provider said; length: cut off."
    )
    error_code = models.CharField(max_length=40, blank=True)
    error_text = models.TextField(blank=True, help_text="What happened and what to do, for the person.")
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["created_at"]
        constraints = [
            models.UniqueConstraint(fields=["turn", "attempt"], name="attempt_once_in_turn"),
            # What decides when two runners claim at once; see recording.claim.
            models.UniqueConstraint(fields=["branch"], condition=Q(state="running"), name="one_running_run_per_branch"),
        ]
        indexes = [models.Index(fields=["state", "created_at"], name="run_by_state")]

    def __str__(self) -> str:
        return f"{self.turn}, attempt {self.attempt}: {self.state}"

    @property
    def is_aside(self) -> bool:
        """The person sent it outside all efforts, whichever is active."""
        return bool(self.settings.get("aside"))

    @property
    def is_continued(self) -> bool:
        """The reply was cut off, and goes on in this run."""
        return bool(self.settings.get("continued"))

    @property
    def is_note(self) -> bool:
        """The person wrote something down; no model is asked."""
        return bool(self.settings.get("note"))


class Thinking(models.Model):
    """What a model thought before it answered, where its endpoint sends that: to be read, and in no prompt."""

    session = models.ForeignKey("Session", models.CASCADE, related_name="thinking")
    run = models.ForeignKey(Run, models.CASCADE, related_name="thinking")
    call = models.PositiveSmallIntegerField(help_text="Number of the model call in its run, from 1.")
    text = models.TextField()
    elapsed_ms = models.PositiveIntegerField(null=True, blank=True, help_text="Until the first word of the reply.")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]
        verbose_name_plural = "thinking"
        constraints = [models.UniqueConstraint(fields=["run", "call"], name="one_thinking_per_call")]

    def __str__(self) -> str:
        return self.text[:60]


class Message(models.Model):
    """An immutable entry of the raw log. The user's message and its files belong to the turn, all others to a run."""

    class Role(models.TextChoices):
        USER = "user"
        ASSISTANT = "assistant"
        TOOL = "tool"
        # What a person added to their message, as a block of text: words that they show, and did not say.
        FILE = "file"

    session = models.ForeignKey("Session", models.CASCADE, related_name="messages")
    turn = models.ForeignKey(Turn, models.CASCADE, related_name="messages")
    run = models.ForeignKey(Run, models.CASCADE, null=True, blank=True, related_name="messages")
    role = models.CharField(max_length=9, choices=Role.choices)
    text = models.TextField(blank=True)
    tool_calls = models.JSONField(
        default=list, blank=True, help_text='[{"id", "name", "arguments"}], arguments as the model wrote them.'
    )
    tool_call_id = models.CharField(max_length=80, blank=True)
    tool_name = models.CharField(max_length=64, blank=True)
    continues = models.BooleanField(
        default=False, help_text="Goes on where the message before it was cut off: the two are one text."
    )
    picture = models.CharField(
        max_length=100,
        blank=True,
        default="",
        db_default="",
        help_text="Of a file that is a picture: its hash, its size in pixels, its format.",
    )
    tokens = models.PositiveIntegerField(help_text="Counted once, on write; without the overhead of a chat message.")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(
                fields=["session", "tool_call_id"], condition=~Q(tool_call_id=""), name="one_result_per_tool_call"
            ),
            models.UniqueConstraint(fields=["turn"], condition=Q(role="user"), name="one_user_message_per_turn"),
        ]

    def __str__(self) -> str:
        return f"{self.role}: {self.text[:60]}"
