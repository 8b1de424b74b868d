"""An uploaded archive, unpacked below the state folder: regular files only, and none outside its folder."""

from __future__ import annotations

import errno
import lzma
import shutil
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path, PurePosixPath
from typing import IO

from efforts.actions.files import zips
from efforts.domain.errors import Refused
from efforts.models.faults import disk_is_full
from workspaces.domain.leaving_out import is_odd_name
from workspaces.indexing.walking import DEEPEST, Limits

PIECE = 1 << 20
# Behind the end of a tar file stand zeros, as many as fill its last record.
LONGEST_REST = 16 << 20
NO_ARCHIVE = "This is no archive that can be read: upload a .zip, .tar or .tar.gz file."
EMPTY = "The archive holds no files."
# What the readers of the other archives raise beside it.
UNREADABLE = (*zips.UNREADABLE, tarfile.TarError, lzma.LZMAError, ArithmeticError)

Member = tuple[str, Callable[[], AbstractContextManager[IO[bytes]]]]


def unpack(upload: IO[bytes], folder: Path, limits: Limits) -> int:
    """How many files there are. Raises `Refused`; then the folder is gone."""
    folder.mkdir(parents=True, mode=0o700)
    try:
        return write_members(upload, folder, limits)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def write_members(upload: IO[bytes], folder: Path, limits: Limits) -> int:
    written = Written()
    try:
        count = sum(write_member(member, folder, limits, written) for member in members(upload))
    except UNREADABLE as error:
        if getattr(error, "errno", None) in (errno.ENOSPC, errno.EDQUOT):
            raise disk_is_full() from error
        raise Refused("archive", NO_ARCHIVE) from error
    if not count:
        raise Refused("archive", EMPTY)
    return count


class Written:
    files = 0
    bytes = 0


def members(upload: IO[bytes]) -> Iterator[Member]:
    """Name and content of every regular file."""
    if zipfile.is_zipfile(upload):
        with zips.opened(upload) as archive:
            for one in archive.infolist():
                # The upper half holds the Unix mode: links are files to a reader of archives.
                if not one.is_dir() and (one.external_attr >> 28) in (0, 0o10):
                    yield one.filename, partial(archive.open, one)
        return
    upload.seek(0)
    with tarfile.open(fileobj=upload, mode="r:*") as packed:
        for entry in packed:
            if entry.isreg() and (content := packed.extractfile(entry)):
                yield entry.name, partial(open_already, content)
        read_to_the_end(packed)


def read_to_the_end(packed: tarfile.TarFile) -> None:
    """The sum over all that is compressed stands behind it, and is compared by whoever reads so far: else what was
    damaged is unpacked as other bytes."""
    rest = 0
    while packed.fileobj and (piece := packed.fileobj.read(PIECE)):
        rest += len(piece)
        if rest > LONGEST_REST:
            raise tarfile.ReadError("There is more behind the end than an archive has.")


def open_already(content: IO[bytes]) -> AbstractContextManager[IO[bytes]]:
    return nullcontext(content)


def write_member(member: Member, folder: Path, limits: Limits, written: Written) -> bool:
    """Whether it was written. What would lie outside the folder is not, nor what has no proper name."""
    name, content = member
    path = PurePosixPath(name.replace("\\", "/"))
    if path.is_absolute() or ".." in path.parts or is_odd_name(str(path)) or len(path.parts) > DEEPEST:
        return False
    if any(len(part.encode()) > 255 for part in path.parts):
        return False
    written.files += 1
    if written.files > limits.files:
        raise Refused("archive", f"The archive holds more than {limits.files:,} files.")
    target = folder.joinpath(*path.parts)
    target.parent.mkdir(parents=True, exist_ok=True)
    with content() as source, target.open("wb") as file:
        while piece := source.read(PIECE):
            written.bytes += len(piece)
            # Counted while it grows: what an archive says of itself may be wrong.
            if written.bytes > limits.all_bytes:
                raise Refused("archive", f"The archive holds more than {limits.all_bytes >> 20} MB.")
            file.write(piece)
    return True
