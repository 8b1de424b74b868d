"""Bytes outside the database: a folder for each conversation, a file for each content, named by its hash."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import UUID

from django.conf import settings


def folder_of(session_id: UUID) -> Path:
    return Path(settings.CCM_FILES_DIR) / str(session_id)


def path_of(session_id: UUID, sha256: str) -> Path:
    """Where the bytes of that hash lie, or would."""
    return folder_of(session_id) / sha256


@contextmanager
def written(session_id: UUID, data: bytes) -> Iterator[Path]:
    """The bytes on the disk, under a name of their own until they are kept; what is not kept is gone afterwards."""
    folder = folder_of(session_id)
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    # As mkstemp makes it, its owner's alone.
    handle, name = tempfile.mkstemp(dir=folder)
    draft = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        yield draft
    finally:
        draft.unlink(missing_ok=True)


def keep(session_id: UUID, draft: Path, sha256: str) -> None:
    """To be called under the session's lock, with the row that names them."""
    os.replace(draft, path_of(session_id, sha256))


def is_whole(session_id: UUID, sha256: str) -> bool:
    """Whether the bytes are there, and are those of the hash."""
    try:
        with path_of(session_id, sha256).open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest() == sha256
    except OSError:
        return False


def forget(session_id: UUID, sha256: str) -> None:
    """The bytes of that hash, if they are there."""
    path_of(session_id, sha256).unlink(missing_ok=True)


def forget_all(session_id: UUID) -> None:
    """Of a conversation that is erased."""
    shutil.rmtree(folder_of(session_id), ignore_errors=True)


def folders() -> Iterator[UUID]:
    """The conversations that have a folder."""
    root = Path(settings.CCM_FILES_DIR)
    for path in sorted(root.iterdir()) if root.is_dir() else ():
        try:
            yield UUID(path.name)
        except ValueError:
            continue
