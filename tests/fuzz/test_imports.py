"""Whatever file is brought along, it is taken or refused in words, and nothing of it lies where it should not."""

from __future__ import annotations

import io
import shutil
import tarfile
import tempfile
import warnings
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from hypothesis import example, given
from hypothesis import strategies as st

from ccmweb.backups import FORMAT, BackupError, read_manifest
from efforts.domain.errors import Refused
from efforts.management.integrity import problems_of
from efforts.models import Session
from efforts.turns.importing import import_conversation, import_files
from tests.fuzz.strategies import as_json, changed, spoilt, texts, tried, undone, whole_texts
from workspaces.indexing.archives import unpack
from workspaces.indexing.walking import Limits

LIMITS = Limits(files=20, file_bytes=10_000, all_bytes=40_000)
PATHS = ["a.py", "a/b.py", "../a.py", "/etc/a", "a/../../b", "a//b", ".", "a\\..\\b", "a.py/b.py", "C:\\a"]
names = st.one_of(whole_texts.filter(bool), st.sampled_from(PATHS))
files = st.lists(st.tuples(names, st.binary(max_size=80)), max_size=5)


@contextmanager
def quiet() -> Iterator[None]:
    """Two members of one name are meant."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        yield


def zipped(members: list[tuple[str, bytes]]) -> bytes:
    whole = io.BytesIO()
    with quiet(), zipfile.ZipFile(whole, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members:
            archive.writestr(zipfile.ZipInfo(name), content)
    return whole.getvalue()


def tarred(members: list[tuple[str, bytes]], kind: bytes, packed: Literal["w:", "w:gz", "w:bz2", "w:xz"]) -> bytes:
    whole = io.BytesIO()
    with tarfile.open(fileobj=whole, mode=packed) as archive:
        for name, content in members:
            one = tarfile.TarInfo(name)
            one.type, one.linkname = kind, "/etc/passwd"
            one.size = len(content) if kind == tarfile.REGTYPE else 0
            archive.addfile(one, io.BytesIO(content))
    return whole.getvalue()


ODD_KINDS = (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE)
kinds = st.just(tarfile.REGTYPE) | st.sampled_from(ODD_KINDS)
archives = st.one_of(
    files.map(zipped),
    st.builds(tarred, files, kinds, st.sampled_from(["w:", "w:gz", "w:bz2", "w:xz"])),
)


# A file without a name, and one that begins before the archive does.
NAMELESS = b"PK\x01\x02" + bytes(42) + b"PK\x05\x06" + bytes(8) + b"\x2e" + bytes(9)
BEFORE = b"PK\x01\x02" + bytes(24) + b"\x01" + bytes(17) + b" PK\x05\x06" + bytes(8) + b"\x2f" + bytes(6) + b"\x01\0\0"


@tried(100)
@example(NAMELESS)
@example(BEFORE)
@given(st.one_of(archives, archives.flatmap(spoilt), st.binary(max_size=200)))
def test_an_archive_is_unpacked_within_its_folder_or_refused_and_gone(data: bytes) -> None:
    place = Path(tempfile.mkdtemp(prefix="ccmweb-fuzz-"))
    folder = place / "within"
    try:
        try:
            count = unpack(io.BytesIO(data), folder, LIMITS)
        except Refused as refused:
            assert refused.text
            assert list(place.iterdir()) == []
        else:
            found = [path for path in place.rglob("*") if not path.is_dir()]
            assert all(path.is_file() and not path.is_symlink() and folder in path.parents for path in found)
            assert 0 < len(found) <= count <= LIMITS.files
            assert sum(path.stat().st_size for path in found) <= LIMITS.all_bytes
    finally:
        shutil.rmtree(place)


@tried(100)
@example(NAMELESS)
@example(BEFORE)
@given(st.one_of(files.map(zipped), files.map(zipped).flatmap(spoilt)))
@pytest.mark.django_db
def test_an_archive_of_anything_says_of_each_file_why_it_is_no_conversation(data: bytes) -> None:
    with undone():
        owner = User.objects.create_user("alice")
        assert all(one.error for one in import_files(owner, [SimpleUploadedFile("a.zip", data)]))


MANIFEST = {
    "format": FORMAT,
    "made_at": "2026-01-01T00:00:00+00:00",
    "database": "sqlite",
    "conversations": 1,
    "messages": 1,
    "migrations": ["efforts.0001_initial"],
    "key": "a",
    "files": {"database.sqlite3": "a"},
}


@tried(100)
@given(st.one_of(changed(MANIFEST).map(as_json), texts))
def test_a_backup_of_anything_is_refused_in_words(manifest: str) -> None:
    """What lies behind a manifest that can be read is compared by its hash; none of these has any file."""
    with tempfile.TemporaryDirectory(prefix="ccmweb-fuzz-") as folder:
        (Path(folder) / "manifest.json").write_bytes(manifest.encode("utf-8", "surrogatepass"))
        try:
            found = read_manifest(Path(folder))
        except BackupError as error:
            assert str(error).strip()
        else:
            assert found["files"] == {}


CONVERSATION = {
    "v": 1,
    "session": "a",
    "branch": "b",
    "line": "conversation",
    "title": "Talk",
    "created_at": "2026-01-01T00:00:00+00:00",
    "branch_name": "main",
    "ancestors": [{"branch": "c", "to": 1}],
    "efforts": [{"id": "webhook", "name": "Webhook", "concluded": True, "active": False}],
}
TURN = {
    "v": 1,
    "branch": "b",
    "line": "turn",
    "turn": 1,
    "at": "2026-01-01T00:00:00+00:00",
    "effort": "webhook",
    "state": "completed",
    "user": "Use Postgres.",
    "model": "aurora",
    "reply": [{"text": "Hi."}, {"tool": "open_effort", "arguments": "{}", "result": "{}"}],
    "error": None,
}
BRANCH = {"v": 1, "branch": "d", "line": "branch", "name": "other", "parent": "b", "after": 1, "efforts": []}
ENTRY = {
    "v": 1,
    "entry": "decision-1",
    "kind": "decision",
    "text": "Use Postgres.",
    "state": "confirmed",
    "by": "person",
    "branch": "b",
    "turn": 1,
    "superseded_by": None,
}
EXPORT = [CONVERSATION, TURN, BRANCH, {**TURN, "branch": "d", "turn": 2}, ENTRY]


one_changed = st.integers(0, len(EXPORT) - 1).flatmap(
    lambda at: changed(EXPORT[at]).map(lambda line: [*EXPORT[:at], line, *EXPORT[at + 1 :]])
)
exports = st.one_of(one_changed, one_changed, changed(EXPORT).filter(lambda rows: isinstance(rows, list)))


@tried(60)
@given(exports.map(lambda rows: "\n".join(map(as_json, rows))) | texts)
@example("\n".join(map(as_json, EXPORT)))
@pytest.mark.django_db
def test_an_export_of_anything_is_a_whole_conversation_or_refused_in_words(text: str) -> None:
    with undone():
        owner = User.objects.create_user("alice")
        try:
            session, _ = import_conversation(owner, text.encode("utf-8", "surrogatepass"))
        except Refused as refused:
            assert refused.text
            assert not Session.objects.exists()
        else:
            assert session.turns.exists()
            assert list(problems_of(session)) == []
