"""The pages of attached code."""

from __future__ import annotations

import re
import shutil
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from django.utils import formats, timezone

from efforts.models import Session
from tests.pages.test_exports import bytes_of
from tests.workspaces.conftest import indexed, write
from tests.workspaces.test_attaching import zipped
from workspaces.actions import detach
from workspaces.domain.states import WorkspaceState
from workspaces.models import Workspace

HTMX = {"HX-Request": "true"}


@pytest.fixture
def shop(root: Path, workspace: Workspace) -> Workspace:
    write(root, shop__cart_py='def total():\n    return "<b>&"\n\n\ntotal()\n', notes_txt="x\n")
    (root / "key.pem").write_text("secret")
    return indexed(workspace)


def test_a_folder_is_attached_on_the_page(as_alice: Client, session: Session, root: Path) -> None:
    shown = as_alice.post(reverse("code", args=[session.pk]), {"path": "shop"}, headers={"HX-Request": "true"})
    assert shown.status_code == 200
    assert "Stop indexing" in shown.text
    assert session.attachments.get().workspace.name == "shop"


def test_a_folder_that_is_known_is_read_again_where_it_is_attached(
    as_alice: Client, session: Session, shop: Workspace
) -> None:
    shown = as_alice.post(reverse("code", args=[session.pk]), {"path": "shop"}, headers={"HX-Request": "true"}).text
    assert ("Indexing" in shown, "Ready" in shown) == (True, False)


def test_a_folder_without_files_says_so(as_alice: Client, workspace: Workspace) -> None:
    page = reverse("workspace", args=[workspace.pk])
    assert "Nothing is indexed yet." in as_alice.get(page).text
    indexed(workspace)
    assert "The folder holds no files that can be read." in as_alice.get(page).text


def test_what_is_wrong_with_a_folder_is_said_and_what_was_typed_stays(
    as_alice: Client, session: Session, root: Path
) -> None:
    shown = as_alice.post(reverse("code", args=[session.pk]), {"path": "/etc"})
    assert shown.status_code == 422
    assert "not below one that is allowed" in shown.text
    assert 'value="/etc"' in shown.text


def test_an_archive_is_uploaded(as_alice: Client, session: Session) -> None:
    upload = SimpleUploadedFile("shop.zip", zipped(("a.py", "x = 1\n")).read())
    assert as_alice.post(reverse("code", args=[session.pk]), {"archive": upload}).status_code == 302
    workspace = session.attachments.get().workspace
    assert workspace.name == "shop"
    # Where it was unpacked says nothing to whoever uploaded it.
    for page in (reverse("code", args=[session.pk]), reverse("workspace", args=[workspace.pk])):
        shown = as_alice.get(page).text
        assert ("From an uploaded archive" in shown, workspace.root in shown) == (True, False)


def test_what_came_as_an_archive_is_downloaded_as_it_is_now(
    as_alice: Client, as_bob: Client, session: Session, tmp_path: Path
) -> None:
    upload = SimpleUploadedFile("shop.zip", zipped(("a.py", "x = 1\n"), ("sub/b.txt", "two")).read())
    as_alice.post(reverse("code", args=[session.pk]), {"archive": upload})
    workspace = session.attachments.get().workspace
    address = reverse("workspace_download", args=[workspace.pk])
    assert address in as_alice.get(reverse("workspace", args=[workspace.pk])).text
    folder = Path(workspace.root)
    (folder / "a.py").write_text("x = 2\n")
    (folder / "sub" / "b.txt").chmod(0o755)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "key").write_text("secret")
    (folder / "link").symlink_to(tmp_path / "elsewhere")
    (folder / "file").symlink_to(tmp_path / "elsewhere" / "key")
    answer = as_alice.get(address)
    assert answer["Content-Disposition"] == 'attachment; filename="shop.zip"'
    with ZipFile(BytesIO(bytes_of(answer))) as archive:
        assert {name: archive.read(name) for name in archive.namelist()} == {"a.py": b"x = 2\n", "sub/b.txt": b"two"}
        assert archive.getinfo("sub/b.txt").external_attr >> 16 & 0o777 == 0o755
    assert as_bob.get(address).status_code == 404
    assert Client().get(address)["Location"].startswith("/sign-in/")
    shutil.rmtree(folder)
    assert as_alice.get(address).status_code == 404


