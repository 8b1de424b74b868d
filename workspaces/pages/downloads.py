"""The folder of an uploaded archive as it is now, edits included, as a ZIP archive that is written while it is read."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import IO
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from efforts.pages.views.exports import Written
from workspaces.domain.leaving_out import is_odd_name
from workspaces.indexing.walking import FILE

PIECE = 1 << 16
# The days that a ZIP archive can tell.
FIRST, LAST = (1980, 1, 1, 0, 0, 0), (2107, 12, 31, 23, 59, 58)


def packed(root: str) -> Iterator[bytes]:
    """All files, also those that are not indexed."""
    written = Written()
    with ZipFile(written, "w", ZIP_DEFLATED) as archive:
        for path, file in files_in(root):
            with archive.open(info_of(path, file), "w", force_zip64=True) as entry:
                while piece := file.read(PIECE):
                    entry.write(piece)
                    yield written.taken()
    yield written.taken()


def files_in(root: str) -> Iterator[tuple[str, IO[bytes]]]:
    """Regular files with their paths; links, which a command may have made, are not followed."""
    for folder, _, names, above in os.fwalk(root):
        for name in sorted(names):
            path = os.path.relpath(os.path.join(folder, name), root)
            # Or it is gone by now, or may not be read.
            with suppress(OSError), os.fdopen(os.open(name, FILE, dir_fd=above), "rb") as file:
                if stat.S_ISREG(os.fstat(file.fileno()).st_mode) and not is_odd_name(path):
                    yield path, file


def info_of(path: str, file: IO[bytes]) -> ZipInfo:
    status = os.fstat(file.fileno())
    info = ZipInfo(path, min(max(FIRST, time.localtime(status.st_mtime)[:6]), LAST))
    info.compress_type = ZIP_DEFLATED
    info.external_attr = status.st_mode << 16
    return info
