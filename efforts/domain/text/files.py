"""Files that a person adds to a message: what they are called, what they are, and how a prompt shows their text."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from efforts.domain.errors import Refused

LONGEST_NAME = 120
# Of a name, what tells of what kind the file is.
LONGEST_SUFFIX = 12
UNNAMED = "file"
# Characters of text; a model with a window of 200,000 tokens does not read more.
MOST_TEXT = 1_000_000

BLOCK = "File “{name}” ({about}):\n{fence}\n{text}\n{fence}"
FENCE = re.compile(r"`{3,}")
# Control characters that text has; of others text has next to none.
ALLOWED_CONTROLS = frozenset("\t\n\r\f\v\x1b\b")
MOST_CONTROLS = 0.005
# Marks at the beginning of a file: how it says what it is.
PDF = b"%PDF-"
PDF_WITHIN = 1024
PICTURES = (b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"GIF87a", b"GIF89a", b"BM")
WEBP = (b"RIFF", b"WEBP")
UTF16 = (b"\xff\xfe", b"\xfe\xff")
ZIP = b"PK\x03\x04"
OFFICE = (".docx", ".xlsx", ".pptx", ".odt", ".ods", ".odp")
# What cannot be read, by its first bytes.
OTHERS = (
    (b"PK", "a ZIP archive"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"7z\xbc\xaf", "a 7-Zip archive"),
    (b"Rar!", "a RAR archive"),
    (b"\x7fELF", "a program"),
    (b"MZ", "a program"),
    (b"SQLite format 3", "a database"),
    (b"ID3", "a sound"),
    (b"OggS", "a sound"),
)


@dataclass(frozen=True, kw_only=True)
class TextRead:
    """The text of a file; `encoding`: as what it was read, where that was a guess."""

    text: str
    encoding: str = ""


def clean_name(name: str) -> str:
    """One line that shows as what it is: without folders, control characters and marks that turn its direction."""
    name = unicodedata.normalize("NFC", name.encode("utf-8", "replace").decode())
    name = re.split(r"[/\\]", name)[-1]
    name = "".join(" " if character.isspace() else character for character in name)
    name = "".join(character for character in name if not unicodedata.category(character).startswith("C"))
    name = " ".join(re.sub("[“”]", '"', name).split())
    if name in ("", ".", ".."):
        return UNNAMED
    if len(name) <= LONGEST_NAME:
        return name
    stem, dot, suffix = name.rpartition(".")
    if not stem or len(suffix) > LONGEST_SUFFIX:
        return name[: LONGEST_NAME - 1] + "…"
    return stem[: LONGEST_NAME - len(suffix) - 2] + "…" + dot + suffix


def kind_of(data: bytes) -> str:
    """By its first bytes and not by its name: "pdf", "picture", or "text" for all else."""
    if PDF in data[:PDF_WITHIN]:
        return "pdf"
    if data.startswith(PICTURES) or (data.startswith(WEBP[0]) and data[8:12] == WEBP[1]):
        return "picture"
    return "text"


def read_text(data: bytes, name: str) -> TextRead:
    """Raises `Refused` with words where it is no text, or too much of it."""
    read = decoded(data, name)
    text = read.text.replace("\r\n", "\n").replace("\r", "\n")
    check_length(text)
    if not text.strip():
        raise Refused("file_empty", "The file is empty.")
    return TextRead(text=text, encoding=read.encoding)


def decoded(data: bytes, name: str) -> TextRead:
    if data.startswith(UTF16):
        try:
            text = data.decode("utf-16")
        except UnicodeDecodeError as error:
            raise not_text(data, name) from error
        if looks_binary(text):
            raise not_text(data, name)
        return TextRead(text=text)
    try:
        text, encoding = data.decode("utf-8-sig"), ""
    except UnicodeDecodeError:
        # Every byte is some letter there, so that it is a guess, and said so.
        text, encoding = data.decode("cp1252", "replace"), "Windows-1252"
    if looks_binary(text):
        raise not_text(data, name)
    return TextRead(text=text, encoding=encoding)


def looks_binary(text: str) -> bool:
    controls = sum(ord(one) < 32 and one not in ALLOWED_CONTROLS for one in text)
    # Only PostgreSQL would refuse a NUL, and no text has one.
    return "\x00" in text or controls > MOST_CONTROLS * len(text)


def not_text(data: bytes, name: str) -> Refused:
    if data.startswith(ZIP) and name.lower().endswith(OFFICE):
        return Refused("file_kind", "Office documents cannot be read. Save it as PDF or as plain text, and add that.")
    what = next((what for mark, what in OTHERS if data.startswith(mark)), "")
    taken = "Only text, code, PDF files and pictures can be added."
    return Refused("file_kind", " ".join((f"It is {what}.", taken)) if what else taken)


def check_length(text: str) -> None:
    """Raises `Refused` where a file has more characters of text than one may have."""
    if len(text) > MOST_TEXT:
        raise Refused(
            "file_text",
            f"It has {len(text):,} characters of text; {MOST_TEXT:,} is the most. Add the part that matters.",
        )


def block(name: str, about: str, text: str) -> str:
    """As a prompt has it: within a fence that its text does not contain, so that nothing in it can end it."""
    longest = max((len(run) for run in FENCE.findall(text)), default=2)
    return BLOCK.format(name=name, about=about, fence="`" * (longest + 1), text=text.rstrip("\n"))


def title_of(text: str) -> str:
    """The first line of a block."""
    return text.partition("\n")[0].rstrip(":")


def inside(text: str) -> str:
    """Of a block what stands within its fence."""
    _, _, rest = text.partition("\n")
    fence, _, inner = rest.partition("\n")
    return inner.removesuffix(f"\n{fence}")


def size_words(size: int) -> str:
    """Such as "12 KB"."""
    if size < 1024:
        return f"{size} byte" if size == 1 else f"{size} bytes"
    if size < 1024 * 1024:
        return f"{size / 1024:.0f} KB"
    return f"{size / 1024 / 1024:.1f} MB"


def picture_line(name: str, width: int, height: int, *, moves: bool = False) -> str:
    """What a prompt says of a picture, whether it is sent or not."""
    return f"Picture “{name}” ({width} × {height} pixels{', its first frame' if moves else ''})"
