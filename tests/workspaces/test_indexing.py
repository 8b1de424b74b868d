"""An index follows its folder, and is the same as one made anew."""

from __future__ import annotations

import shutil
from datetime import timedelta
from pathlib import Path
from unittest.mock import Mock

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from efforts.models import Session
from tests.workspaces.conftest import indexed, write
from workspaces.actions import attach_folder, cancel_index
from workspaces.domain.graph import SURE
from workspaces.domain.states import EdgeKind, Stage, WorkspaceState
from workspaces.indexing import worker
from workspaces.indexing.forgetting import forget
from workspaces.indexing.snapshots import take_snapshot
from workspaces.models import File, Snapshot, Symbol, Workspace
from workspaces.retrieval.naming import read_resolver, written_of

MONEY = "def add(a, b):\n    return a + b\n\n\ndef sub(a, b):\n    return a - b\n"
CART = """from shop.money import add


class Box:
    def size(self):
        return 1


class Cart(Box):
    def total(self):
        return add(self.size(), 2)
"""
TEST = "from shop.cart import Cart\n\n\ndef test_total():\n    assert Cart().total() == 3\n"


@pytest.fixture
def shop(root: Path, workspace: Workspace) -> Workspace:
    write(root, shop__money_py=MONEY, shop__cart_py=CART, tests__test_cart_py=TEST)
    return indexed(workspace)


def contents(workspace: Workspace) -> list[object]:
    """All that an index says, without the ids of rows."""
    snapshot = workspace.current
    assert snapshot is not None
    resolver = read_resolver(snapshot)
    named = {id: (one.kind, one.qualified) for id, one in resolver.names.symbols.items()}
    symbols = Symbol.objects.filter(snapshot.standing_by_file).order_by("file__path", "id")
    fields = ("kind", "qualified", "signature", "doc", "first_line", "last_line", "is_test", "names", "terms")
    leads = [
        (named[one.source], one.kind, [(named[lead.target], lead.confidence) for lead in resolver.leads(one)])
        for one in written_of(snapshot)
    ]
    files = File.objects.filter(snapshot.standing).order_by("path").values_list("path", "sha256", "text", "broken")
    central = [[named[id], *rest] for id, *rest in snapshot.central]
    return [snapshot.sha256, list(files), list(symbols.values_list(*fields)), sorted(leads), central, snapshot.lines]


def leads(workspace: Workspace) -> dict[tuple[str, str, str], float]:
    assert workspace.current is not None
    resolver = read_resolver(workspace.current)
    named = {id: one.qualified for id, one in resolver.names.symbols.items()}
    return {
        (named[one.source], one.kind, named[lead.target]): lead.confidence
        for one in written_of(workspace.current)
        for lead in resolver.leads(one)
    }


def test_references_lead_to_symbols_with_how_sure_it_is(shop: Workspace) -> None:
    found = leads(shop)
    sure = {edge for edge, confidence in found.items() if confidence >= SURE}
    assert sure == {
        ("shop.cart", EdgeKind.IMPORTS, "shop.money.add"),
        ("shop.cart.Cart", EdgeKind.INHERITS, "shop.cart.Box"),
        ("shop.cart.Cart.total", EdgeKind.CALLS, "shop.money.add"),
        ("shop.cart.Cart.total", EdgeKind.CALLS, "shop.cart.Box.size"),
        ("tests.test_cart", EdgeKind.IMPORTS, "shop.cart.Cart"),
        ("tests.test_cart.test_total", EdgeKind.CALLS, "shop.cart.Cart"),
    }
    # Of what object it is called nobody has said.
    assert found["tests.test_cart.test_total", EdgeKind.CALLS, "shop.cart.Cart.total"] < SURE


def test_what_others_lead_to_is_central_and_tests_are_counted_apart(shop: Workspace) -> None:
    assert shop.current is not None
    names = {one.pk: one.qualified for one in Symbol.objects.all()}
    assert {names[id]: (callers, tests) for id, _, callers, tests in shop.current.central} == {
        "shop.money.add": (1, 0),
        "shop.cart.Box": (1, 0),
        "shop.cart.Box.size": (1, 0),
        "shop.cart.Cart": (0, 1),
    }


def test_what_central_code_leads_to_is_more_central_than_what_many_call(workspace: Workspace, root: Path) -> None:
    calls = "".join(f"def one_{n}():\n    hub()\n\n\n" for n in range(6))
    write(root, a_py=f"def deep():\n    pass\n\n\ndef hub():\n    deep()\n\n\ndef wide():\n    pass\n\n\n{calls}")
    write(root, b_py="from a import wide\n\n\ndef first():\n    wide()\n\n\ndef second():\n    wide()\n")
    tests = "".join(f"def test_{n}():\n    wide()\n\n\n" for n in range(20))
    write(root, tests__test_wide_py=f"from a import wide\n\n\n{tests}")
    indexed(workspace)
    assert workspace.current is not None
    names = {one.pk: one.name for one in Symbol.objects.all()}
    # However many tests call it.
    central = [(names[id], *counts) for id, _, *counts in workspace.current.central]
    assert central == [("hub", 6, 0), ("deep", 1, 0), ("wide", 2, 20)]
    assert "Most code leads to:\n- a.hub a.py:5\n- a.deep a.py:1\n" in workspace.current.scaffold


def test_what_has_not_changed_makes_no_new_snapshot(shop: Workspace) -> None:
    before = shop.current
    assert indexed(shop).current == before
    assert Snapshot.objects.count() == 1


