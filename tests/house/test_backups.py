"""A backup is of one moment, whatever goes on meanwhile; brought back, it is all there and whole."""

from __future__ import annotations

import json
import os
import stat
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.db import connection, transaction

from ccmweb import backups
from efforts import actions
from efforts.models import Message, Session
from tests.efforts.talk import Talk
from tests.house.process import manage

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.long]

PATIENCE = 30
ENOUGH = 5


@pytest.fixture
def home(tmp_path: Path, settings: Any) -> Path:
    """A state folder with a key and an unpacked archive."""
    home = tmp_path / "home"
    (home / "workspaces/one/shop").mkdir(parents=True)
    (home / "workspaces/one/shop/cart.py").write_text("total = 0\n")
    (home / "secret_key").write_text(settings.SECRET_KEY)
    settings.CCM_HOME = home
    settings.CCM_FILES_DIR = home / "files"
    return home


@pytest.fixture
def talk(alice: User, home: Path) -> Talk:
    talk = Talk(actions.create_session(alice, title="Harbour"))
    actions.open_effort(talk.place, "Cranes")
    talk.ask("How many cranes are there?", reply="There are four cranes.")
    return talk


class Writer:
    """Somebody who sends one message after the other; `acknowledged` are those that are stored."""

    def __init__(self, owner: User) -> None:
        self.session = actions.create_session(owner)
        self.acknowledged: list[str] = []
        self.some, self.enough = threading.Event(), threading.Event()
        self.thread = threading.Thread(target=self.write)

    def write(self) -> None:
        try:
            while not self.enough.is_set():
                text = f"Message {uuid4()}"
                actions.send_message(self.session, text=text, client_id=text[8:], actor=self.session.owner)
                self.acknowledged.append(text)
                if len(self.acknowledged) >= ENOUGH:
                    self.some.set()
        finally:
            connection.close()

    @contextmanager
    def at_work(self) -> Iterator[None]:
        self.thread.start()
        try:
            assert self.some.wait(PATIENCE)
            yield
        finally:
            self.enough.set()
            self.thread.join()


@pytest.fixture
def empty(tmp_path: Path) -> Iterator[dict[str, str]]:
    """The settings of an installation where nothing is yet, with a database of the same kind."""
    where = {"CCM_HOME": str(tmp_path / "elsewhere")}
    if connection.vendor == "sqlite":
        yield where
        return
    import psycopg

    url, name = urlsplit(os.environ["DATABASE_URL"]), f"restored_{uuid4().hex[:8]}"
    with psycopg.connect(url.geturl(), autocommit=True) as server:
        server.execute(f"CREATE DATABASE {name}")
        yield where | {"DATABASE_URL": url._replace(path=f"/{name}").geturl()}
        server.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.mark.server
def test_a_backup_made_while_people_write_is_restored_with_all_that_was_acknowledged(
    talk: Talk, alice: User, tmp_path: Path, empty: dict[str, str]
) -> None:
    file = actions.add_file(talk.session, name="cranes.txt", data=b"Four of them.", actor=alice)
    writers = [Writer(alice) for _ in range(2)]
    with ExitStack() as at_work:
        for writer in writers:
            at_work.enter_context(writer.at_work())
        before = [text for writer in writers for text in list(writer.acknowledged)]
        made = backups.make(tmp_path / "backup")
    restored = manage("restore", str(tmp_path / "backup"), "--json", **empty)
    assert restored.returncode == 0, restored.stdout + restored.stderr
    told = json.loads(restored.stdout)
    assert (told["missing"], told["wrong"], told["key_missing"]) == ([], [], False)
    assert told["messages"] == made["messages"] >= len(before) + 2
    code = "from efforts.models import Message; print(*Message.objects.values_list('text', flat=True), sep='\\n')"
    texts = manage("shell", "-v", "0", "-c", code, **empty).stdout.splitlines()
    assert set(before) | {"There are four cranes."} <= set(texts)
    elsewhere = Path(empty["CCM_HOME"])
    assert (elsewhere / "workspaces/one/shop/cart.py").read_text() == "total = 0\n"
    assert (elsewhere / "files" / str(talk.session.pk) / file.sha256).read_bytes() == b"Four of them."
    assert stat.S_IMODE((elsewhere / "secret_key").stat().st_mode) == 0o600
    # A second time would overwrite it.
    again = manage("restore", str(tmp_path / "backup"), **empty)
    assert again.returncode == 1
    assert "is not empty" in again.stderr


