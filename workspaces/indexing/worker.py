"""Who indexes: a thread of this process, one for each folder, which anybody can see at work and tell to stop."""

from __future__ import annotations

import logging
import os
import secrets
import socket
import threading
import time
from datetime import timedelta
from pathlib import Path
from uuid import UUID

from django.conf import settings
from django.db import connection, transaction
from django.db.models import Q
from django.utils import timezone

from workspaces.domain.states import SourceKind, Stage, WorkspaceState
from workspaces.indexing.finishing import complete
from workspaces.indexing.snapshots import Progress, take_snapshot
from workspaces.indexing.symbols import index_symbols
from workspaces.models import Snapshot, Workspace

log = logging.getLogger("ccm.workspaces")

# Seconds between two signs of life, and after which whoever gives none is gone.
SIGN = 0.5
GONE = 30
UNREADABLE = "The folder cannot be read: {why}. Attach it again when it is there."
NOT_ALLOWED = "Whoever runs the server does not allow this folder any more. What is indexed stays."
INTERNAL = "Something went wrong in the program itself; the log says what. Index again tries once more."


# Folders that a thread of this process will index once whoever is at work on them has ended.
waiting: set[UUID] = set()


class NotAllowed(Exception):
    """The folder may not be read any more."""


class Cancelled(Exception):
    """The person asked for it, or somebody else indexes the folder by now."""


def is_at_work(workspace: Workspace) -> bool:
    """Whether somebody indexes it and gives signs of life."""
    alive = workspace.alive_at
    return workspace.state == WorkspaceState.INDEXING and bool(
        workspace.indexer and alive and alive > timezone.now() - timedelta(seconds=GONE)
    )


def claim(workspace: Workspace) -> str:
    """The key of this attempt; empty where somebody is at work on it."""
    key = f"{socket.gethostname()}/{os.getpid()}/{secrets.token_hex(4)}"
    now = timezone.now()
    lost = Q(alive_at=None) | Q(alive_at__lt=now - timedelta(seconds=GONE))
    free = ~Q(state=WorkspaceState.INDEXING) | Q(indexer="") | lost
    taken = Workspace.objects.filter(free, pk=workspace.pk).update(
        state=WorkspaceState.INDEXING,
        indexer=key,
        alive_at=now,
        cancel_requested_at=None,
        problem="",
        done=0,
        total=0,
    )
    return key if taken else ""


def start(workspace_id: UUID) -> None:
    """Index it in the background, when the caller's transaction is committed; where somebody is at work on it, after
    them, as they may be past what has changed."""
    thread = threading.Thread(target=in_thread, args=[workspace_id], name=f"index-{workspace_id}", daemon=True)
    transaction.on_commit(thread.start)


def in_thread(workspace_id: UUID) -> None:
    try:
        workspace = Workspace.objects.filter(pk=workspace_id).first()
        while workspace and not index(workspace):
            if workspace_id in waiting:
                return
            waiting.add(workspace_id)
            time.sleep(SIGN)
            waiting.discard(workspace_id)
            # Who told the others to stop means this one too.
            workspace = Workspace.objects.filter(pk=workspace_id).exclude(state=WorkspaceState.CANCELLED).first()
    finally:
        connection.close()


def index(workspace: Workspace) -> bool:
    """Bring the index up to what the folder is now; False where somebody else does. However it ends is stored."""
    key = claim(workspace)
    if not key:
        return False
    attempt = Attempt(workspace.pk, key)
    try:
        workspace.refresh_from_db()
        bring_up_to_date(workspace, attempt.progress)
        attempt.end(WorkspaceState.READY)
    except Cancelled:
        attempt.end(WorkspaceState.CANCELLED)
    except NotAllowed:
        attempt.end(WorkspaceState.FAILED, NOT_ALLOWED)
    except OSError as error:
        attempt.end(WorkspaceState.FAILED, UNREADABLE.format(why=error.strerror or error))
    # The only broad except: whatever a parser raises, the person finds an index that has ended.
    except Exception:
        log.exception("Workspace %s was not indexed.", workspace.pk)
        attempt.end(WorkspaceState.FAILED, INTERNAL)
    workspace.refresh_from_db()
    return True


def bring_up_to_date(workspace: Workspace, progress: Progress) -> None:
    """Text first, then symbols, then their graph: each can be used as soon as it is there."""
    if not is_allowed(workspace):
        raise NotAllowed
    began = time.monotonic()
    snapshot = take_snapshot(workspace, progress)
    if snapshot.stage != Stage.COMPLETE:
        index_symbols(snapshot, progress)
        complete(snapshot)
        elapsed = int((time.monotonic() - began) * 1000)
        Snapshot.objects.filter(pk=snapshot.pk).update(elapsed_ms=elapsed)


def is_allowed(workspace: Workspace) -> bool:
    """Whether no link leads elsewhere by now, and the operator still names a folder above it."""
    folder = Path(os.path.realpath(workspace.root))
    return str(folder) == workspace.root and (workspace.kind != SourceKind.FOLDER or is_below_a_root(folder))


def is_below_a_root(folder: Path) -> bool:
    """`folder`: without links in it."""
    return any(folder.is_relative_to(os.path.realpath(root)) for root in settings.CCM_WORKSPACE_ROOTS)


class Attempt:
    """One pass of an indexer that holds the claim."""

    def __init__(self, workspace_id: UUID, key: str) -> None:
        self.mine = Workspace.objects.filter(pk=workspace_id, indexer=key, state=WorkspaceState.INDEXING)
        self.told = 0.0

    def progress(self, done: int, total: int) -> None:
        """Raises `Cancelled` where nobody wants to wait for more."""
        if time.monotonic() - self.told < SIGN:
            return
        self.told = time.monotonic()
        wanted = self.mine.filter(cancel_requested_at=None)
        if not wanted.update(done=done, total=total, alive_at=timezone.now()):
            raise Cancelled

    def end(self, state: WorkspaceState, problem: str = "") -> None:
        self.mine.update(state=state, problem=problem, indexer="", cancel_requested_at=None)