def test_a_folder_of_the_server_is_no_download(as_alice: Client, shop: Workspace) -> None:
    address = reverse("workspace_download", args=[shop.pk])
    assert address not in as_alice.get(reverse("workspace", args=[shop.pk])).text
    assert as_alice.get(address).status_code == 404


def test_code_is_detached(as_alice: Client, session: Session, shop: Workspace) -> None:
    as_alice.post(reverse("code_detach", args=[session.pk]))
    assert "None attached" in as_alice.get(reverse("code", args=[session.pk])).text


def test_the_page_of_a_folder_names_files_and_what_was_left_out(as_alice: Client, shop: Workspace) -> None:
    shown = as_alice.get(reverse("workspace", args=[shop.pk])).text
    for words in ("shop/cart.py", "shop.cart.total", "keys and passwords, which are never read", "key.pem", "Ready"):
        assert words in shown
    assert "secret" not in shown.replace("Secrets", "")


def test_what_a_limit_left_out_is_said_with_the_limit_and_what_to_do(
    as_alice: Client, workspace: Workspace, root: Path, settings: Any
) -> None:
    settings.CCM_WORKSPACE_FILES = 2
    write(root, a_py="x = 1\n", b_py="x = 1\n", c_py="x = 1\n", d_py="x = 1\n")
    indexed(workspace)
    shown = as_alice.get(reverse("workspace", args=[workspace.pk])).text
    assert "it holds 2 files or 256 MB. Attach a folder within this one" in shown
    assert "c.py, d.py" in shown


def test_files_are_found_by_their_path(as_alice: Client, shop: Workspace) -> None:
    shown = as_alice.get(reverse("workspace", args=[shop.pk]), {"q": "cart"}, headers={"HX-Request": "true"}).text
    assert "shop/cart.py" in shown
    assert "notes" not in shown


def found_by(client: Client, workspace: Workspace, query: str) -> list[tuple[str, str]]:
    """What the page says of it, line by line, without and with JavaScript: name and place with the line."""
    address = reverse("workspace", args=[workspace.pk])
    row = re.compile(
        r'<li><a class="mono" id="found-\d+" href="([^"]*)">([^<]*)</a><span[^>]*>([^<]*)</span><code[^>]*>(.*?)</code>'
    )
    page, part = (row.findall(client.get(address, {"q": query}, headers=how).text) for how in ({}, HTMX))
    assert page == part
    for where, _, place, _ in page:
        path, _, line = where.partition("#")
        assert f'id="{line}"' in client.get(path).text
        assert place.endswith(f":{line.removeprefix('L')}")
    return [(f"{place} {name}", line) for _, name, place, line in page]


def test_a_name_is_found_where_it_is_defined_and_then_where_it_is_used(
    as_alice: Client, shop: Workspace, root: Path
) -> None:
    write(root, uses_py="from shop.cart import total\n\n\ndef twice():\n    return total() + total() + total()\n")
    indexed(shop)
    (defined, line), *others = found_by(as_alice, shop, "total")
    assert (defined, line) == ("function · shop/cart.py:1 shop.cart.total", "def total():")
    assert ("function · uses.py:5 uses.twice", "return total() + total() + total()") in others
    assert found_by(as_alice, shop, "shop.cart.total")[0][0] == defined


def test_words_are_found_in_a_file_that_defines_nothing(as_alice: Client, shop: Workspace, root: Path) -> None:
    (root / "notes.txt").write_text("Nothing here.\n" * 70 + "Refunds are <paid> within days.\n")
    indexed(shop)
    ((name, line),) = found_by(as_alice, shop, "paid refund")
    assert name == "section · notes.txt:71 notes.txt#lines 61-71"
    assert line == "Refunds are &lt;paid&gt; within days."


@pytest.mark.parametrize("query", ["zebra", "+", "the", "x" * 3_000])
def test_where_nothing_is_found_the_page_says_so(as_alice: Client, shop: Workspace, query: str) -> None:
    assert found_by(as_alice, shop, query) == []
    shown = as_alice.get(reverse("workspace", args=[shop.pk]), {"q": query}).text
    assert "No name and no text has “" in shown
    assert "No path contains “" in shown


