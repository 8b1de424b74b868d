"""A conversation and its timelines."""

from __future__ import annotations

import re
import uuid
from functools import lru_cache
from typing import TYPE_CHECKING

from django.conf import settings
from django.db import models
from django.urls import get_script_prefix, reverse
from django.utils.translation import gettext, pgettext

from efforts.domain.effort.lineage import Ancestor, owner_of
from efforts.domain.effort.policy import AMBIENT_WINDOW, DECAY_THRESHOLD, SUMMARY_EVICTION_THRESHOLD, ContextMode
from efforts.domain.effort.states import ReviewMode
from efforts.domain.prompt.budget import DEFAULT_BUDGET

if TYPE_CHECKING:
    from django.contrib.auth.models import AbstractBaseUser, AnonymousUser

    from .turn import Turn


# So large that no address has it by itself.
MARK = 7_000_000_000_000


class SessionQuerySet(models.QuerySet["Session"]):
    def owned_by(self, user: AbstractBaseUser | AnonymousUser) -> SessionQuerySet:
        """Without those that are being deleted: their owner can bring them back, and do nothing else with them."""
        return self.deleted_by(user, False)

    def deleted_by(self, user: AbstractBaseUser | AnonymousUser, deleted: bool = True) -> SessionQuerySet:
        return self.filter(owner_id=user.pk, erase_at__isnull=not deleted)


