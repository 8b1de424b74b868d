"""Edits that a model proposes: decided by a person, written whole or not at all, and only below the root."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries

from efforts.context.planning import chosen_settings, main_branch, next_inputs
from efforts.domain.errors import Refused
from efforts.domain.prompt.conversation import ToolCall
from efforts.domain.prompt.planner import plan
from efforts.models import Event, Run, Session
from efforts.standins import coding
from efforts.tools import ToolContext, run_tool
from tests.workspaces.conftest import indexed, write
from workspaces.actions import Changed, accept_edit, reject_edit, undo_edit, writing
from workspaces.actions.editing import hash_of
from workspaces.indexing import worker
from workspaces.models import ProposedEdit, Workspace

BEFORE = "a = 1\nb = 2\nc = 3\nd = 4\ne = 5\nf = 6\ng = 7\nh = 8\n"
DIFF = "@@ -1,2 +1,2 @@\n-a = 1\n+a = '<b>'\n b = 2\n@@ -7,2 +7,2 @@\n g = 7\n-h = 8\n+h = 80\n"
PAGE = {"HX-Request": "true"}


@pytest.fixture
def shop(root: Path, workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    monkeypatch.setattr(worker, "start", lambda pk: None)
    write(root, shop__cart_py=BEFORE)
    (root / "shop" / "cart.py").chmod(0o640)
    return indexed(workspace)


@pytest.fixture
def file(root: Path) -> Path:
    return root / "shop" / "cart.py"


def proposed(run: Run, path: str = "shop/cart.py", diff: str = DIFF, text: str = BEFORE) -> dict[str, Any]:
    arguments = {"path": path, "sha256": hash_of(text.encode()), "diff": diff, "why": "Larger."}
    call = ToolCall(id="c", name="propose_edit", arguments=json.dumps(arguments))
    result: dict[str, Any] = json.loads(run_tool(call, ToolContext(run=run)))
    return result


@pytest.fixture
def edit(run: Run, shop: Workspace) -> ProposedEdit:
    return ProposedEdit.objects.get(pk=proposed(run)["edit"])


def told(session: Session) -> str:
    chosen = chosen_settings(session)
    return json.dumps(plan(next_inputs(main_branch(session), chosen, "What does shop.cart hold?", None)).request)


def test_a_proposal_writes_nothing(edit: ProposedEdit, file: Path) -> None:
    assert file.read_text() == BEFORE
    assert (edit.state, len(edit.hunks), edit.why) == ("open", 2, "Larger.")
    assert Event.objects.filter(kind="workspace.edit_proposed", data__edit=edit.pk).count() == 1


def test_what_is_accepted_is_written_and_the_model_is_told(
    edit: ProposedEdit, file: Path, session: Session, alice: User
) -> None:
    accept_edit(edit, {1}, actor=alice)
    assert file.read_text() == BEFORE.replace("h = 8\n", "h = 80\n")
    assert file.stat().st_mode & 0o777 == 0o640
    assert [one.name for one in file.parent.iterdir()] == ["cart.py"]
    event = Event.objects.get(kind="workspace.edit_applied")
    assert (event.data["accepted"], event.data["sha256"]) == ([1], hash_of(file.read_bytes()))
    assert "The user accepted your edit of shop/cart.py: parts 2 of 2; the others were not." in told(session)


@pytest.mark.skipif(os.geteuid() != 0, reason="Only root may give files to others.")
def test_a_file_that_is_written_stays_with_its_owner(edit: ProposedEdit, file: Path, alice: User) -> None:
    os.chown(file, 1234, 4321)
    accept_edit(edit, {1}, actor=alice)
    status = file.stat()
    assert (status.st_uid, status.st_gid, status.st_mode & 0o777) == (1234, 4321, 0o640)


def test_a_rejected_edit_writes_nothing_and_stays_rejected(
    edit: ProposedEdit, file: Path, session: Session, alice: User
) -> None:
    reject_edit(edit, actor=alice)
    with pytest.raises(Refused, match="has been rejected before"):
        accept_edit(edit, {0}, actor=alice)
    assert file.read_text() == BEFORE
    assert "The user rejected your edit of shop/cart.py" in told(session)


def test_a_file_that_changed_after_the_proposal_is_left_alone(edit: ProposedEdit, file: Path, alice: User) -> None:
    file.write_text(BEFORE + "i = 9\n")
    with pytest.raises(Changed, match=r"1 line added, 0 removed, the first at line 9\. Nothing was written") as refused:
        accept_edit(edit, {0}, actor=alice)
    assert "+i = 9" in refused.value.lines
    assert file.read_text() == BEFORE + "i = 9\n"
    edit.refresh_from_db()
    assert edit.state == "open"


def test_an_edit_is_undone_while_the_file_is_what_was_written(edit: ProposedEdit, file: Path, alice: User) -> None:
    accept_edit(edit, {0, 1}, actor=alice)
    written = file.read_text()
    file.write_text(written + "mine = 1\n")
    with pytest.raises(Changed, match="since it was written: 1 line added"):
        undo_edit(edit, actor=alice)
    file.write_text(written)
    undo_edit(edit, actor=alice)
    assert file.read_text() == BEFORE
    assert Event.objects.filter(kind="workspace.edit_undone").count() == 1


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
@pytest.mark.parametrize("moment", ["fsync", "rename"])
def test_a_program_that_dies_while_it_writes_leaves_the_old_file(
    edit: ProposedEdit, file: Path, alice: User, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    child = os.fork()
    if not child:
        # In a process of its own: nothing is tidied up after it.
        monkeypatch.setattr(os, moment, lambda *_, **__: os._exit(9))
        with writing.folder_of(edit.workspace, edit.path) as folder:
            writing.replace_file(folder, edit.path, b"half", file.stat(), holds=lambda _: None)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9
    assert file.read_text() == BEFORE
    assert len(list(file.parent.iterdir())) == 2
    accept_edit(edit, {1}, actor=alice)
    assert file.read_text() == BEFORE.replace("h = 8\n", "h = 80\n")
    assert len(list(file.parent.iterdir())) == 1


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_program_that_is_killed_at_any_moment_leaves_one_of_both(edit: ProposedEdit, file: Path) -> None:
    texts, old = [letter * 200_000 for letter in (b"a", b"b")], file.stat()
    with writing.folder_of(edit.workspace, edit.path) as folder:
        for _ in range(12):
            child = os.fork()
            if not child:
                while True:
                    for text in texts:
                        writing.replace_file(folder, edit.path, text, old, holds=lambda _: None)
            # Somewhere in the middle of what it does over and over.
            seen = {version(file)}
            while len(seen) < 4:
                seen.add(version(file))
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            assert file.read_bytes() in texts
    # One file at most is left behind beside it, however often that happened.
    assert len(list(file.parent.iterdir())) <= 2


def version(file: Path) -> tuple[int, int]:
    status = file.stat()
    return status.st_ino, status.st_mtime_ns


def test_an_edit_that_was_written_before_its_record_is_recorded_then(
    edit: ProposedEdit, file: Path, alice: User
) -> None:
    file.write_text(BEFORE.replace("h = 8\n", "h = 80\n"))
    assert accept_edit(edit, {1}, actor=alice).state == "applied"


def test_a_link_is_never_followed(edit: ProposedEdit, file: Path, tmp_path: Path, alice: User) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "cart.py").write_text(BEFORE)
    file.rename(file.with_name("real.py"))
    file.symlink_to(outside / "cart.py")
    with pytest.raises(Refused, match="no longer a file"):
        accept_edit(edit, {0}, actor=alice)
    file.parent.rename(file.parent.with_name("moved"))
    file.parent.symlink_to(outside)
    with pytest.raises(Refused, match="Links are not followed"):
        accept_edit(edit, {0}, actor=alice)
    assert (outside / "cart.py").read_text() == BEFORE


def test_a_folder_that_is_not_allowed_any_more_is_not_written(
    edit: ProposedEdit, file: Path, tmp_path: Path, settings: Any, alice: User
) -> None:
    settings.CCM_WORKSPACE_ROOTS = [tmp_path / "other"]
    with pytest.raises(Refused, match="not below one that is allowed"):
        accept_edit(edit, {0}, actor=alice)
    assert file.read_text() == BEFORE


@pytest.mark.parametrize(
    "path",
    [
        "../shop/cart.py",
        "/etc/passwd",
        "shop/../shop/cart.py",
        "SHOP/cart.py",
        "x" * 5_000,
        ".env",
        "shop//cart.py",
        "",
    ],
)
def test_a_path_that_is_no_file_of_the_folder_is_refused(run: Run, shop: Workspace, path: str) -> None:
    assert "There is no file" in proposed(run, path)["error"]
    assert not ProposedEdit.objects.exists()


@pytest.mark.parametrize(
    "path", ["../x", "/etc/passwd", "a/../../x", "", ".", "a//b", ".env", "a\n", "a\x00b", "x/" * 600 + "x"]
)
def test_nothing_outside_of_the_root_is_opened(shop: Workspace, path: str) -> None:
    with pytest.raises(Refused, match="There is no file"), writing.folder_of(shop, path):
        pass


def test_a_proposal_for_another_version_says_what_to_do(run: Run, shop: Workspace, file: Path) -> None:
    assert "Read it again with read_span" in proposed(run, text="other")["error"]
    file.write_text("x = 1\n")
    assert "has changed since it was indexed" in proposed(run)["error"]


def test_a_file_that_changed_meanwhile_is_indexed_so_that_its_edit_can_be_proposed_anew(
    as_alice: Client, run: Run, edit: ProposedEdit, shop: Workspace, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = list[object]()
    monkeypatch.setattr(worker, "start", begun.append)
    file.write_text("i = 9\n" + BEFORE)
    proposed(run)
    assert begun == [shop.pk]
    as_alice.post(edit.get_absolute_url(), {"verb": "accept", "hunk": ["1"]}, headers=PAGE)
    assert begun == [shop.pk] * 2
    indexed(shop)
    assert "edit" in proposed(run, diff="@@ -1,1 +1,1 @@\n-i = 9\n+i = 10\n", text="i = 9\n" + BEFORE)


def test_that_a_file_is_gone_is_noticed_when_somebody_would_change_it(
    as_alice: Client, run: Run, edit: ProposedEdit, shop: Workspace, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = list[object]()
    monkeypatch.setattr(worker, "start", begun.append)
    file.unlink()
    answer = as_alice.post(edit.get_absolute_url(), {"verb": "accept", "hunk": ["1"]}, headers=PAGE)
    assert (answer.status_code, "shop/cart.py is no longer there" in answer.text, begun) == (422, True, [shop.pk])
    assert "is no longer there" in proposed(run)["error"]
    assert begun == [shop.pk] * 2
    assert not file.exists()


def test_an_edit_is_decided_on_its_page(as_alice: Client, edit: ProposedEdit, file: Path) -> None:
    shown = as_alice.get(edit.get_absolute_url()).text
    for words in ("shop/cart.py", "Waits for you", "Larger.", "Part 2", "&lt;b&gt;", "Write the ticked parts"):
        assert words in shown
    # Code has its colours.
    assert '<span class="mi">80</span>' in shown
    german = {"accept-language": "de"}
    for words in ("Wartet auf Sie", "Entfernt: "):
        assert words in as_alice.get(edit.get_absolute_url(), headers=german).text
    assert as_alice.post(edit.get_absolute_url(), {"verb": "accept", "hunk": ["1"]}).status_code == 302
    assert file.read_text() == BEFORE.replace("h = 8\n", "h = 80\n")
    after = as_alice.get(edit.get_absolute_url()).text
    assert ("not accepted" in after, "Written" in after) == (True, True)
    as_alice.post(reverse("edit_undo", args=[edit.session_id, edit.pk]))
    assert file.read_text() == BEFORE


def test_what_is_refused_is_said_beside_the_diff_and_what_was_ticked_stays(
    as_alice: Client, edit: ProposedEdit, file: Path
) -> None:
    nothing = as_alice.post(edit.get_absolute_url(), {"verb": "accept"}, headers=PAGE)
    assert (nothing.status_code, "No part is ticked" in nothing.text) == (422, True)
    file.write_text("i = 9\n" + BEFORE)
    shown = as_alice.post(edit.get_absolute_url(), {"verb": "accept", "hunk": ["1"]}, headers=PAGE)
    assert shown.status_code == 422
    assert "has changed since this edit was proposed" in shown.text
    assert "+i = 9" in shown.text
    assert shown.text.count("checked") == 1
    german = {"accept-language": "de", **PAGE}
    in_german = as_alice.post(edit.get_absolute_url(), {"verb": "accept", "hunk": ["1"]}, headers=german).text
    assert "1 Zeile hinzugefügt, 0 entfernt, die erste in Zeile 1" in in_german


def test_nobody_else_sees_or_decides_an_edit(as_bob: Client, edit: ProposedEdit, file: Path) -> None:
    assert as_bob.get(edit.get_absolute_url()).status_code == 404
    assert as_bob.post(edit.get_absolute_url(), {"hunk": ["0"]}).status_code == 404
    assert file.read_text() == BEFORE


def test_where_the_lines_of_many_replies_are_takes_no_more_questions_than_of_one(
    session: Session, shop: Workspace, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    path = "shop/cart.py"
    runs = [uuid4() for _ in range(5)]
    for several in (runs[:1], runs):
        with django_assert_num_queries(3):
            found = coding.registered().addresses(session, {run: {(path, 1), (path, 9_999)} for run in several})
        assert [list(found[run]) for run in several] == [[(path, 1)]] * len(several)


def test_lines_that_are_cited_below_the_name_of_the_folder_are_found(
    session: Session, shop: Workspace, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    run = uuid4()
    places = [("shop/shop/cart.py", 1), ("shop/shop/cart.py", 9_999), ("store/shop/cart.py", 1), ("shop/cart.py", 1)]
    with django_assert_num_queries(3):
        found = coding.registered().addresses(session, {run: places})[run]
    where = found["shop/cart.py", 1]
    assert found == {("shop/cart.py", 1): where, ("shop/shop/cart.py", 1): where}
