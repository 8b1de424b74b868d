"""One file below the root of a workspace, read and replaced: whole or not at all, and never by way of a link."""

from __future__ import annotations

import fcntl
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import PurePosixPath

from django.conf import settings

from efforts.domain.errors import Refused
from workspaces.actions.attaching import allowed_folder
from workspaces.domain.leaving_out import is_odd_name, is_secret_name
from workspaces.domain.states import SourceKind
from workspaces.indexing.walking import FILE, FOLDER
from workspaces.models import Workspace

NO_PATH = "There is no file {path} below the attached folder that may be changed. Links are not followed."
GONE = "{path} is no longer there, or no longer a file. Nothing was written."
MOVED = "The attached folder is no longer where it was, or is not allowed any more. Nothing was written."


class Unread(Refused):
    """The file is another than the index has it, or gone."""


@contextmanager
def folder_of(workspace: Workspace, path: str) -> Iterator[int]:
    """The folder that holds the file, open and locked against other writers of this program. Each folder is opened from
    the one above it. Raises `Refused`."""
    parts = PurePosixPath(path).parts
    if not parts or path != "/".join(parts) or ".." in parts or is_odd_name(path) or is_secret_name(parts[-1]):
        raise Refused("path", NO_PATH.format(path=path[:200]))
    opened = open_folder(root_of(workspace), None, path)
    try:
        for name in parts[:-1]:
            above, opened = opened, open_folder(name, opened, path)
            os.close(above)
        fcntl.flock(opened, fcntl.LOCK_EX)
        yield opened
    finally:
        os.close(opened)


def root_of(workspace: Workspace) -> str:
    """Raises `Refused` where the operator does not allow it any more, or a link leads elsewhere now."""
    still = os.path.realpath(workspace.root)
    if workspace.kind == SourceKind.FOLDER:
        still = str(allowed_folder(workspace.root))
    if still != workspace.root:
        raise Refused("path", MOVED)
    return workspace.root


def open_folder(name: str, above: int | None, path: str) -> int:
    try:
        return os.open(name, FOLDER, dir_fd=above)
    except OSError as error:
        raise Refused("path", NO_PATH.format(path=path[:200])) from error


def read_file(folder: int, path: str) -> tuple[bytes, os.stat_result]:
    """Its bytes, with mode and owner. Raises `Refused`."""
    try:
        opened = os.open(PurePosixPath(path).name, FILE, dir_fd=folder)
    except OSError as error:
        raise Unread("gone", GONE.format(path=path)) from error
    with os.fdopen(opened, "rb") as file:
        status = os.fstat(opened)
        if not stat.S_ISREG(status.st_mode):
            raise Unread("gone", GONE.format(path=path))
        most = settings.CCM_WORKSPACE_FILE_BYTES
        data = file.read(most + 1)
    if len(data) > most:
        raise Refused("large", f"{path} has become larger than {most:,} bytes. Nothing was written.")
    return data, status


def replace_file(
    folder: int, path: str, data: bytes, status: os.stat_result, *, holds: Callable[[bytes], None]
) -> None:
    """The file is the old one or the new one, whenever the machine stops. `holds` is asked once more of what is there
    immediately before, and raises where that is not what it should be. Raises `Refused`."""
    name = PurePosixPath(path).name
    # One name for one file: what a process left behind that was killed is written over by the next.
    beside = f".ccm-{sha256(name.encode()).hexdigest()[:16]}.new"
    try:
        with suppress(FileNotFoundError):
            os.unlink(beside, dir_fd=folder)
        written = os.open(
            beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600, dir_fd=folder
        )
        try:
            with os.fdopen(written, "wb") as file:
                file.write(data)
                file.flush()
                # Only root may give it to another; all others own it from now on.
                with suppress(PermissionError):
                    os.fchown(written, status.st_uid, status.st_gid)
                os.fchmod(written, stat.S_IMODE(status.st_mode))
                os.fsync(written)
            holds(read_file(folder, path)[0])
            os.rename(beside, name, src_dir_fd=folder, dst_dir_fd=folder)
        except BaseException:
            with suppress(OSError):
                os.unlink(beside, dir_fd=folder)
            raise
        os.fsync(folder)
    except OSError as error:
        raise Refused("unwritable", f"{path} could not be written: {error.strerror}. It is as it was.") from error
