"""What a person does with commands while a model proposes one, or one ends: in one order, and none for nothing."""

from __future__ import annotations

import sys
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection, transaction

from efforts import actions
from efforts.models import Run, Session
from tests.waiting import beside, wait_until_somebody_waits
from workspaces.actions import commands, propose_command, start_command, stop_command
from workspaces.commands import running
from workspaces.commands.process import Ended
from workspaces.domain.states import CommandEnd
from workspaces.indexing import worker
from workspaces.models import CommandRun, Workspace

pytestmark = [
    pytest.mark.grown,
    pytest.mark.skipif(connection.vendor == "sqlite", reason="SQLite has one writer at a time."),
    pytest.mark.django_db(transaction=True),
]


@pytest.fixture(autouse=True)
def neither_indexed_nor_run(monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    monkeypatch.setattr(worker, "start", lambda pk: None)
    monkeypatch.setattr(running, "start", lambda *_: None)
    settings.CCM_WORKSPACE_COMMANDS = {"test": [sys.executable, "check.py"], "build": [sys.executable, "build.py"]}


def test_a_command_starts_while_a_model_proposes_one_in_the_same_conversation(
    workspace: Workspace, session: Session, alice: User
) -> None:
    actions.send_message(session, text="Build it.", client_id="c1", actor=alice)
    with transaction.atomic():
        propose_command(Run.objects.get(), workspace, name="build", words="", why="")
        thread, got = beside(lambda: start_command(session, "test", actor=alice))
        wait_until_somebody_waits()
    thread.join()
    assert got == [CommandRun.objects.get(name="test", state="running")]
    assert CommandRun.objects.get(name="build").state == "proposed"


def test_a_command_that_ends_as_it_is_stopped_has_ended(workspace: Workspace, session: Session, alice: User) -> None:
    command = start_command(session, "build", actor=alice)
    with transaction.atomic():
        # As it ends it locks the conversation first.
        Session.objects.select_for_update().get(pk=session.pk)
        thread, got = beside(lambda: stop_command(command, actor=alice))
        wait_until_somebody_waits()
        commands.settle(command, Ended(how=CommandEnd.EXIT, code=0, output=b"built\n"))
    thread.join()
    assert got == [commands.NOT_RUNNING]
    command.refresh_from_db()
    assert (command.state, command.output) == ("ended", "built\n")
