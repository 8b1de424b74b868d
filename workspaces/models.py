"""A folder of code, its snapshots, and what stands in them. Everything is reached through its owner.

A file's row is one version of it: it stands in the snapshots numbered from `first` to `last`. Versions, their symbols
and edges are never changed, so that an old snapshot stays what it was and a new one costs what has changed.

What the databases keep to find a symbol by its terms is made by migration 0001, as for passages of efforts.
"""

from __future__ import annotations

import shlex
import uuid
from typing import TYPE_CHECKING

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.urls import reverse
from django.utils import timezone

from efforts.domain.effort.states import HoldState
from workspaces.domain.states import (
    CommandEnd,
    CommandState,
    EdgeKind,
    EditState,
    SourceKind,
    Stage,
    SymbolKind,
    WorkspaceState,
)

if TYPE_CHECKING:
    from django.contrib.auth.models import AbstractBaseUser, AnonymousUser


EDIT_WORDS = {
    EditState.OPEN: "Waits for you",
    EditState.APPLIED: "Written",
    EditState.REJECTED: "Rejected",
    EditState.UNDONE: "Undone",
}
COMMAND_WORDS = {
    CommandState.PROPOSED: "Waits for you",
    CommandState.DECLINED: "Not run",
    CommandState.RUNNING: "Running",
}
COMMAND_ENDS = {CommandEnd.PERSON: "Stopped", CommandEnd.UNSTARTED: "Not started"}


# Ids of a file's symbols: its own times this, and each one's place in it.
SYMBOLS_PER_FILE = 10_000


class WorkspaceQuerySet(models.QuerySet["Workspace"]):
    def owned_by(self, user: AbstractBaseUser | AnonymousUser) -> WorkspaceQuerySet:
        return self.filter(owner_id=user.pk)


