"""Files in a message: added, priced, removed, sent, read again, found, and gone with their conversation."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client, TestCase

from efforts import actions
from efforts.actions.files import composer, storing
from efforts.context.replanning import plan_again
from efforts.domain.errors import Refused
from efforts.models import ContextPlan, Event, Message, MessageFile, Run, Session, Turn
from efforts.turns import recording
from efforts.turns.recording import COMPLETED, CallReply

from .conftest import HTMX, Scene

pytestmark = pytest.mark.django_db
Address = Callable[..., str]
JSON: dict[str, Any] = {"content_type": "application/json", "headers": {"Accept": "application/json"}}
NOTES = b"The crane in hall 7 was serviced by Marisol on 3 May.\nNext service: November.\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, settings: Any) -> Path:
    settings.CCM_FILES_DIR = tmp_path / "files"
    return tmp_path / "files"


def add(client: Client, address: Address, name: str = "notes.txt", data: bytes = NOTES) -> Any:
    return client.post(address("files/"), {"file": SimpleUploadedFile(name, data)}, headers=HTMX)


def send(client: Client, address: Address, text: str, client_id: str = "") -> Any:
    ids = [str(pk) for pk in MessageFile.objects.filter(message=None).values_list("pk", flat=True)]
    posted = {"text": text, "client_id": client_id or uuid4().hex, "files": ids}
    return client.post(address("send/"), posted, **JSON)


def answered(scene: Scene, call: int = 1) -> ContextPlan:
    """The waiting turn, planned."""
    lease = scene.start()
    scene.plan(lease, Run.objects.select_related("turn__session", "branch").get(pk=lease.run_id))
    return ContextPlan.objects.get(run=lease.run_id)


def kept(session: Session) -> list[str]:
    folder = storing.folder_of(session.pk)
    return sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []


def test_a_file_is_priced_before_it_is_sent_and_can_be_removed(
    as_alice: Client, session: Session, address: Address
) -> None:
    html = add(as_alice, address).content.decode()
    row = MessageFile.objects.get()
    assert "notes.txt" in html
    assert f"{row.size} bytes · {row.tokens} tokens" in html
    assert row.size == len(NOTES)
    page = as_alice.get(address()).content.decode()
    assert f"~{row.tokens} tokens" in page
    assert kept(session) == [row.sha256]
    assert "notes.txt" not in as_alice.post(address(f"files/{row.pk}/remove/"), headers=HTMX).content.decode()
    assert kept(session) == []
    assert [e.kind for e in Event.objects.filter(session=session, kind__startswith="file.")] == [
        "file.added",
        "file.removed",
    ]


def test_why_a_file_was_not_added_is_said_in_the_readers_language(as_alice: Client, address: Address) -> None:
    german = {**HTMX, "accept-language": "de"}
    blob = SimpleUploadedFile("Messages", bytes(range(256)) * 10)
    html = as_alice.post(address("files/"), {"file": blob}, headers=german).content.decode()
    assert "Nur Text, Code, PDF-Dateien und Bilder" in html
    # Its name is a person's, though the program has the word too.
    assert ">Messages</b>" in html


def test_it_is_sent_as_a_block_with_its_name_and_planned_with_its_reason(
    as_alice: Client, scene: Scene, address: Address
) -> None:
    add(as_alice, address)
    assert send(as_alice, address, "When is the next service?").status_code == 200
    planned = answered(scene)
    [said] = [item for item in planned.body["items"] if item["reason"] == "file"]
    assert said["title"] == "File “notes.txt” (78 bytes)"
    request = as_alice.get(address(f"plans/{planned.pk}/request.json")).json()
    sent = request["messages"][-1]["content"]
    assert sent.endswith(
        "When is the next service?\n\nFile “notes.txt” (78 bytes):\n```\n" + NOTES.decode().rstrip("\n") + "\n```"
    )
    assert sum(planned.body["sections"].values()) == planned.tokens
    assert plan_again(planned).same
    # The log has it, and nothing is stored twice.
    assert MessageFile.objects.get().text == ""
    assert Turn.objects.get().tokens == sum(m.tokens + 4 for m in Message.objects.all())


def test_a_message_sent_twice_takes_its_files_once(as_alice: Client, scene: Scene, address: Address) -> None:
    add(as_alice, address)
    [pk] = MessageFile.objects.values_list("pk", flat=True)
    posted = {"text": "Read it.", "client_id": "one", "files": [str(pk)]}
    first, again = (as_alice.post(address("send/"), posted, **JSON) for _ in range(2))
    assert first.json() == again.json()
    assert Message.objects.filter(role="file").count() == 1
    other = as_alice.post(address("send/"), {**posted, "client_id": "two"}, **JSON)
    assert other.status_code == 422
    assert "not in the composer any more" in other.json()["text"]
    assert Turn.objects.count() == 1


def test_it_is_read_downloaded_and_found(as_alice: Client, as_bob: Client, scene: Scene, address: Address) -> None:
    add(as_alice, address, "a\tb/..\\notes\u202e.txt")
    send(as_alice, address, "Read it.")
    row = MessageFile.objects.get()
    assert row.name == "notes.txt"
    page = as_alice.get(address()).content.decode()
    assert address(f"files/{row.pk}/") in page
    assert "by Marisol on 3 May" not in page
    assert "by Marisol on 3 May" in as_alice.get(address(f"files/{row.pk}/text/")).content.decode()
    got = as_alice.get(address(f"files/{row.pk}/"))
    assert b"".join(got.streaming_content) == NOTES  # type: ignore[attr-defined]
    assert got["Content-Disposition"] == 'attachment; filename="notes.txt"'
    assert got["Content-Type"] == "application/octet-stream"
    assert got["X-Content-Type-Options"] == "nosniff"
    for rest in ("", "text/"):
        assert as_bob.get(address(f"files/{row.pk}/{rest}")).status_code == 404
    found = as_alice.get("/search/", {"q": "Marisol crane"}).content.decode()
    assert "Your file" in found


def test_a_file_without_words_is_called_by_its_name(as_alice: Client, scene: Scene, address: Address) -> None:
    add(as_alice, address)
    assert send(as_alice, address, " ").status_code == 200
    [turn] = Turn.objects.filter(session=scene.session)
    assert [row.text for row in turn.messages.filter(role="user")] == ["notes.txt"]
    assert turn.messages.filter(role="file").count() == 1
    assert send(as_alice, address, " ").json()["code"] == "empty"


def start_with(client: Client, *files: tuple[str, bytes]) -> Any:
    posted = {"text": "Who serviced it?", "file": [SimpleUploadedFile(*one) for one in files]}
    return client.post("/s/new/", posted, follow=True)


def test_a_conversation_begins_with_files_which_wait_with_their_price(as_alice: Client) -> None:
    answer = start_with(as_alice, ("notes.txt", NOTES), ("wrong.zip", b"PK\x03\x04" + bytes(200)))
    page = answer.content.decode()
    [session] = Session.objects.all()
    assert answer.redirect_chain[-1][0] == session.get_absolute_url()
    assert [row.name for row in MessageFile.objects.filter(session=session, message=None)] == ["notes.txt"]
    for piece in ('data-name="notes.txt"', "Who serviced it?</textarea>", "wrong.zip</b> was not added"):
        assert piece in page
    again = as_alice.get(session.get_absolute_url()).content.decode()
    assert "was not added" not in again
    assert not Turn.objects.exists()


def test_where_no_file_can_be_read_no_conversation_begins(as_alice: Client) -> None:
    answer = start_with(as_alice, ("wrong.zip", b"PK\x03\x04" + bytes(200)))
    assert answer.status_code == 422
    assert "wrong.zip: " in answer.content.decode()
    assert "Who serviced it?</textarea>" in answer.content.decode()
    assert not Session.objects.exists()


def test_another_branch_has_the_files_of_the_message_it_says_again(
    as_alice: Client, scene: Scene, address: Address, alice: User
) -> None:
    add(as_alice, address)
    send(as_alice, address, "Read it.")
    lease = scene.start()
    scene.plan(lease, Run.objects.select_related("turn__session", "branch").get(pk=lease.run_id))
    recording.record_reply(lease, CallReply(call=1, text="In November."), COMPLETED)
    branch = scene.session.branches.get(parent=None)
    again = actions.regenerate(branch, 1, actor=alice)
    edited = actions.edit_turn(branch, 1, text="Read it well.", client_id="edited", actor=alice)
    texts = set(Message.objects.filter(role="file").values_list("text", flat=True))
    assert len(texts) == 1
    for turn in (again, edited):
        assert [row.name for row in MessageFile.objects.filter(message__turn=turn)] == ["notes.txt"]
    assert len(kept(scene.session)) == 1


def test_a_fork_before_its_message_has_its_files_in_the_composer(
    as_alice: Client, scene: Scene, address: Address
) -> None:
    add(as_alice, address)
    send(as_alice, address, "Read it.")
    answered(scene)
    assert "notes.txt</span> goes with it." in as_alice.get(address("turns/1/edit/"), headers=HTMX).content.decode()
    for _ in range(2):
        as_alice.post(address("turns/1/fork/"), {"before": "1"})
    assert MessageFile.objects.filter(message=None).count() == 1


@pytest.mark.parametrize("files", ["x", ["x"], [1], [None], [[]], {"a": 1}])
def test_files_that_are_no_list_of_ids_are_refused(
    files: Any, as_alice: Client, session: Session, address: Address
) -> None:
    posted = {"text": "Read it.", "client_id": "one", "files": files}
    answer = as_alice.post(address("send/"), posted, **JSON)
    assert answer.status_code == 422
    assert answer.json()["code"] == "bad_files"
    many = {**posted, "files": [str(uuid4()) for _ in range(11)]}
    assert as_alice.post(address("send/"), many, **JSON).json()["code"] == "too_many_files"
    assert not Turn.objects.exists()


def test_what_is_erased_leaves_no_file(as_alice: Client, scene: Scene, address: Address, alice: User) -> None:
    add(as_alice, address)
    send(as_alice, address, "Read it.")
    add(as_alice, address, "later.txt", b"Not sent yet.")
    assert len(kept(scene.session)) == 2
    session_id = scene.session.pk
    with TestCase.captureOnCommitCallbacks(execute=True):
        actions.erase_session(scene.session, actor=alice)
    assert not storing.folder_of(session_id).exists()


def test_a_cancelled_message_gives_its_files_back(as_alice: Client, scene: Scene, address: Address) -> None:
    add(as_alice, address)
    send(as_alice, address, "Read it.")
    as_alice.post(address("turns/1/cancel/"))
    assert 'data-files="' in as_alice.get(address()).content.decode()
    as_alice.post(address("turns/1/files/"))
    assert "notes.txt" in as_alice.get(address("files/"), headers=HTMX).content.decode()


def test_one_that_is_refused_takes_no_bytes_from_another_that_comes_at_the_same_time(
    session: Session, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    check, checks = composer.check_room, iter(("seen", "at once", "seen", "refused", "kept"))

    def check_room(*given: Any) -> None:
        check(*given)
        match next(checks):
            case "at once":
                with pytest.raises(Refused):
                    actions.add_file(session, name="again.txt", data=NOTES, actor=alice)
            case "refused":
                raise Refused("files_full", "Another one came first.")

    monkeypatch.setattr(composer, "check_room", check_room)
    row = actions.add_file(session, name="notes.txt", data=NOTES, actor=alice)
    assert storing.is_whole(session.pk, row.sha256)
    assert kept(session) == [row.sha256]
