"""ZIP archives from outside, opened where reading takes no more memory than is counted while they are read."""

from __future__ import annotations

import struct
import zlib
from typing import IO
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile

ENTRY = b"PK\x01\x02"
# Each takes some 400 bytes once an archive is open, whatever is behind it.
MOST_ENTRIES = 100_000
PIECE = 1 << 20
# What reading an archive raises: passwords, unknown versions and impossible names have no class of their own.
UNREADABLE = (BadZipFile, zlib.error, struct.error, EOFError, OSError, RuntimeError, ValueError, LookupError)


def opened(file: IO[bytes]) -> ZipFile:
    """Raises `BadZipFile` for one that is not to be opened, and what else is `UNREADABLE` for a damaged one."""
    file.seek(0)
    entries = 0
    while piece := file.read(PIECE):
        entries += piece.count(ENTRY)
    if entries > MOST_ENTRIES:
        raise BadZipFile("It has too many entries.")
    archive = ZipFile(file)
    # Packed otherwise a few bytes become any number at once.
    if any(one.compress_type not in (ZIP_STORED, ZIP_DEFLATED) for one in archive.infolist()):
        archive.close()
        raise BadZipFile("It is packed in a way that has no bounds.")
    return archive