def test_what_is_not_indexed_yet_is_said_where_code_is_looked_for(as_alice: Client, shop: Workspace) -> None:
    page = reverse("workspace", args=[shop.pk])
    assert "not indexed yet" not in as_alice.get(page, {"q": "total"}).text
    shop.snapshots.update(stage="symbols")
    shop.files.filter(path="notes_txt").update(indexed=False)
    shown = as_alice.get(page, {"q": "total"}).text
    assert "1 file is not indexed yet, so its code is not found." in shown
    # While it is being indexed it is looked for again.
    again = f'hx-get="{page}?q=total"'
    assert again not in shown
    Workspace.objects.update(state=WorkspaceState.INDEXING, indexer="somebody", alive_at=timezone.now())
    assert again in as_alice.get(page, {"q": "total"}).text
    Workspace.objects.update(state=WorkspaceState.READY)
    assert "shop.cart.total" in shown


def test_what_no_database_takes_is_answered_in_words(as_alice: Client, shop: Workspace, session: Session) -> None:
    assert as_alice.get(reverse("workspace", args=[shop.pk]), {"q": "cart\x00"}).status_code == 200
    pins = reverse("code_pins", args=[session.pk])
    for sent in ({"ref": "to\x00tal"}, {"ref": "1", "path": "shop/\x00cart.py"}):
        assert as_alice.post(pins, sent).status_code == 422


def test_a_file_is_shown_by_lines_as_it_was(as_alice: Client, shop: Workspace, root: Path) -> None:
    address = reverse("source", args=[shop.pk, 1, "shop/cart.py"])
    shown = as_alice.get(address).text
    assert 'id="L2"' in shown
    assert "&lt;b&gt;&amp;" in shown
    assert "has changed since" not in shown
    write(root, shop__cart_py="x = 1\n")
    indexed(shop)
    later = as_alice.get(address).text
    assert "has changed since" in later
    assert "total" in later


def test_kinds_are_said_in_the_readers_language_and_names_of_code_never(
    as_alice: Client, shop: Workspace, root: Path
) -> None:
    write(root, states_py="def running():\n    return 1\n")
    indexed(shop)
    german = {"accept-language": "de"}
    shown = as_alice.get(reverse("source", args=[shop.pk, 2, "states.py"]), headers=german).text
    assert (">running</a>" in shown, "Funktion ·" in shown) == (True, True)
    assert ">Zeilen 1-1</a>" in as_alice.get(reverse("source", args=[shop.pk, 2, "notes_txt"]), headers=german).text


def test_the_page_of_a_folder_leads_to_the_conversations_that_have_it(
    as_alice: Client, shop: Workspace, session: Session, alice: User
) -> None:
    page, code = (reverse(name, args=[pk]) for name, pk in (("workspace", shop.pk), ("code", session.pk)))
    assert f'href="{code}">Work on the shop</a>' in as_alice.get(page).text
    detach(session, actor=alice)
    assert "Attached to" not in as_alice.get(page).text


@pytest.mark.parametrize(
    ("ref", "pinned"), [("1-2", "shop/cart.py:1-2"), ("3", "shop/cart.py:3"), ("shop.cart.total", "shop.cart.total")]
)
def test_lines_and_symbols_are_pinned_from_the_page_of_their_file(
    as_alice: Client, shop: Workspace, session: Session, ref: str, pinned: str
) -> None:
    address = reverse("source", args=[shop.pk, 1, "shop/cart.py"])
    pins = reverse("code_pins", args=[session.pk])
    shown = as_alice.get(address).text
    assert f'formaction="{pins}"' in shown
    assert 'value="shop.cart.total"' in shown
    assert as_alice.post(pins, {"ref": ref, "path": "shop/cart.py"}).status_code == 302
    assert [one.title for one in session.code_pins.all()] == [pinned]


def test_what_the_file_does_not_have_is_not_pinned_and_said(
    as_alice: Client, shop: Workspace, session: Session
) -> None:
    refused = as_alice.post(reverse("code_pins", args=[session.pk]), {"ref": "3-900", "path": "shop/cart.py"})
    assert (refused.status_code, "shop/cart.py has 5 lines" in refused.text) == (422, True)
    assert not session.code_pins.exists()


def test_nothing_is_pinned_from_a_file_that_has_changed_or_that_no_conversation_has(
    as_alice: Client, shop: Workspace, session: Session, root: Path, alice: User
) -> None:
    write(root, shop__cart_py="x = 1\n")
    indexed(shop)
    assert "formaction" not in as_alice.get(reverse("source", args=[shop.pk, 1, "shop/cart.py"])).text
    now = reverse("source", args=[shop.pk, 2, "shop/cart.py"])
    assert "formaction" in as_alice.get(now).text
    detach(session, actor=alice)
    assert "formaction" not in as_alice.get(now).text


