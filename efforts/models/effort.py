"""Topics with a natural conclusion, and the pointers that let a text stand in for turns."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from efforts.domain.lifecycle import EffortStatus, PointerState


class Effort(models.Model):
    """Identity and name of an effort in its session; all else about it is per branch."""

    session = models.ForeignKey("Session", models.CASCADE, related_name="efforts")
    slug = models.CharField(max_length=80, help_text="The id that people and models use; never changes.")
    name = models.CharField(max_length=200)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["created_at"]
        constraints = [models.UniqueConstraint(fields=["session", "slug"], name="effort_slug_once_in_session")]

    def __str__(self) -> str:
        return self.slug


class EffortState(models.Model):
    """An effort as one branch sees it."""

    branch = models.ForeignKey("Branch", models.CASCADE, related_name="effort_states")
    effort = models.ForeignKey(Effort, models.CASCADE, related_name="states")
    status = models.CharField(
        max_length=9, choices=[(s.value, s.value) for s in EffortStatus], default=EffortStatus.OPEN
    )

    class Meta:
        constraints = [models.UniqueConstraint(fields=["branch", "effort"], name="one_state_per_effort_and_branch")]

    def __str__(self) -> str:
        return f"{self.effort}: {self.status}"


class ContextPointer(models.Model):
    """Names the accepted text that stands in for a scope of turns in one branch."""

    branch = models.ForeignKey("Branch", models.CASCADE, related_name="pointers")
    effort = models.ForeignKey(Effort, models.CASCADE, null=True, blank=True, related_name="pointers")
    state = models.CharField(
        max_length=11, choices=[(s.value, s.value) for s in PointerState], default=PointerState.ACTIVE
    )
    text = models.TextField()
    tokens = models.PositiveIntegerField()
    source_sha256 = models.CharField(max_length=64)
    previous = models.ManyToManyField("self", symmetrical=False, blank=True, related_name="successors")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["created_at"]

    def __str__(self) -> str:
        return f"pointer {self.pk}: {self.state}"


class PointerTurn(models.Model):
    """One turn of a pointer's scope. `active` follows the pointer's state, so that the database can forbid overlap."""

    pointer = models.ForeignKey(ContextPointer, models.CASCADE, related_name="scope")
    branch = models.ForeignKey("Branch", models.CASCADE, related_name="+")
    turn = models.ForeignKey("Turn", models.CASCADE, related_name="+")
    active = models.BooleanField(default=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["pointer", "turn"], name="turn_once_in_pointer"),
            models.UniqueConstraint(fields=["branch", "turn"], condition=Q(active=True), name="no_turn_covered_twice"),
        ]

    def __str__(self) -> str:
        return f"{self.pointer} covers {self.turn}"