class Session(models.Model):
    """One conversation of one owner, with its settings."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="ccm_sessions")
    title = models.CharField(max_length=200, blank=True)
    titled_by_hand = models.BooleanField(default=False)
    folder = models.CharField(max_length=60, blank=True)
    is_favourite = models.BooleanField(default=False)
    endpoint = models.ForeignKey("Endpoint", models.SET_NULL, null=True, blank=True, related_name="sessions")
    model = models.CharField(max_length=200, blank=True, help_text="Empty: the default model of the installation.")
    budget = models.PositiveIntegerField(default=DEFAULT_BUDGET, help_text="Tokens a prompt may have at most.")
    ambient_window = models.PositiveSmallIntegerField(default=AMBIENT_WINDOW, help_text="Turns.")
    decay_threshold = models.PositiveSmallIntegerField(
        default=DECAY_THRESHOLD, help_text="Turns without a reference after which an expanded effort collapses."
    )
    eviction_threshold = models.PositiveSmallIntegerField(
        default=SUMMARY_EVICTION_THRESHOLD,
        help_text="Turns without a reference after which a summary leaves the prompt.",
    )
    prefer_cache = models.BooleanField(
        default=False, help_text="Cut the window in blocks, so that prompts keep their beginning."
    )
    context_mode = models.CharField(
        max_length=5,
        choices=[(mode.value, mode.label) for mode in ContextMode],
        default=ContextMode.LIGHT,
        help_text="How much of what was said earlier a message brings back by itself.",
    )
    by_meaning = models.BooleanField(
        default=True, help_text="What is said may be given to the model of meanings, where there is one."
    )
    review_mode = models.CharField(
        max_length=9,
        choices=[(mode.value, mode.value) for mode in ReviewMode],
        default=ReviewMode.AUTOMATIC,
        help_text="Which summaries stand by themselves.",
    )
    rolling = models.BooleanField(default=False, help_text="Draft summaries of old turns for review, every 20 turns.")
    event_seq = models.PositiveBigIntegerField(default=0, help_text="Number of the last event.")
    event_seal = models.CharField(max_length=64, blank=True, help_text="Of the last event that stays (`domain/seals`).")
    reply_limit = models.PositiveIntegerField(
        null=True, blank=True, help_text="Tokens a reply may have; empty: what the connection says, or the model's own."
    )
    temperature = models.FloatField(null=True, blank=True, help_text="Empty: the model's own.")
    quiet_notices = models.BooleanField(default=False, help_text="Fold what the program notes between the turns.")
    is_example = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True)
    last_activity_at = models.DateTimeField(auto_now_add=True)
    archived_at = models.DateTimeField(null=True, blank=True)
    answered_at = models.DateTimeField(null=True, blank=True, help_text="When the last turn or draft ended.")
    seen_at = models.DateTimeField(null=True, blank=True, help_text="When its owner last had it in sight.")
    erase_at = models.DateTimeField(
        null=True, blank=True, help_text="Deleted; until then its owner can bring it back, and then nothing is left."
    )

    objects = SessionQuerySet.as_manager()

    class Meta:
        ordering = ["-last_activity_at"]
        indexes = [
            models.Index(fields=["owner", "-last_activity_at"], name="session_by_owner"),
            models.Index(fields=["erase_at"], condition=models.Q(erase_at__isnull=False), name="session_to_erase"),
        ]
        permissions = [("view_any_session", "Can read the sessions of other people")]

    def __str__(self) -> str:
        return self.title or gettext("New conversation")

    def get_absolute_url(self) -> str:
        return reverse("chat", args=[self.pk])

    @property
    def is_unread(self) -> bool:
        if self.answered_at is None:
            return False
        return self.seen_at is None or self.seen_at < self.answered_at


@lru_cache(maxsize=256)
def address_form(prefix: str, name: str, ids: int, numbers: int) -> str:
    """An address with a place for each id and each number: a page has a thousand, and Django takes as long for them as
    for all that it reads. `prefix`: the one that the process is served under."""
    places: list[object] = [uuid.UUID(int=MARK + place) for place in range(ids)]
    places += [MARK + place for place in range(numbers)]
    address = reverse(name, args=places).replace("{", "{{").replace("}", "}}")
    for place in places:
        address = address.replace(str(place), "{}", 1)
    return address


# Names of branches that nobody has named; where one is taken, a number follows.
NAMED_FOR_IT = re.compile(r"(main|From turn|Edited turn|Regenerated turn)(?: (\d+))?( \(\d+\))?")


class Branch(models.Model):
    """A named timeline of turns: the parent's turns up to the fork, then its own."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    session = models.ForeignKey(Session, models.CASCADE, related_name="branches")
    name = models.CharField(max_length=100, default="main")
    parent = models.ForeignKey("self", models.CASCADE, null=True, blank=True, related_name="children")
    fork_turn = models.PositiveIntegerField(null=True, blank=True, help_text="Number of the last shared turn.")
    lineage = models.JSONField(
        default=list, blank=True, help_text="Its ancestors, root first: [id, last shared turn, last shared event]."
    )
    head = models.PositiveIntegerField(default=0, help_text="Number of the last turn.")
    clock = models.PositiveIntegerField(default=0, help_text="Completed turns.")
    effort_epoch = models.PositiveIntegerField(
        default=0,
        help_text="Grows when an effort is opened, concluded, reopened or switched to: prompts may be cut anew.",
    )
    plan_seal = models.CharField(
        max_length=64, blank=True, help_text="Of its last plan; of a fork without any that of the parent's."
    )
    active_effort = models.ForeignKey("Effort", models.SET_NULL, null=True, blank=True, related_name="+")
    focus = models.ForeignKey(
        "Effort",
        models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
        help_text="The effort that a person has named: what is recalled comes from it first.",
    )
    created_at = models.DateTimeField(auto_now_add=True)
    archived_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["created_at"]
        verbose_name_plural = "branches"
        constraints = [
            models.UniqueConstraint(fields=["session", "name"], name="branch_name_once_in_session"),
            models.CheckConstraint(
                condition=models.Q(parent__isnull=True, fork_turn__isnull=True)
                | models.Q(parent__isnull=False, fork_turn__isnull=False),
                name="branch_fork_has_parent",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return self.address("chat")

    @property
    def label(self) -> str:
        """Its name, in the reader's language where nobody has given it one."""
        if not (found := NAMED_FOR_IT.fullmatch(self.name)):
            return self.name
        words = {
            "main": pgettext("branch", "main"),
            "From turn": pgettext("branch", "From turn %s"),
            "Edited turn": pgettext("branch", "Edited turn %s"),
            "Regenerated turn": pgettext("branch", "Regenerated turn %s"),
        }[found[1]]
        return words.replace("%s", found[2] or "").strip() + (found[3] or "")

    @property
    def ancestors(self) -> tuple[Ancestor, ...]:
        return tuple(Ancestor(branch=branch, last=last, seq=seq) for branch, last, seq in self.lineage)

    def owner_of(self, number: int) -> str:
        """Id of the branch that turn `number` of this timeline belongs to."""
        return owner_of(number, self.ancestors, str(self.pk))

    def has(self, turn: Turn) -> bool:
        """Whether the turn stands in this timeline."""
        return self.owner_of(turn.number) == str(turn.branch_id)

    def address(self, name: str, *args: object) -> str:
        """Of a page of this branch; those of the main branch do not name it."""
        where = [self.session_id, self.pk] if self.parent_id else [self.session_id]
        if all(type(arg) is int for arg in args):
            return address_form(get_script_prefix(), name, len(where), len(args)).format(*where, *args)
        return reverse(name, args=[*where, *args])

    def address_of_turn(self, number: int) -> str:
        """Of the log around that turn, however far back it is."""
        return f"{self.address('log')}?around={number}#turn-{number}"