def test_after_changes_the_index_is_that_of_a_full_rebuild(
    shop: Workspace, root: Path, session: Session, alice: User
) -> None:
    write(root, shop__money_py=MONEY.replace("def add", "def plus"), shop__tax_py="from .cart import Cart\n\nCart()\n")
    (root / "tests/test_cart.py").unlink()
    indexed(shop)
    followed = contents(shop)
    forget(shop)
    anew = indexed(attach_folder(session, str(root), actor=alice))
    assert contents(anew) == followed


def test_an_old_snapshot_stays_what_it_was(shop: Workspace, root: Path) -> None:
    first = shop.current
    before = contents(shop)
    write(root, shop__money_py="x = 1\n")
    (root / "shop/cart.py").unlink()
    indexed(shop)
    assert shop.current != first
    shop.current = first
    assert contents(shop) == before


def test_only_what_changed_is_read_anew(shop: Workspace, root: Path) -> None:
    before = set(File.objects.values_list("pk", flat=True))
    write(root, shop__money_py=MONEY + "\n# more\n")
    indexed(shop)
    assert [file.path for file in File.objects.exclude(pk__in=before)] == ["shop/money.py"]


def test_another_version_of_the_indexer_reads_everything_anew(
    shop: Workspace, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = set(File.objects.values_list("pk", flat=True))
    monkeypatch.setattr("workspaces.indexing.snapshots.INDEX_VERSION", "next")
    indexed(shop)
    assert shop.current is not None
    standing = File.objects.filter(shop.current.standing)
    assert standing.count() == len(before)
    assert not standing.filter(pk__in=before).exists()


def test_text_can_be_read_before_symbols_are_known(workspace: Workspace, root: Path) -> None:
    write(root, a_py="x = 1\n")
    take_snapshot(workspace, lambda done, total: None)
    assert workspace.current is not None
    assert workspace.current.stage == Stage.TEXT
    assert File.objects.filter(workspace.current.standing).get().text == "x = 1\n"


def test_who_asks_for_the_end_gets_it_and_what_is_there_stays(workspace: Workspace, root: Path, alice: User) -> None:
    write(root, a_py="x = 1\n")
    key = worker.claim(workspace)
    attempt = worker.Attempt(workspace.pk, key)
    cancel_index(workspace, actor=alice)
    with pytest.raises(worker.Cancelled):
        attempt.progress(0, 1)
    attempt.end(WorkspaceState.CANCELLED)
    workspace.refresh_from_db()
    assert workspace.state == WorkspaceState.CANCELLED
    assert indexed(workspace).state == WorkspaceState.READY


def test_whoever_walks_over_what_is_left_out_sees_that_it_should_stop(workspace: Workspace, root: Path) -> None:
    """Between two files of code may lie a hundred thousand pictures."""
    (root / "a.png").write_bytes(b"\x00")

    def progress(done: int, total: int) -> None:
        raise worker.Cancelled

    with pytest.raises(worker.Cancelled):
        take_snapshot(workspace, progress)


def test_an_attempt_that_broke_off_leaves_nothing_that_stands_twice(workspace: Workspace, root: Path) -> None:
    write(root, a_py="x = 1\n")
    File.objects.create(workspace=workspace, path="a.py", sha256="0", size=1, lines=1, text="?", first=1)
    indexed(workspace)
    assert [file.text for file in File.objects.all()] == ["x = 1\n"]


def test_one_indexer_at_a_time_and_one_that_is_gone_is_replaced(workspace: Workspace, root: Path) -> None:
    assert worker.claim(workspace)
    assert not worker.index(workspace)
    Workspace.objects.update(alive_at=timezone.now() - timedelta(seconds=worker.GONE + 1))
    assert indexed(workspace).state == WorkspaceState.READY


@pytest.mark.parametrize(("end", "files"), [(WorkspaceState.READY, 1), (WorkspaceState.CANCELLED, 0)])
def test_what_changes_behind_whoever_indexes_is_read_after_them_unless_a_person_stops_it(
    workspace: Workspace, root: Path, monkeypatch: pytest.MonkeyPatch, end: WorkspaceState, files: int
) -> None:
    other = worker.Attempt(workspace.pk, worker.claim(workspace))
    write(root, a_py="x = 1\n")
    monkeypatch.setattr(worker, "connection", Mock())
    monkeypatch.setattr("time.sleep", lambda seconds: other.end(end))
    worker.in_thread(workspace.pk)
    assert File.objects.count() == files
    workspace.refresh_from_db()
    assert workspace.state == end


def test_a_folder_that_is_gone_is_said_and_the_old_index_stays(shop: Workspace, root: Path) -> None:
    shutil.rmtree(root)
    indexed(shop)
    assert shop.state == WorkspaceState.FAILED
    assert "cannot be read" in shop.problem
    assert shop.current is not None
    assert shop.current.stage == Stage.COMPLETE


def test_bytes_that_are_no_text_are_replaced_and_the_hash_is_of_the_bytes(workspace: Workspace, root: Path) -> None:
    (root / "a.py").write_bytes(b"name = 'caf\xe9'\n" + b"#" * 9_000 + b"\x00\n")
    indexed(workspace)
    file = File.objects.get()
    assert file.text.startswith("name = 'caf\ufffd'\n")
    assert Symbol.objects.filter(name="name").exists()
