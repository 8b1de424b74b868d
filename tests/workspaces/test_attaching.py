"""A conversation gets a folder and lets it go."""

from __future__ import annotations

import errno
import gzip
import io
import os
import random
import tarfile
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from typing import Any, Literal

import pytest
from django.conf import settings as django_settings
from django.contrib.auth.models import User
from django.db import connections

from efforts import actions
from efforts.actions.files import zips
from efforts.domain.errors import Refused
from efforts.models import Event, Session
from tests.workspaces.conftest import indexed, write
from workspaces.actions import attach_archive, attach_folder, detach
from workspaces.indexing import worker
from workspaces.models import Attachment, CodeHit, Edge, File, Snapshot, Symbol, Workspace


def test_a_folder_below_an_allowed_one_is_attached(session: Session, root: Path, alice: User) -> None:
    workspace = attach_folder(session, "shop", actor=alice)
    assert (workspace.root, workspace.name, workspace.owner) == (os.path.realpath(root), "shop", alice)
    assert Event.objects.filter(session=session, kind="workspace.attached", actor=alice).count() == 1


def test_a_path_without_a_slash_is_looked_for_below_each_allowed_folder(
    session: Session, root: Path, alice: User, settings: Any, tmp_path: Path
) -> None:
    (tmp_path / "second" / "blog").mkdir(parents=True)
    (tmp_path / "second" / "shop").mkdir()
    settings.CCM_WORKSPACE_ROOTS = [root.parent, tmp_path / "second"]
    assert attach_folder(session, "blog", actor=alice).root == os.path.realpath(tmp_path / "second" / "blog")
    assert attach_folder(session, "shop", actor=alice).root == os.path.realpath(root)