def test_files_of_messages_are_in_it(talk: Talk, alice: User, tmp_path: Path) -> None:
    file = actions.add_file(talk.session, name="cranes.txt", data=b"Four of them.", actor=alice)
    made = backups.make(tmp_path / "backup")
    assert made["files"][f"files/{talk.session.pk}/{file.sha256}"] == file.sha256


def test_what_is_not_committed_is_not_in_it_and_nobody_is_waited_for(talk: Talk, tmp_path: Path) -> None:
    sent, go_on = threading.Event(), threading.Event()

    def hold() -> None:
        try:
            with transaction.atomic():
                talk.say("Not said yet.")
                sent.set()
                assert go_on.wait(PATIENCE)
        finally:
            connection.close()

    writer = threading.Thread(target=hold)
    writer.start()
    try:
        assert sent.wait(PATIENCE)
        made = backups.make(tmp_path / "backup")
    finally:
        go_on.set()
        writer.join()
    assert made["messages"] == 2
    assert Message.objects.count() == 3


def test_a_backup_is_its_owners_alone_and_says_what_is_in_it(
    talk: Talk, home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "backup"
    call_command("backup", str(folder))
    assert capsys.readouterr().out.startswith(f"{folder}: 1 conversations with 2 messages, ")
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {path.name for path in folder.iterdir()} == {
        "manifest.json",
        "secret_key",
        "workspaces",
        backups.DATABASES[connection.vendor],
    }


def test_nothing_is_overwritten_by_a_backup(talk: Talk, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="is there already"):
        call_command("backup", str(tmp_path))


def test_a_backup_that_breaks_off_leaves_nothing_behind(
    talk: Talk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(backups, "copy_files", full)
    with pytest.raises(CommandError, match="No space left on device"):
        call_command("backup", str(tmp_path / "made" / "backup"))
    assert list((tmp_path / "made").iterdir()) == []


def test_nothing_is_overwritten_by_a_restore(talk: Talk, tmp_path: Path) -> None:
    backups.make(tmp_path / "backup")
    with pytest.raises(CommandError, match="is not empty"):
        call_command("restore", str(tmp_path / "backup"))
    assert Session.objects.get().title == "Harbour"


def test_a_damaged_backup_is_refused_and_the_file_is_named(talk: Talk, tmp_path: Path) -> None:
    backups.make(tmp_path / "backup")
    (tmp_path / "backup/workspaces/one/shop/cart.py").write_text("total = 1\n")
    with pytest.raises(CommandError, match=r"damaged: workspaces/one/shop/cart\.py"):
        call_command("restore", str(tmp_path / "backup"))


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"database": "oracle"}, "The backup is of oracle"),
        ({"format": 2}, "newer version of CCM Web"),
        ({"migrations": ["efforts.9999_later"]}, "newer version of CCM Web, with efforts.9999_later"),
    ],
)
def test_a_backup_that_does_not_fit_is_refused(
    talk: Talk, tmp_path: Path, changed: dict[str, object], told: str
) -> None:
    made = backups.make(tmp_path / "backup")
    (tmp_path / "backup/manifest.json").write_text(json.dumps(made | changed))
    with pytest.raises(CommandError, match=told):
        call_command("restore", str(tmp_path / "backup"))


def test_what_is_no_backup_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="is no backup"):
        call_command("restore", str(tmp_path))
