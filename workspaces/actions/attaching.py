"""A conversation gets a folder of code, or lets it go."""

from __future__ import annotations

import os
import shutil
import uuid
from pathlib import Path, PurePath
from typing import IO, TYPE_CHECKING

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from efforts.domain.errors import Refused
from efforts.log import events
from efforts.models import Session
from workspaces.domain.states import SourceKind, WorkspaceState
from workspaces.indexing import worker
from workspaces.indexing.archives import unpack
from workspaces.indexing.snapshots import limits
from workspaces.models import Attachment, Workspace

if TYPE_CHECKING:
    from django.contrib.auth.models import User

NO_ROOTS = (
    "No folder may be attached here yet. Whoever runs the server lists folders in {setting}. Upload an archive instead."
).format(setting="CCM_WORKSPACE_ROOTS")
OUTSIDE = "This folder is not below one that is allowed: {roots}."
NO_FOLDER = "There is no folder “{path}” that can be read."
NOTHING = "This conversation has no code attached."


def attach_folder(session: Session, path: str, *, actor: User) -> Workspace:
    """The folder at `path`, an absolute one, or one below an allowed root. Indexing begins by itself."""
    root = allowed_folder(path)
    with transaction.atomic():
        workspace, _ = Workspace.objects.get_or_create(
            owner=session.owner,
            root=str(root),
            defaults={"kind": SourceKind.FOLDER, "name": (root.name or str(root))[:200]},
        )
        return attach(session, workspace, actor)


def attach_archive(session: Session, name: str, upload: IO[bytes], *, actor: User) -> Workspace:
    """What an uploaded archive holds, unpacked into the state folder. Indexing begins by itself."""
    pk = uuid.uuid4()
    folder = Path(os.path.realpath(settings.CCM_HOME)) / "workspaces" / str(pk)
    unpack(upload, folder, limits())
    # Most archives hold one folder with everything in it.
    entries = list(folder.iterdir())
    root = entries[0] if len(entries) == 1 and entries[0].is_dir() else folder
    try:
        with transaction.atomic():
            stem = PurePath(name).name.removesuffix(".gz").rpartition(".")[0] or name
            workspace = Workspace.objects.create(
                pk=pk, owner=session.owner, root=str(root), kind=SourceKind.ARCHIVE, name=stem[:200] or "archive"
            )
            return attach(session, workspace, actor)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def attach(session: Session, workspace: Workspace, actor: User) -> Workspace:
    # Two tabs that attach at once do so one after the other.
    events.lock([session.pk])
    detach_now(session, actor)
    Attachment.objects.create(session=session, workspace=workspace)
    events.append(
        session.pk, "workspace.attached", {"workspace": str(workspace.pk), "name": workspace.name}, actor=actor
    )
    worker.start(workspace.pk)
    return workspace


@transaction.atomic
def detach(session: Session, *, actor: User) -> None:
    """The conversation works without code from its next message on. Its index stays as long as the conversation, so
    that earlier plans can be told again. Raises `Refused` where there is none."""
    if not detach_now(session, actor):
        raise Refused("not_attached", NOTHING)


def detach_now(session: Session, actor: User) -> bool:
    standing = session.attachments.filter(detached_at=None).select_related("workspace").first()
    if standing is None:
        return False
    standing.detached_at = timezone.now()
    standing.save(update_fields=["detached_at"])
    events.append(session.pk, "workspace.detached", {"workspace": str(standing.workspace_id)}, actor=actor)
    return True


@transaction.atomic
def index_again(workspace: Workspace, *, actor: User) -> None:
    """What has changed in the folder is read. Refused while it is being indexed."""
    if worker.is_at_work(workspace):
        raise Refused("indexing", "It is being indexed right now.")
    tell(workspace, "workspace.index_requested", actor)
    worker.start(workspace.pk)


@transaction.atomic
def cancel_index(workspace: Workspace, *, actor: User) -> None:
    """What is indexed by now stays. Refused where nobody indexes it."""
    running = Workspace.objects.filter(pk=workspace.pk, state=WorkspaceState.INDEXING)
    if not running.update(cancel_requested_at=timezone.now()):
        raise Refused("not_indexing", "It is not being indexed any more.")
    tell(workspace, "workspace.index_cancelled", actor)


def tell(workspace: Workspace, kind: str, actor: User) -> None:
    """Each conversation that works on it."""
    for session in workspace.attachments.filter(detached_at=None).values_list("session", flat=True):
        events.append(session, kind, {"workspace": str(workspace.pk)}, actor=actor)


def allowed_folder(path: str) -> Path:
    """Without links in it. Raises `Refused` where it is no folder, or below none that is allowed."""
    roots = settings.CCM_WORKSPACE_ROOTS
    if not roots:
        raise Refused("path", NO_ROOTS)
    shown = ", ".join(map(str, roots))
    path = path.strip()
    if "\x00" in path or not path or len(path) > 4_096:
        raise Refused("path", OUTSIDE.format(roots=shown))
    # Joined to an absolute path a root has no say; whether the result is allowed is asked of both alike.
    named = [Path(os.path.realpath(os.path.join(root, path))) for root in roots]
    # Before anything is said of the folder: what lies elsewhere is nobody's business.
    allowed = [one for one in named if worker.is_below_a_root(one)]
    if not allowed:
        raise Refused("path", OUTSIDE.format(roots=shown))
    for found in allowed:
        # Not by Path, which raises where a folder above may not be looked into, or the name is too long.
        if os.path.isdir(found) and os.access(found, os.R_OK | os.X_OK):
            return found
    raise Refused("path", NO_FOLDER.format(path=path[:200]))
