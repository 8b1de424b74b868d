"""From bytes to what a prompt can have of them."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from efforts.domain.errors import Refused
from efforts.domain.prompt import pictures
from efforts.domain.text.canonical import storable
from efforts.domain.text.files import (
    MOST_TEXT,
    block,
    check_length,
    kind_of,
    picture_line,
    read_text,
    size_words,
)

from . import processes

# Whatever it is, it is downloaded as bytes, so that no browser takes it for a page.
BYTES = "application/octet-stream"
TOO_MUCH = "It takes too much time or memory to read."
PDF_FAULTS = {
    "encrypted": "The PDF asks for a password. Save it without one, and add that.",
    "damaged": "The PDF is damaged and cannot be read.",
    "too_much": TOO_MUCH,
}
PICTURE_FAULTS = {
    "too_many_pixels": "The picture has more than 50 million pixels. Make it smaller, and add that.",
    "damaged": "The picture is damaged and cannot be read.",
    "too_much": TOO_MUCH,
}
NO_TEXT = "The PDF has no text, only pictures of pages. Add the pages as pictures, or a PDF with text."


@dataclass(frozen=True, kw_only=True)
class FileRead:
    """`kept`: the bytes to keep; `text`: as a prompt has it; `picture`: what it is known by where it is one."""

    kind: str
    kept: bytes
    text: str
    media_type: str = BYTES
    picture: str = ""


def read_file(name: str, data: bytes) -> FileRead:
    """Raises `Refused` with words where nothing can be read. `name` is clean."""
    if not data:
        raise Refused("file_empty", "The file is empty.")
    return READERS[kind_of(data)](name, data)


def text_file(name: str, data: bytes) -> FileRead:
    read = read_text(data, name)
    about = size_words(len(data)) + (f", read as {read.encoding}" if read.encoding else "")
    return FileRead(kind="text", kept=data, text=block(name, about, read.text))


def pdf_file(name: str, data: bytes) -> FileRead:
    """By its text; the file is kept as it is."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "file")
        source.write_bytes(data)
        read = processes.run("pdf_text", source, MOST_TEXT)
    if fault := read.get("fault"):
        raise Refused("file_unreadable", PDF_FAULTS[fault])
    text = storable(read["text"])
    check_length(text)
    if not text.strip():
        raise Refused("file_empty", NO_TEXT)
    pages = f"{read['pages']:,} page{'' if read['pages'] == 1 else 's'}"
    return FileRead(kind="pdf", kept=data, text=block(name, f"PDF, {pages}, {size_words(len(data))}", text))


def picture_file(name: str, data: bytes) -> FileRead:
    """Made anew; of the file that was added nothing else is kept."""
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder, "file"), Path(folder, "picture")
        source.write_bytes(data)
        made = processes.run("picture", source, target)
        if fault := made.get("fault"):
            raise Refused("file_unreadable", PICTURE_FAULTS[fault])
        kept = target.read_bytes()
    width, height = made["width"], made["height"]
    picture = pictures.reference(sha256(kept).hexdigest(), width, height, made["format"])
    text = picture_line(name, width, height, moves=made["frames"] > 1)
    return FileRead(kind="picture", kept=kept, text=text, media_type=f"image/{made['format']}", picture=picture)


READERS = {"text": text_file, "pdf": pdf_file, "picture": picture_file}
