"""A folder that may be attached, and conversations that are attached to it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User

from efforts import actions
from efforts.context.planning import chosen_settings
from efforts.models import Run, Session
from tests.fakes.provider import FakeProvider
from workspaces.actions import attach_folder
from workspaces.indexing import worker
from workspaces.models import Workspace
from workspaces.retrieval.meanings import kept_vectors
from workspaces.retrieval.naming import kept_resolver


@pytest.fixture(autouse=True)
def forgotten_names() -> None:
    """The database of each test counts its snapshots from 1 again."""
    kept_resolver.cache_clear()
    kept_vectors.cache_clear()


@pytest.fixture
def provider() -> Iterator[FakeProvider]:
    with FakeProvider() as provider:
        yield provider


@pytest.fixture
def root(tmp_path: Path, settings: Any) -> Path:
    """A folder of code below the one that is allowed."""
    settings.CCM_WORKSPACE_ROOTS = [tmp_path / "allowed"]
    folder = tmp_path / "allowed" / "shop"
    folder.mkdir(parents=True)
    return folder


@pytest.fixture
def session(alice: User) -> Session:
    return actions.create_session(alice, title="Work on the shop")


@pytest.fixture
def workspace(session: Session, root: Path, alice: User) -> Workspace:
    """Attached and not indexed yet."""
    return attach_folder(session, str(root), actor=alice)


@pytest.fixture
def run(session: Session, shop: Workspace) -> Run:
    """Of a message in a conversation with `shop`, which each module has as it needs it."""
    turn = actions.send_message(session, text="How do we convert currency?", client_id="c1", actor=session.owner)
    Run.objects.filter(turn=turn).update(settings=chosen_settings(session))
    return Run.objects.select_related("turn__session", "branch").get(turn=turn)


def write(root: Path, **files: str) -> None:
    """`shop__cart_py="..."` is shop/cart.py."""
    for name, text in files.items():
        path = root / name.replace("__", "/").replace("_py", ".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def indexed(workspace: Workspace) -> Workspace:
    assert worker.index(workspace)
    return workspace
