"""Attached code in the admin: every list opens, and leads to its rows."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from django.contrib import admin
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from efforts.domain.prompt.conversation import ToolCall
from efforts.models import Run
from efforts.tools import ToolContext, run_tool
from tests.workspaces.conftest import indexed, write
from workspaces.actions import start_command
from workspaces.actions.editing import hash_of
from workspaces.commands import running
from workspaces.models import Workspace

BEFORE = "a = 1\n"


@pytest.fixture
def shop(root: Path, workspace: Workspace, monkeypatch: pytest.MonkeyPatch, settings: Any) -> Workspace:
    monkeypatch.setattr(running, "start", running.run)
    settings.CCM_WORKSPACE_COMMANDS = {"list": ["ls"]}
    write(root, cart_py=BEFORE)
    (root / "key.pem").write_text("secret")
    return indexed(workspace)


def test_each_list_and_its_first_row_open(as_alice: Client, alice: User, run: Run, shop: Workspace) -> None:
    User.objects.filter(pk=alice.pk).update(is_staff=True, is_superuser=True)
    edit = {
        "path": "cart.py",
        "sha256": hash_of(BEFORE.encode()),
        "diff": "@@ -1 +1 @@\n-a = 1\n+a = 2\n",
        "why": "Two.",
    }
    run_tool(ToolCall(id="c", name="propose_edit", arguments=json.dumps(edit)), ToolContext(run=run))
    start_command(run.turn.session, "list", actor=alice)
    models = [model for model in admin.site._registry if model._meta.app_label == "workspaces"]
    assert len(models) >= 4
    for model in models:
        name = model._meta.model_name
        listed = as_alice.get(reverse(f"admin:workspaces_{name}_changelist"))
        rows = re.findall(rf'<th[^>]*><a href="(/admin/workspaces/{name}/[^"]+/change/)', listed.text)
        assert (listed.status_code, len(rows)) == (200, 1), name
        shown = as_alice.get(rows[0])
        assert shown.status_code == 200, name
        if name == "snapshot":
            assert reverse("admin:workspaces_workspace_change", args=[shop.pk]) in listed.text
            assert "key.pem" in shown.text