class Workspace(models.Model):
    """A folder that one owner's conversations are attached to; conversations with the same folder share its index."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="workspaces")
    name = models.CharField(max_length=200)
    kind = models.CharField(max_length=7, choices=[(k.value, k.value) for k in SourceKind])
    root = models.TextField(help_text="Absolute path, without links in it.")
    state = models.CharField(
        max_length=9, choices=[(s.value, s.value) for s in WorkspaceState], default=WorkspaceState.INDEXING
    )
    current = models.ForeignKey("Snapshot", models.SET_NULL, null=True, blank=True, related_name="+")
    done = models.PositiveIntegerField(default=0, help_text="Files that are indexed, of `total`.")
    total = models.PositiveIntegerField(default=0)
    problem = models.TextField(blank=True, help_text="What went wrong, for people.")
    indexer = models.CharField(max_length=100, blank=True, help_text="Who indexes it.")
    alive_at = models.DateTimeField(null=True, blank=True, help_text="When whoever indexes it last showed life.")
    cancel_requested_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = WorkspaceQuerySet.as_manager()

    class Meta:
        ordering = ["created_at"]
        constraints = [models.UniqueConstraint(fields=["owner", "root"], name="one_workspace_of_a_folder")]

    def __str__(self) -> str:
        return self.name


class Attachment(models.Model):
    """A conversation works on a folder; `detached_at`: it did."""

    session = models.ForeignKey("efforts.Session", models.CASCADE, related_name="attachments")
    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="attachments")
    created_at = models.DateTimeField(auto_now_add=True)
    detached_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(
                fields=["session"], condition=Q(detached_at=None), name="one_workspace_of_a_session"
            ),
        ]

    def __str__(self) -> str:
        return f"attachment {self.pk}"


class Snapshot(models.Model):
    """The folder as it was at one moment; `sha256` is the same for the same files, whoever indexed them and how."""

    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="snapshots")
    number = models.PositiveIntegerField(help_text="From 1.")
    sha256 = models.CharField(max_length=64, help_text="Of paths and hashes of all files, and the indexer's version.")
    stage = models.CharField(max_length=8, choices=[(s.value, s.value) for s in Stage], default=Stage.TEXT)
    files = models.PositiveIntegerField(default=0)
    lines = models.PositiveIntegerField(default=0)
    symbols = models.PositiveIntegerField(default=0)
    skipped = models.JSONField(default=dict, help_text="For each reason how many files, and the first of them.")
    central = models.JSONField(
        default=list, help_text="[symbol, share, callers, tests] of each that others lead to, the most central first."
    )
    scaffold = models.TextField(blank=True, help_text="What a prompt says of it for orientation.")
    elapsed_ms = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["number"]
        constraints = [models.UniqueConstraint(fields=["workspace", "number"], name="snapshot_number_once")]

    def __str__(self) -> str:
        return f"snapshot {self.number} ({self.sha256[:8]})"

    @property
    def standing(self) -> Q:
        """Which rows of files stand in it."""
        return Q(workspace=self.workspace_id, first__lte=self.number) & (Q(last=None) | Q(last__gte=self.number))

    @property
    def standing_by_file(self) -> Q:
        """The same for rows that lead to a file."""
        last = Q(file__last=None) | Q(file__last__gte=self.number)
        return Q(file__workspace=self.workspace_id, file__first__lte=self.number) & last


class File(models.Model):
    """One version of a file. `sha256` is of its bytes, `text` what they say: bytes that are no UTF-8 are replaced."""

    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="files", db_index=False)
    path = models.CharField(max_length=1024, help_text="Below the root, with slashes.")
    sha256 = models.CharField(max_length=64)
    language = models.CharField(max_length=20, blank=True, help_text="Empty: plain text.")
    module = models.CharField(max_length=1024, blank=True, help_text="As code names it, such as package.module.")
    size = models.PositiveIntegerField(help_text="Bytes.")
    lines = models.PositiveIntegerField()
    text = models.TextField()
    first = models.PositiveIntegerField(help_text="Number of the first snapshot that it stands in.")
    last = models.PositiveIntegerField(null=True, blank=True, help_text="Of the last; empty while it stands.")
    indexed = models.BooleanField(default=False, help_text="Whether its symbols are known.")
    broken = models.BooleanField(default=False, help_text="Whether the parser found mistakes.")

    class Meta:
        ordering = ["path"]
        constraints = [models.UniqueConstraint(fields=["workspace", "path", "first"], name="one_version_in_a_snapshot")]

    def __str__(self) -> str:
        return self.path

    def get_absolute_url(self) -> str:
        return reverse("source", args=[self.workspace_id, self.first, self.path])


class Symbol(models.Model):
    """What code names, or a section of a text; `qualified` is unique but for what code defines twice.

    Its id is given: `SYMBOLS_PER_FILE` times the file's, and its place there.
    """

    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="symbols", db_index=False)
    file = models.ForeignKey(File, models.CASCADE, related_name="symbols")
    parent = models.ForeignKey("self", models.CASCADE, null=True, blank=True, related_name="children")
    kind = models.CharField(max_length=8, choices=[(k.value, k.value) for k in SymbolKind])
    name = models.CharField(max_length=200)
    qualified = models.CharField(max_length=1024)
    signature = models.TextField(blank=True)
    doc = models.TextField(blank=True)
    conditions = models.JSONField(default=list, help_text="Decorators and attributes, such as cfg.")
    first_line = models.PositiveIntegerField()
    last_line = models.PositiveIntegerField()
    is_test = models.BooleanField(default=False)
    length = models.PositiveIntegerField(help_text="Terms.")
    scope = models.CharField(max_length=60, help_text="The workspace, in a word that no term can equal.")
    names = models.TextField(help_text="Terms of name and path, a space before and after each.")
    terms = models.TextField(help_text="Terms of its lines, likewise.")
    # Null, and no default: SQLite would make the table anew for it, without the triggers of migration 0001.
    content_sha256 = models.CharField(  # noqa: DJ001
        max_length=64,
        null=True,
        help_text="Of its name, what is said of it and its lines; none where an earlier version indexed it.",
    )

    class Meta:
        ordering = ["id"]
        indexes = [models.Index(fields=["workspace", "name"], name="symbol_by_name")]

    def __str__(self) -> str:
        return self.qualified


def scope_of(workspace_id: uuid.UUID) -> str:
    """The word by which the index of terms knows whose symbol it is."""
    return f" w_{workspace_id.hex[:16]} "


class SymbolVector(models.Model):
    """What a text of code means, by a model: of unit length, 16-bit floats. All symbols of the folder that have this
    text share it, whatever snapshots they stand in."""

    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="vectors", db_index=False)
    model = models.CharField(max_length=300, help_text="Where it is asked, its name, its dimension.")
    content_sha256 = models.CharField(max_length=64)
    vector = models.BinaryField()

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["workspace", "model", "content_sha256"], name="one_vector_per_content")
        ]

    def __str__(self) -> str:
        return f"vector of {self.content_sha256[:8]}"


class SymbolVectorIndex(models.Model):
    """How far a folder has got with one model of meanings. Symbols of a snapshot get their vectors in the order of
    their ids; those up to `after` have one."""

    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="vector_indexes")
    name = models.CharField(max_length=250, help_text="Of the model that is asked; `model` has the dimension as well.")
    model = models.CharField(max_length=300, blank=True)
    number = models.PositiveIntegerField(default=0, help_text="Of the snapshot that it is about.")
    after = models.BigIntegerField(default=0)
    symbols = models.PositiveIntegerField(default=0, help_text="Of that snapshot that have a vector.")
    complete = models.BooleanField(default=False, help_text="All of that snapshot have one, or as many as may.")
    through = models.BigIntegerField(default=0, help_text="Id of the last vector.")
    tokens = models.PositiveBigIntegerField(
        default=0, help_text="Sent for all of them, as the model counts or as counted here."
    )
    fault = models.TextField(blank=True, help_text="Why the last request came to nothing.")
    held_until = models.DateTimeField(null=True, blank=True, help_text="Some process has asked, or waits, until then.")
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["workspace", "name"], name="one_index_per_model")]

    def __str__(self) -> str:
        return f"{self.symbols} symbols by {self.name}"


class Edge(models.Model):
    """What a symbol refers to, as it is written; where that leads depends on the snapshot (domain/graph.py).

    `name` is its last word, `before` what stands before it (`self`, a module, an object); of an import the module.
    """

    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="edges", db_index=False)
    file = models.ForeignKey(File, models.CASCADE, related_name="edges")
    source = models.ForeignKey(Symbol, models.CASCADE, related_name="edges")
    kind = models.CharField(max_length=8, choices=[(k.value, k.value) for k in EdgeKind])
    name = models.CharField(max_length=200)
    before = models.CharField(max_length=400, blank=True)
    alias = models.CharField(max_length=200, blank=True, help_text="Of an import: the name that it has in the file.")
    line = models.PositiveIntegerField()

    class Meta:
        ordering = ["id"]
        indexes = [models.Index(fields=["workspace", "name"], name="edge_by_name")]

    def __str__(self) -> str:
        return f"{self.kind} {self.name}"


class CodeHit(models.Model):
    """One of what was found in code: part of a retrieval set, whose `params` name workspace and snapshot.

    `text` is what a prompt shows of it, `short` the same in a few lines; `ranks` its place by each ranker.
    """

    retrieval = models.ForeignKey("efforts.RetrievalSet", models.CASCADE, related_name="code_hits")
    rank = models.PositiveSmallIntegerField(help_text="From 1.")
    # No foreign key: a record stands, also when the index is gone.
    symbol = models.BigIntegerField()
    kind = models.CharField(max_length=8)
    qualified = models.CharField(max_length=1024)
    path = models.CharField(max_length=1024)
    first_line = models.PositiveIntegerField()
    last_line = models.PositiveIntegerField()
    sha256 = models.CharField(max_length=64, help_text="Of the file.")
    score = models.FloatField()
    ranks = models.JSONField(default=dict)
    why = models.JSONField(default=list, help_text="Sentences for people.")
    text = models.TextField(blank=True)
    short = models.TextField(blank=True)
    included = models.BooleanField(default=False, help_text="Whether the prompt shows it.")

    class Meta:
        ordering = ["rank"]
        constraints = [models.UniqueConstraint(fields=["retrieval", "rank"], name="one_code_hit_per_rank")]

    def __str__(self) -> str:
        return f"{self.rank}: {self.qualified}"


class ProposedEdit(models.Model):
    """A change of one file that a model proposed. Nothing is written before a person accepts hunks of it.

    `before` is the whole file as it was known; with the accepted hunks it is what was written.
    """

    session = models.ForeignKey("efforts.Session", models.CASCADE, related_name="edits")
    run = models.ForeignKey("efforts.Run", models.CASCADE, related_name="edits")
    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="edits")
    path = models.CharField(max_length=1024)
    sha256 = models.CharField(max_length=64, help_text="Of the file that it is a change of.")
    before = models.TextField()
    hunks = models.JSONField(help_text="Each with the line that it begins at, from 0, and its lines.")
    why = models.TextField(blank=True, help_text="As the model says.")
    state = models.CharField(max_length=8, choices=[(s.value, s.value) for s in EditState], default=EditState.OPEN)
    accepted = models.JSONField(default=list, help_text="Numbers of the hunks that were accepted, from 0.")
    written = models.CharField(max_length=64, blank=True, help_text="Hash of the file that was written.")
    result = models.TextField(blank=True, help_text="What the model is told of it, once.")
    told_by = models.ForeignKey("efforts.Run", models.SET_NULL, null=True, blank=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    decided_at = models.DateTimeField(null=True, blank=True)
    undone_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return f"edit of {self.path}: {self.state}"

    def get_absolute_url(self) -> str:
        return reverse("edit", args=[self.session_id, self.pk])

    @property
    def outcome(self) -> str:
        """What came of it, in words for people."""
        state = EditState(self.state)
        if state in (EditState.OPEN, EditState.REJECTED):
            return EDIT_WORDS[state]
        of = len(self.hunks)
        parts = "" if len(self.accepted) == of else f", {len(self.accepted)} of {of} parts"
        return f"{EDIT_WORDS[state]}{parts}"


class CommandRun(models.Model):
    """A command of the operator's list in the attached folder: run by a person, or proposed by a model and allowed."""

    session = models.ForeignKey("efforts.Session", models.CASCADE, related_name="commands")
    branch = models.ForeignKey("efforts.Branch", models.CASCADE, related_name="commands")
    turn = models.ForeignKey("efforts.Turn", models.CASCADE, null=True, blank=True, related_name="commands")
    run = models.ForeignKey(
        "efforts.Run", models.CASCADE, null=True, blank=True, related_name="commands", help_text="That proposed it."
    )
    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="commands")
    name = models.CharField(max_length=40)
    argv = models.JSONField(help_text="All words of it; no shell ever reads them.")
    why = models.TextField(blank=True, help_text="As the model says.")
    state = models.CharField(
        max_length=8, choices=[(s.value, s.value) for s in CommandState], default=CommandState.PROPOSED
    )
    end = models.CharField(max_length=9, choices=[(e.value, e.value) for e in CommandEnd], blank=True)
    exit_code = models.IntegerField(null=True, blank=True, help_text="Below 0: the number of a signal.")
    output = models.TextField(blank=True, help_text="As far as it is kept, without what only a terminal reads.")
    output_bytes = models.PositiveBigIntegerField(default=0)
    problem = models.TextField(blank=True, help_text="Why it did not end by itself, for people.")
    runner = models.CharField(max_length=100, blank=True, help_text="Who runs it.")
    alive_at = models.DateTimeField(null=True, blank=True, help_text="When whoever runs it last showed life.")
    cancel_requested_at = models.DateTimeField(null=True, blank=True)
    result = models.TextField(blank=True, help_text="What the model is told of it, once.")
    told_by = models.ForeignKey("efforts.Run", models.SET_NULL, null=True, blank=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return f"command {self.name}: {self.state}"

    def get_absolute_url(self) -> str:
        return reverse("command", args=[self.session_id, self.pk])

    @property
    def outcome(self) -> str:
        """What came of it, in words for people."""
        if self.state != CommandState.ENDED:
            return COMMAND_WORDS[CommandState(self.state)]
        if self.end != CommandEnd.EXIT:
            return COMMAND_ENDS.get(CommandEnd(self.end), "Did not finish")
        return f"{'Failed' if self.exit_code else 'Passed'}, exit status {self.exit_code}"

    @property
    def line(self) -> str:
        """As a person would type it."""
        return shlex.join(self.argv)

    @property
    def seconds(self) -> float:
        """How long it has run, or did."""
        if self.started_at is None:
            return 0
        return ((self.ended_at or timezone.now()) - self.started_at).total_seconds()


class CodePin(models.Model):
    """A symbol or lines that stand in the prompts of a conversation, found by no words; or that a model suggests to.

    It is known by its name, or by its lines as they were (`text`, in the snapshot numbered `number`), and follows them.
    """

    session = models.ForeignKey("efforts.Session", models.CASCADE, related_name="code_pins")
    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="pins")
    run = models.ForeignKey(
        "efforts.Run", models.CASCADE, null=True, blank=True, related_name="+", help_text="That suggested it."
    )
    state = models.CharField(max_length=9, choices=[(s.value, s.value) for s in HoldState], default=HoldState.STANDING)
    why = models.TextField(blank=True, help_text="As the model says.")
    qualified = models.CharField(max_length=1024, blank=True, help_text="Of a symbol; empty: the lines are pinned.")
    kind = models.CharField(max_length=8, blank=True)
    path = models.CharField(max_length=1024)
    first_line = models.PositiveIntegerField()
    last_line = models.PositiveIntegerField()
    text = models.TextField(help_text="Its lines as they were pinned.")
    number = models.PositiveIntegerField(help_text="Of the snapshot in which it was pinned.")
    created_at = models.DateTimeField(auto_now_add=True)
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return f"pin {self.pk} of {self.title}"

    @property
    def title(self) -> str:
        last = f"-{self.last_line}" if self.last_line > self.first_line else ""
        return self.qualified or f"{self.path}:{self.first_line}{last}"
