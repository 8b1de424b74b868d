"""Topics with a natural conclusion, and the pointers that let a text stand in for turns."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q

from efforts.domain.effort.states import EffortStatus, PointerMoveKind, PointerState, SummaryState, Via


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
    """An effort as one branch sees it; one without a state does not exist there."""

    branch = models.ForeignKey("Branch", models.CASCADE, related_name="effort_states")
    effort = models.ForeignKey(Effort, models.CASCADE, related_name="states")
    status = models.CharField(
        max_length=9, choices=[(s.value, s.value) for s in EffortStatus], default=EffortStatus.OPEN
    )
    opened_turn = models.PositiveIntegerField(default=0, help_text="Number of the turn it was opened in.")
    active_turn = models.PositiveIntegerField(default=0, help_text="Number of the last turn it was active in.")
    concluded_turn = models.PositiveIntegerField(null=True, blank=True)
    via = models.CharField(max_length=7, choices=[(v.value, v.value) for v in Via], blank=True)
    said = models.TextField(
        blank=True, help_text="The person's own words by which the model concluded it; empty: by none."
    )
    expanded_turn = models.PositiveIntegerField(null=True, blank=True, help_text="Empty: it is not expanded.")
    expanded_what = models.CharField(
        max_length=4, choices=[("raw", "raw"), ("body", "body")], default="raw", help_text="As what it is expanded."
    )
    referenced_clock = models.PositiveIntegerField(
        default=0, help_text="The branch's clock at the last reference; opening, concluding and expanding count."
    )
    evicted_clock = models.PositiveIntegerField(
        null=True, blank=True, help_text="When it left the prompt; empty: its summary or log may stand there."
    )
    turns = models.PositiveIntegerField(default=0, help_text="Turns labelled with it.")
    tokens = models.PositiveBigIntegerField(default=0, help_text="What these add to a prompt.")
    summary = models.CharField(
        max_length=11, choices=[(s.value, s.value) for s in SummaryState], default=SummaryState.NONE
    )
    summary_owner = models.CharField(max_length=100, blank=True)
    summary_expires_at = models.DateTimeField(null=True, blank=True)
    draft = models.TextField(
        blank=True, help_text="One line of a summary that waits for the person's yes, or why none stands."
    )
    focus = models.CharField(
        max_length=500,
        blank=True,
        default="",
        db_default="",
        help_text="What the draft that is due is to keep in view, in the person's words.",
    )
    artifact = models.CharField(
        max_length=68, blank=True, help_text="The summary that stands or waits; of a digest the draft beside it."
    )

    class Meta:
        constraints = [models.UniqueConstraint(fields=["branch", "effort"], name="one_state_per_effort_and_branch")]
        indexes = [
            models.Index(fields=["summary"], name="state_by_summary"),
            # Every plan asks for those that have not left, every turn for those that are about to.
            models.Index(fields=["branch", "evicted_clock", "referenced_clock"], name="state_by_age"),
        ]

    def __str__(self) -> str:
        return f"{self.effort}: {self.status}"


class EffortWord(models.Model):
    """A word by which a message can refer to an effort: the last of its name or id, or a keyword of a headline it has
    had in any branch. Leads to candidates only: what counts is what stands in the branch."""

    session = models.ForeignKey("Session", models.CASCADE, related_name="+", db_index=False)
    effort = models.ForeignKey(Effort, models.CASCADE, related_name="words")
    word = models.CharField(max_length=64)
    of_name = models.BooleanField()
    passages = models.PositiveIntegerField(
        default=0,
        help_text="Of the effort's own, and of what refers to it, those with the word; all of the empty word.",
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["session", "of_name", "word", "effort"], name="word_once_of_effort")
        ]

    def __str__(self) -> str:
        return f"{self.word}: {self.effort}"


class ContextPointer(models.Model):
    """Names the accepted text that stands in for a scope of turns in one branch: of an effort, or chosen ones.

    Of an effort `text` stands, the short form, whose lines enter the prompt as they are. Of chosen turns `body` stands
    until nothing has referred to it for long enough, then `text`, then nothing; and their log while it is expanded.
    """

    branch = models.ForeignKey("Branch", models.CASCADE, related_name="pointers")
    effort = models.ForeignKey(Effort, models.CASCADE, null=True, blank=True, related_name="pointers")
    state = models.CharField(
        max_length=11, choices=[(s.value, s.value) for s in PointerState], default=PointerState.ACTIVE
    )
    text = models.TextField()
    tokens = models.PositiveIntegerField()
    headline = models.TextField(blank=True, default="", help_text="One line for lists, notices and references.")
    digest = models.BooleanField(default=False, help_text="It is of quotations: nothing was summarised.")
    body = models.TextField(blank=True, help_text="Empty: not read from its artifact yet, or it has none.")
    body_tokens = models.PositiveIntegerField(default=0)
    ambient_tokens = models.PositiveBigIntegerField(
        default=0, help_text="Of chosen turns: what those that belong to no effort add to a prompt as they were said."
    )
    referenced_clock = models.PositiveIntegerField(
        default=0, help_text="Of chosen turns: the branch's clock at the last reference; accepting and expanding count."
    )
    shortened_clock = models.PositiveIntegerField(
        null=True, blank=True, help_text="Of chosen turns: when its body gave way to its short form."
    )
    evicted_clock = models.PositiveIntegerField(
        null=True, blank=True, help_text="Of chosen turns: when its short form left the prompt."
    )
    expanded_turn = models.PositiveIntegerField(
        null=True, blank=True, help_text="Of chosen turns; empty: they are not expanded."
    )
    artifact = models.CharField(max_length=68, blank=True, help_text="What its text is of.")
    source_sha256 = models.CharField(max_length=64)
    actor = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+", help_text="Who accepted it."
    )
    previous = models.ManyToManyField("self", symmetrical=False, blank=True, related_name="successors")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["created_at"]

    def __str__(self) -> str:
        return f"{(self.headline or self.text)[:60]} ({self.state})"


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


class PointerWord(models.Model):
    """A keyword of the headline that stands for chosen turns, by which a message can refer to them."""

    branch = models.ForeignKey("Branch", models.CASCADE, related_name="+", db_index=False)
    pointer = models.ForeignKey(ContextPointer, models.CASCADE, related_name="words")
    word = models.CharField(max_length=64)
    passages = models.PositiveIntegerField(
        default=0,
        help_text="Of the turns' own, and of what refers to them, those with the word; all of the empty word.",
    )

    class Meta:
        constraints = [models.UniqueConstraint(fields=["branch", "word", "pointer"], name="word_once_of_pointer")]

    def __str__(self) -> str:
        return f"{self.word}: {self.pointer}"


class PointerMove(models.Model):
    """One step of what stands in for what in a branch: who, when, from what, to what. Appended, never changed."""

    branch = models.ForeignKey("Branch", models.CASCADE, related_name="pointer_moves")
    kind = models.CharField(max_length=11, choices=[(k.value, k.value) for k in PointerMoveKind])
    pointer = models.ForeignKey(ContextPointer, models.CASCADE, related_name="moves", help_text="What moved.")
    before = models.JSONField(default=list, help_text="Ids of the pointers that stood for these turns; none: the log.")
    after = models.JSONField(default=list, help_text="Ids of those that stand for them from now on; none: the log.")
    actor = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+")
    via = models.CharField(max_length=12, help_text="How: control, offer, model, review, admin, fork, or what changed.")
    reason = models.CharField(max_length=500, blank=True)
    clock = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return f"{self.kind} by {self.via}"