@pytest.mark.django_db(transaction=True)
def test_of_two_tabs_that_attach_at_once_one_comes_after_the_other(
    session: Session, root: Path, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    # No index goes on behind the test.
    monkeypatch.setattr(worker, "start", lambda workspace: None)
    (root.parent / "other").mkdir()
    both = Barrier(2)

    def attach(name: str) -> None:
        both.wait()
        try:
            attach_folder(session, name, actor=alice)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(2) as tabs:
        for _ in range(8):
            for done in [tabs.submit(attach, name) for name in ("shop", "other")]:
                done.result()
    assert Attachment.objects.filter(session=session).count() == 16
    assert Attachment.objects.filter(session=session, detached_at=None).count() == 1


@pytest.mark.parametrize(
    "path", ["..", "../..", "/", "/etc", "shop/../../..", "shop/../../allowed-not", "", "\x00", "a" * 5_000]
)
def test_what_lies_elsewhere_is_refused_in_the_same_words_whether_it_is_there_or_not(
    session: Session, root: Path, alice: User, path: str
) -> None:
    (root.parent.parent / "allowed-not").mkdir()
    with pytest.raises(Refused, match="not below one that is allowed"):
        attach_folder(session, path, actor=alice)
    assert not Attachment.objects.exists()


def test_a_name_longer_than_any_folder_has_is_refused(session: Session, root: Path, alice: User) -> None:
    with pytest.raises(Refused, match="There is no folder"):
        attach_folder(session, "a" * 300, actor=alice)


def test_a_folder_with_as_long_a_name_as_there_is_is_attached(session: Session, root: Path, alice: User) -> None:
    (root.parent / ("a" * 255)).mkdir()
    assert attach_folder(session, "a" * 255, actor=alice).name == "a" * 200


def test_a_link_that_leads_elsewhere_is_refused(session: Session, root: Path, alice: User, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (root.parent / "link").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(Refused, match="not below one that is allowed"):
        attach_folder(session, "link", actor=alice)


def test_without_allowed_folders_the_person_is_told_who_names_them(
    session: Session, alice: User, settings: Any
) -> None:
    settings.CCM_WORKSPACE_ROOTS = []
    with pytest.raises(Refused, match="CCM_WORKSPACE_ROOTS"):
        attach_folder(session, "/tmp", actor=alice)


@pytest.mark.parametrize("how", ["named no more", "a link by now"])
def test_a_folder_that_is_not_allowed_any_more_is_not_read_again(
    workspace: Workspace, root: Path, settings: Any, tmp_path: Path, how: str
) -> None:
    write(root, a_py="x = 1\n")
    indexed(workspace)
    if how == "named no more":
        settings.CCM_WORKSPACE_ROOTS = []
    else:
        root.parent.rename(tmp_path / "elsewhere")
        root.parent.symlink_to(tmp_path / "elsewhere")
    (tmp_path / ("allowed" if how == "named no more" else "elsewhere") / "shop" / "new.py").write_text("y = 1\n")
    indexed(workspace)
    assert (workspace.state, workspace.snapshots.count()) == ("failed", 1)
    assert workspace.problem == "Whoever runs the server does not allow this folder any more. What is indexed stays."


def test_two_conversations_with_one_folder_share_its_index(session: Session, root: Path, alice: User) -> None:
    other = actions.create_session(alice)
    assert attach_folder(session, "shop", actor=alice) == attach_folder(other, str(root), actor=alice)


def test_another_folder_takes_the_place_of_the_first(session: Session, root: Path, alice: User) -> None:
    (root.parent / "blog").mkdir()
    attach_folder(session, "shop", actor=alice)
    blog = attach_folder(session, "blog", actor=alice)
    assert [one.workspace for one in session.attachments.filter(detached_at=None)] == [blog]


def test_what_is_detached_is_attached_no_more(session: Session, workspace: Workspace, alice: User) -> None:
    detach(session, actor=alice)
    assert not session.attachments.filter(detached_at=None).exists()
    with pytest.raises(Refused, match="no code attached"):
        detach(session, actor=alice)


def test_a_deleted_conversation_leaves_nothing_of_its_code(session: Session, workspace: Workspace, root: Path) -> None:
    write(root, cart_py="class Cart:\n    def total(self):\n        return add(1, 2)\n")
    indexed(workspace)
    actions.erase_session(session, actor=session.owner)
    for model in (Workspace, Attachment, Snapshot, File, Symbol, Edge, CodeHit):
        assert not model._default_manager.exists(), model


def test_an_index_stays_while_another_conversation_has_it(
    session: Session, workspace: Workspace, root: Path, alice: User
) -> None:
    attach_folder(actions.create_session(alice), "shop", actor=alice)
    actions.erase_session(session, actor=alice)
    assert Workspace.objects.get() == workspace


def zipped(*files: tuple[str, str]) -> io.BytesIO:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name, text in files:
            archive.writestr(name, text)
    made.seek(0)
    return made


def test_an_archive_is_unpacked_and_its_one_folder_is_the_root(session: Session, alice: User) -> None:
    workspace = attach_archive(session, "shop-1.0.zip", zipped(("shop-1.0/cart.py", "x = 1\n")), actor=alice)
    indexed(workspace)
    assert workspace.name == "shop-1.0"
    assert [file.path for file in File.objects.filter(workspace=workspace)] == ["cart.py"]


def test_nothing_of_an_archive_lands_outside_its_folder(session: Session, alice: User, tmp_path: Path) -> None:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w:gz") as archive:
        for name in ("../../evil.py", "/tmp/evil.py", "a/../../evil.py", "good.py"):
            entry = tarfile.TarInfo(name)
            entry.size = 1
            archive.addfile(entry, io.BytesIO(b"x"))
        for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE):
            entry = tarfile.TarInfo(f"link{kind!r}")
            entry.type, entry.linkname = kind, "/etc/passwd"
            archive.addfile(entry)
    made.seek(0)
    workspace = attach_archive(session, "code.tar.gz", made, actor=alice)
    assert [path.name for path in Path(workspace.root).rglob("*")] == ["good.py"]
    assert not list(Path(workspace.root).parent.glob("*.py"))


def test_an_archive_that_grows_beyond_the_limit_is_refused_and_nothing_of_it_stays(
    session: Session, alice: User, settings: Any
) -> None:
    settings.CCM_WORKSPACE_BYTES = 1 << 20
    before = set((Path(django_settings.CCM_HOME) / "workspaces").glob("*"))
    with pytest.raises(Refused, match="more than 1 MB"):
        attach_archive(session, "bomb.zip", zipped(("zeros", "0" * (2 << 20))), actor=alice)
    assert set((Path(django_settings.CCM_HOME) / "workspaces").glob("*")) == before


def in_tar(mode: Literal["w", "w:gz", "w:bz2", "w:xz"]) -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode=mode) as archive:
        entry = tarfile.TarInfo("cart.py")
        entry.size = len(NOISE)
        archive.addfile(entry, io.BytesIO(NOISE))
    return made.getvalue()