@pytest.mark.parametrize("name", ["workspace", "workspace_progress"])
def test_nobody_else_sees_that_there_is_anything(as_bob: Client, shop: Workspace, session: Session, name: str) -> None:
    assert as_bob.get(reverse(name, args=[shop.pk]), {"q": "total"}).status_code == 404
    assert as_bob.get(reverse("source", args=[shop.pk, 1, "shop/cart.py"])).status_code == 404
    assert as_bob.post(reverse("workspace_index", args=[shop.pk])).status_code == 404
    assert as_bob.post(reverse("code", args=[session.pk]), {"path": "shop"}).status_code == 404


@pytest.mark.parametrize(
    "path", ["../../etc/passwd", "%2e%2e/secret", "/etc/passwd", "shop", "shop/cart.py/", "shop/cart.py%00"]
)
def test_an_address_that_names_no_file_of_the_snapshot_is_not_found(
    as_alice: Client, shop: Workspace, path: str
) -> None:
    address = reverse("source", args=[shop.pk, 1, "x"]).removesuffix("x")
    assert as_alice.get(address + path).status_code in (301, 404)


def test_the_page_says_how_far_an_index_is(as_alice: Client, shop: Workspace) -> None:
    Workspace.objects.update(
        state=WorkspaceState.INDEXING, indexer="somebody", alive_at=timezone.now(), done=3, total=9
    )
    shown = as_alice.get(reverse("workspace_progress", args=[shop.pk])).text
    assert '<progress max="9" value="3"' in shown
    assert ("3 of 9 files" in shown, 'hx-trigger="every 1s"' in shown) == (True, True)
    assert ("Stopping" in shown, "disabled" in shown) == (False, False)
    # It stops at the next file.
    stopping = as_alice.post(reverse("workspace_cancel", args=[shop.pk]), headers=HTMX).text
    assert ("Stopping" in stopping, "disabled" in stopping) == (True, True)


def test_an_index_that_found_nothing_new_says_when_it_looked(as_alice: Client, shop: Workspace, root: Path) -> None:
    page = reverse("workspace_progress", args=[shop.pk])
    assert "unchanged on" not in as_alice.get(page).text
    indexed(shop)
    assert "snapshot 1 of" in as_alice.get(page).text
    assert f"unchanged on {formats.date_format(timezone.localtime(), 'j M, H:i')}" in as_alice.get(page).text
    write(root, shop__cart_py="x = 1\n")
    indexed(shop)
    assert "unchanged on" not in as_alice.get(page).text


def test_a_folder_that_is_gone_is_said_to_be_gone_in_the_readers_language(
    as_alice: Client, shop: Workspace, root: Path
) -> None:
    page = reverse("workspace_progress", args=[shop.pk])
    shutil.rmtree(root)
    indexed(shop)
    assert "The folder cannot be read: No such file or directory." in as_alice.get(page).text
    shown = as_alice.get(page, headers={"accept-language": "de"}).text
    assert "Der Ordner ist nicht lesbar: Datei oder Verzeichnis nicht gefunden." in shown


def test_an_index_that_was_stopped_says_what_it_lacks(as_alice: Client, shop: Workspace) -> None:
    page = reverse("workspace_progress", args=[shop.pk])
    Workspace.objects.update(state=WorkspaceState.CANCELLED)
    assert "not all code can be found" not in as_alice.get(page).text
    shop.snapshots.update(stage="symbols")
    assert "not all code can be found" in as_alice.get(page).text


def test_what_is_refused_leads_back_to_what_was_typed(
    as_alice: Client, session: Session, shop: Workspace, settings: Any
) -> None:
    settings.CCM_WORKSPACE_COMMANDS = {"test": ["make", "..."]}
    for page, given in (
        (reverse("commands", args=[session.pk]), {"name": "test", "words": "'"}),
        (reverse("code_pins", args=[session.pk]), {"ref": "nothing"}),
    ):
        refused = as_alice.post(page, given)
        assert (refused.status_code, refused.text.count("autofocus")) == (422, 1)
        assert "autofocus" not in as_alice.get(page).text


def test_indexing_is_stopped_and_begun_again(as_alice: Client, shop: Workspace, alice: User) -> None:
    assert as_alice.post(reverse("workspace_cancel", args=[shop.pk]), headers={"HX-Request": "true"}).status_code == 422
    shown = as_alice.post(reverse("workspace_index", args=[shop.pk]), headers={"HX-Request": "true"})
    assert (shown.status_code, "Indexing" in shown.text) == (200, True)
