"""What is pinned, for good or for a while."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from efforts.domain.effort.states import HoldBy, HoldEnd, HoldKind, HoldScope, HoldState

LIVE = (HoldState.SUGGESTED, HoldState.STANDING)


class Hold(models.Model):
    """Keeps a turn or an effort in the prompts of one branch, or suggests to. Its ages are counted on the clock."""

    branch = models.ForeignKey("Branch", models.CASCADE, related_name="holds")
    turn = models.ForeignKey("Turn", models.CASCADE, null=True, blank=True, related_name="holds")
    effort = models.ForeignKey("Effort", models.CASCADE, null=True, blank=True, related_name="holds")
    kind = models.CharField(max_length=9, choices=[(k.value, k.value) for k in HoldKind])
    scope = models.CharField(max_length=12, choices=[(s.value, s.value) for s in HoldScope])
    turns = models.PositiveSmallIntegerField(default=0, help_text="The n of its scope.")
    within = models.ForeignKey(
        "Effort",
        models.CASCADE,
        null=True,
        blank=True,
        related_name="+",
        help_text="The effort that was active at the grant: where its scope is an effort, it ends with it.",
    )
    state = models.CharField(max_length=9, choices=[(s.value, s.value) for s in HoldState])
    by = models.CharField(max_length=6, choices=[(b.value, b.value) for b in HoldBy], default=HoldBy.PERSON)
    why = models.TextField(blank=True)
    granted_clock = models.PositiveIntegerField(default=0)
    refreshed_clock = models.PositiveIntegerField(default=0, help_text="Of the grant, or of the last reference.")
    ended_clock = models.PositiveIntegerField(null=True, blank=True)
    ended = models.CharField(max_length=9, choices=[(e.value, e.value) for e in HoldEnd], blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    changed_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["id"]
        # Every plan reads those that stand.
        indexes = [models.Index(fields=["branch", "state"], name="hold_by_branch")]
        constraints = [
            models.CheckConstraint(
                condition=Q(turn__isnull=False, effort__isnull=True) | Q(turn__isnull=True, effort__isnull=False),
                name="hold_of_one_thing",
            ),
            models.UniqueConstraint(
                fields=["branch", "turn"], condition=Q(state__in=LIVE), name="one_live_hold_of_a_turn"
            ),
            models.UniqueConstraint(
                fields=["branch", "effort"], condition=Q(state__in=LIVE), name="one_live_hold_of_an_effort"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} for {self.scope}: {self.state}"