def in_zip(compression: int) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", compression) as archive:
        archive.writestr("cart.py", NOISE)
    return made.getvalue()


def damaged(data: bytes) -> bytes:
    """Its middle is other bytes than it was."""
    middle = len(data) // 2
    return data[:middle] + bytes(one ^ 0xFF for one in data[middle : middle + 64]) + data[middle + 64 :]


# Of a few letters, so that every kind of compression has work to do.
NOISE = random.Random(7).randbytes(40_000).hex().encode()
UNREADABLE = {
    "nothing": b"",
    "a beginning": b"PK\x03\x04 and no more",
    "text": b"just text",
    **{mode: damaged(in_tar(mode)) for mode in ("w:bz2", "w:xz")},
    **{str(kind): damaged(in_zip(kind)) for kind in (zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)},
    # Some bytes of these become any number before they are counted.
    **{f"whole {kind}": in_zip(kind) for kind in (zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)},
    # What is not compressed can be unpacked, as other bytes: only the sum at the end of all says so.
    "stored": damaged(gzip.compress(in_tar("w"), compresslevel=0)),
    "cut": in_tar("w:gz")[:9_000],
}


@pytest.mark.parametrize("data", UNREADABLE.values(), ids=UNREADABLE)
def test_what_is_no_archive_that_can_be_read_is_refused_and_nothing_of_it_stays(
    session: Session, alice: User, data: bytes
) -> None:
    before = set((Path(django_settings.CCM_HOME) / "workspaces").glob("*"))
    with pytest.raises(Refused, match=r"\.zip, \.tar"):
        attach_archive(session, "x.zip", io.BytesIO(data), actor=alice)
    assert set((Path(django_settings.CCM_HOME) / "workspaces").glob("*")) == before


def test_an_archive_of_more_entries_than_anybody_has_is_not_read(
    session: Session, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(zips, "MOST_ENTRIES", 1)
    with pytest.raises(Refused, match=r"\.zip, \.tar"):
        attach_archive(session, "x.zip", zipped(("a.py", "x = 1\n"), ("b.py", "y = 2\n")), actor=alice)


def test_a_full_disk_is_not_blamed_on_the_archive_and_nothing_of_it_stays(
    session: Session, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> bool:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("workspaces.indexing.archives.write_member", full)
    before = set((Path(django_settings.CCM_HOME) / "workspaces").glob("*"))
    with pytest.raises(Refused, match="disk of the server is full"):
        attach_archive(session, "shop.zip", zipped(("a.py", "x = 1\n")), actor=alice)
    assert set((Path(django_settings.CCM_HOME) / "workspaces").glob("*")) == before


def test_the_folder_of_an_archive_goes_with_its_conversation(
    session: Session, alice: User, django_capture_on_commit_callbacks: object
) -> None:
    workspace = attach_archive(session, "shop.zip", zipped(("a.py", "x = 1\n")), actor=alice)
    with django_capture_on_commit_callbacks(execute=True):  # type: ignore[operator]
        actions.erase_session(session, actor=alice)
    assert not Path(workspace.root).exists()
