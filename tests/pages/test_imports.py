"""A conversation that was exported comes back as it was."""

from __future__ import annotations

import json
import re
import tracemalloc
from collections.abc import Callable
from io import BytesIO
from typing import Any
from zipfile import ZIP_BZIP2, ZIP_DEFLATED, ZIP_LZMA, ZipFile

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from efforts import actions
from efforts.actions.files import zips
from efforts.domain import other_chats
from efforts.domain.effort.states import EntryKind, RunState
from efforts.management.integrity import problems_of
from efforts.models import Branch, Constraint, LedgerEntry, Message, Session, Turn, TurnLabel
from efforts.turns import importing as module
from efforts.turns.recording import Ending
from tests.efforts.talk import Talk

from .test_exports import bytes_of, text_of

Bring = Callable[..., Any]
FAILED = Ending(state=RunState.FAILED, code="timeout", text="It took too long.")


@pytest.fixture
def bring(as_alice: Client) -> Bring:
    def bring(text: str | bytes, client: Client = as_alice, **headers: str) -> Any:
        data = text.encode() if isinstance(text, str) else text
        return client.post("/import/", {"file": SimpleUploadedFile("talk.jsonl", data)}, headers=headers)

    return bring


def exported(client: Client, session: Session, rest: str = "&ledger=1&summaries=1&plans=1") -> str:
    return text_of(client.get(f"{session.get_absolute_url()}export/?form=jsonl{rest}"))


@pytest.fixture
def talk(session: Session) -> Talk:
    """Three efforts that interleave, tools, a failed turn, a note, a rule, decisions and to-dos, and a branch."""
    talk = Talk(session)
    actions.rename_session(session, title="Shop work", actor=session.owner)
    talk.ask("Good morning.", reply="Good morning. What shall we do?")
    talk.ask("The webhook answers 500.", ("open_effort", {"name": "Payment webhook"}), reply="Which event?")
    talk.ask("Never touch the production database. We use Postgres for orders.", reply="Understood.")
    actions.open_effort(talk.place, "日本旅行")
    talk.ask("Book the train to Kyoto.", reply="It is to be booked.")
    talk.ask("It timed out.", reply="", ending=FAILED)
    actions.switch_effort(talk.place, "payment-webhook")
    talk.ask("Write a test for the webhook.", reply="Here is one.\n\n```python\nassert x\n```")
    actions.close_effort(talk.place)
    actions.rename_effort(talk.place, "日本旅行", "Trip to Japan")
    talk.ask("And the weather?", reply="Dry.")
    place = talk.place
    said = {row.turn.number: row.pk for row in Message.objects.filter(session=session, role="user")}
    actions.set_constraint(place, "Never touch the production database.", turn=3)
    old = actions.note_entry(place, said[3], EntryKind.DECISION, words="We use Postgres for orders.")
    actions.note_entry(place, said[6], EntryKind.DECISION, "Orders stay in SQLite", replaces=old.pk)
    done = actions.note_entry(place, said[6], EntryKind.OPEN_WORK, words="Write a test for the webhook.")
    actions.finish_entry(place, done.pk)
    actions.note_entry(place, said[4], EntryKind.OPEN_WORK, words="Book the train to Kyoto.")
    branch = actions.fork(talk.branch, after=4, actor=session.owner, name="By plane")
    Talk(session, branch).ask("Let us fly instead.", reply="Then no train.")
    return talk


def turns_of(session: Session) -> list[Any]:
    rows = Turn.objects.filter(session=session).select_related("run", "branch").order_by("branch__created_at", "number")
    return [
        (
            turn.branch.name,
            turn.number,
            turn.created_at,
            turn.run and turn.run.state,
            turn.run and turn.run.error_text,
            [(one.role, one.text, one.tool_name) for one in turn.messages.order_by("pk")],
            TurnLabel.objects.filter(turn=turn, branch=turn.branch).values_list("effort__slug", "effort__name").first(),
        )
        for turn in rows
    ]


def branches_of(session: Session) -> list[Any]:
    rows = Branch.objects.filter(session=session).select_related("active_effort").order_by("created_at")
    return [
        (
            row.name,
            row.fork_turn,
            row.head,
            row.clock,
            row.active_effort and row.active_effort.slug,
            sorted(row.effort_states.values_list("effort__slug", "effort__name", "status", "turns")),
        )
        for row in rows
    ]


def noted_in(session: Session) -> list[Any]:
    entries = LedgerEntry.objects.filter(session=session).select_related("superseded_by", "source__turn").order_by("pk")
    rules = Constraint.objects.filter(session=session).select_related("source__turn").order_by("pk")
    return [
        *((e.kind, e.text, e.state, e.by, e.source.turn.number, e.start, e.end, str(e.superseded_by)) for e in entries),
        *((r.text, r.state, r.by, r.source and r.source.turn.number, r.start, r.end) for r in rules),
    ]


def test_a_conversation_comes_back_with_its_turns_branches_efforts_and_ledger(
    talk: Talk, as_alice: Client, bring: Bring
) -> None:
    answer = bring(exported(as_alice, talk.session))
    made = Session.objects.exclude(pk=talk.session.pk).get()
    assert answer["Location"] == made.get_absolute_url()
    assert (made.title, made.created_at, made.owner) == ("Shop work", talk.session.created_at, talk.session.owner)
    assert turns_of(made) == turns_of(talk.session)
    assert branches_of(made) == branches_of(talk.session)
    assert noted_in(made) == noted_in(talk.session)
    assert list(problems_of(made)) == []


def test_what_came_back_goes_on_is_found_and_is_exported_again(talk: Talk, as_alice: Client, bring: Bring) -> None:
    bring(exported(as_alice, talk.session))
    made = Session.objects.exclude(pk=talk.session.pk).get()
    first, again = (
        [json.loads(line) for line in exported(as_alice, session, "").splitlines()] for session in (talk.session, made)
    )
    names = {"session", "branch", "parent"}
    assert [{k: v for k, v in line.items() if k not in names} for line in again] == [
        {k: v for k, v in line.items() if k not in names} for line in first
    ]
    assert "Kyoto" in as_alice.get(f"/search/?q=Kyoto&session={made.pk}").content.decode()
    going_on = Talk(made)
    going_on.ask("Is it booked?", reply="Yes.")
    assert going_on.branch.head == 8
    assert list(problems_of(Session.objects.get(pk=made.pk))) == []


def test_all_conversations_are_one_archive_whose_files_come_back(
    talk: Talk, as_alice: Client, as_bob: Client, bring: Bring, alice: User
) -> None:
    away = actions.create_session(alice, title="日本")
    Talk(away).ask("Good evening.", reply="Good evening.")
    actions.archive_session(away, actor=alice)
    gone = actions.create_session(alice, title="Gone")
    Talk(gone).ask("Farewell.", reply="Farewell.")
    actions.delete_session(gone, actor=alice)
    assert "Export all" in as_alice.get("/settings/").content.decode()
    files = unpacked(as_alice)
    assert list(files) == [f"shop-work-{talk.session.pk}.jsonl", f"conversation-{away.pk}.jsonl"]
    assert files[f"shop-work-{talk.session.pk}.jsonl"].decode() == exported(
        as_alice, talk.session, "&ledger=1&summaries=1"
    )
    for data in files.values():
        bring(data, as_bob)
    theirs = Session.objects.exclude(owner=alice).order_by("created_at")
    assert [turns_of(one) for one in theirs] == [turns_of(one) for one in (talk.session, away)]
    assert len(unpacked(as_bob)) == 2


def unpacked(client: Client) -> dict[str, bytes]:
    answer = client.get("/export/")
    assert answer["Content-Disposition"] == 'attachment; filename="conversations.zip"'
    with ZipFile(BytesIO(bytes_of(answer))) as archive:
        assert archive.testzip() is None
        return {name: archive.read(name) for name in archive.namelist()}


def test_of_a_branch_its_whole_timeline_comes_back(talk: Talk, as_alice: Client, bring: Bring) -> None:
    branch = Branch.objects.get(session=talk.session, name="By plane")
    bring(text_of(as_alice.get(f"{branch.get_absolute_url()}export/?form=jsonl&ledger=1")))
    made = Session.objects.exclude(pk=talk.session.pk).get()
    said = Message.objects.filter(session=made, role="user").order_by("pk").values_list("text", flat=True)
    assert [text[:8] for text in said] == ["Good mor", "The webh", "Never to", "Book the", "Let us f"]
    # Only what was noted within it.
    assert list(LedgerEntry.objects.filter(session=made).values_list("text", "state")) == [
        ("We use Postgres for orders.", "confirmed"),
        ("Book the train to Kyoto.", "confirmed"),
    ]
    assert list(problems_of(made)) == []


def test_the_same_file_twice_is_one_conversation(talk: Talk, as_alice: Client, bring: Bring) -> None:
    text = exported(as_alice, talk.session)
    assert bring(text)["Location"] == bring(text)["Location"]
    assert Session.objects.count() == 2


def test_what_is_archived_comes_back_archived_and_what_is_not_does_not(
    talk: Talk, as_alice: Client, alice: User, bring: Bring
) -> None:
    actions.archive_branch(Branch.objects.get(name="By plane"), actor=alice)
    bring(exported(as_alice, talk.session))
    actions.archive_session(talk.session, actor=alice)
    bring(exported(as_alice, talk.session))
    made = Session.objects.exclude(pk=talk.session.pk).order_by("pk")
    assert sorted(one.archived_at is not None for one in made) == [False, True]
    branches = Branch.objects.filter(session__in=made).order_by("name", "pk")
    assert [(one.name, one.archived_at is not None) for one in branches] == [
        *[("By plane", True)] * 2,
        *[("main", False)] * 2,
    ]
    assert [list(problems_of(one)) for one in made] == [[], []]


@pytest.mark.slow
def test_another_person_gets_one_of_their_own(
    talk: Talk, as_alice: Client, as_bob: Client, bob: User, bring: Bring
) -> None:
    text = exported(as_alice, talk.session)
    bring(text, as_bob)
    assert Session.objects.exclude(pk=talk.session.pk).get().owner == bob
    bring(text)
    assert Session.objects.filter(owner=talk.session.owner).count() == 2


def test_what_the_program_of_the_file_was_answering_is_interrupted(talk: Talk, as_alice: Client, bring: Bring) -> None:
    text = exported(as_alice, talk.session, "").replace('"state":"completed"', '"state":"running"')
    bring(text)
    made = Session.objects.exclude(pk=talk.session.pk).get()
    assert set(made.turns.values_list("run__state", flat=True)) == {"interrupted", "failed"}
    assert Branch.objects.get(session=made, parent=None).clock == 0
    assert list(problems_of(made)) == []


LINE = {
    "v": 1,
    "session": "a",
    "branch": "b",
    "line": "conversation",
    "title": "Talk",
    "created_at": "2026-01-01T00:00:00+00:00",
    "branch_name": "main",
}
TURN = {
    "v": 1,
    "session": "a",
    "branch": "b",
    "line": "turn",
    "turn": 1,
    "at": "2026-01-01T00:00:00+00:00",
    "effort": None,
    "state": "completed",
    "user": "Hello",
    "model": None,
    "reply": [{"text": "Hi."}],
    "error": None,
}


def lines(*rows: Any) -> str:
    return "".join(f"{json.dumps(row)}\n" for row in rows)


def two_efforts(first: str, second: str, name: str) -> str:
    """Both of that name, the first concluded."""
    efforts = [{"id": first, "name": name, "concluded": True}, {"id": second, "name": name, "concluded": False}]
    turns = [{**TURN, "effort": first}, {**TURN, "turn": 2, "effort": second}]
    return lines({**LINE, "efforts": efforts}, *turns)


def test_the_least_that_is_a_conversation_is_taken(as_alice: Client, bring: Bring) -> None:
    answer = bring(lines(LINE, TURN))
    page = as_alice.get(answer["Location"]).content.decode()
    assert "Hello" in page
    assert "Hi." in page


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Dear diary,\n", "Line 1 is not JSON."),
        ("[" * 100_000, "The file is no whole JSON: it was not saved to its end, or was changed."),
        ("[1]\n", "This is a list in JSON, and not one of conversations that ChatGPT or Claude gave you."),
        ("", "This is no conversation that CCM Web exported."),
        (lines(TURN), "This is no conversation that CCM Web exported."),
        (lines(LINE), "This conversation has no messages, so there is nothing to import."),
        (lines(LINE, LINE), "Line 2 begins a second conversation."),
        (lines({**LINE, "v": 2}), "Line 1 is of a version that is not known here: a newer CCM Web exported it."),
        (
            '{"title": "Of another program", "mapping": {}}',
            "This conversation has no messages, so there is nothing to import.",
        ),
        ('{"title": "Of another program", "talk": []}', "Line 1 is not a line of an export."),
        (lines(LINE, TURN, TURN).strip()[:-9], "The file breaks off in line 3: it was not saved to its end."),
        (lines(LINE, TURN)[:-9] + "\n\n" + lines(TURN), "Line 2 is not JSON."),
        (lines(LINE, TURN, {**TURN, "line": "poem"}), "Line 3 is of no kind that an export has."),
        (lines(LINE, TURN, TURN), "Line 3: “turn” must be a number above 1."),
        (lines(LINE, {**TURN, "turn": True}), "Line 2: “turn” must be a number."),
        (lines(LINE, {**TURN, "branch": "c"}), "Line 2: “branch” must be that of the line before."),
        (lines(LINE, {**TURN, "user": 5}), "Line 2: “user” must be text that can be stored."),
        (lines(LINE, {**TURN, "user": "a\x00b"}), "Line 2: “user” must be text that can be stored."),
        (lines(LINE, {**TURN, "user": "\ud800"}), "Line 2: “user” must be text that can be stored."),
        (lines(LINE, {**TURN, "user": " "}), "Line 2: “user” must be what was said."),
        (lines(LINE, {**TURN, "at": "yesterday"}), "Line 2: “at” must be a time."),
        (lines(LINE, {**TURN, "at": "2026-01-01"}), "Line 2: “at” must be a time."),
        (lines(LINE, {**TURN, "reply": ["Hi."]}), "Line 2: “reply” must be a list."),
        (lines(LINE, {**TURN, "reply": [{"tool": "rm -rf"}]}), "Line 2: “tool” must be the name of a tool."),
        (lines(LINE, {**TURN, "effort": "!"}), "The name has no letter or digit to make an id of."),
        (two_efforts("s14", "s15", "Invoices"), "Two efforts in the file are called “Invoices”, or nearly so."),
        (two_efforts("invoice", "invoices", ""), "Two efforts in the file are called “invoices”, or nearly so."),
        (b"\xff\xfe", "Byte 1 of the file is not UTF-8, so it is no export."),
    ],
)
def test_of_a_file_that_is_wrong_it_is_said_what_and_nothing_is_imported(
    text: str | bytes, said: str, bring: Bring, alice: User
) -> None:
    answer = bring(text, HX_Request="true")
    page = answer.content.decode().replace("&quot;", '"')
    assert answer.status_code == 422
    assert said in page
    assert "Nothing was imported." in page
    assert not Session.objects.exists()


def test_half_a_conversation_is_none(
    talk: Talk, as_alice: Client, bring: Bring, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = exported(as_alice, talk.session)
    spoilt = text.replace('"text":"Never touch the production database."', f'"text":"{"x" * 5_000}"')
    assert spoilt != text
    assert bring(spoilt).status_code == 422
    assert list(Session.objects.all()) == [talk.session]
    monkeypatch.setattr(module, "LARGEST_IMPORT", 1024)
    assert "The file has 0.0 MB" in bring(text, HX_Request="true").content.decode()


def importing(client: Client, *files: tuple[str, str | bytes], **headers: str) -> Any:
    uploads = [SimpleUploadedFile(name, data.encode() if isinstance(data, str) else data) for name, data in files]
    return client.post("/import/", {"file": uploads}, headers=headers)


def outcomes_in(answer: Any) -> list[str]:
    lists = re.findall(r'<ul class="stack s">(.*?)\n    </ul>', answer.content.decode(), re.DOTALL)
    rows = [row for one in lists for row in re.findall(r"<li>(.*?)</li>(?=\n|$)", one, re.DOTALL)]
    return [" ".join(re.sub("<[^>]+>", " ", row).split()) for row in rows]


def test_of_several_files_each_says_by_its_name_what_came_of_it(as_alice: Client, alice: User) -> None:
    first, second = lines(LINE, TURN), lines({**LINE, "title": "Other talk"}, TURN)
    importing(as_alice, ("second.jsonl", second))
    answer = importing(
        as_alice, ("first.jsonl", first), ("diary.txt", "Dear diary,"), ("second.jsonl", second), HX_Request="true"
    )
    assert answer.status_code == 200
    assert "1 of 3 conversations imported" in answer.content.decode()
    assert "You already have 1 of them." in answer.content.decode()
    assert outcomes_in(answer) == [
        "diary.txt Not imported: Line 1 is not JSON. This is no conversation that CCM Web exported. Choose a file that "
        "“Export” made as JSON lines.",
        "first.jsonl Imported: Talk",
        "second.jsonl You already have this one: Other talk",
    ]
    assert set(Session.objects.values_list("title", "owner")) == {("Talk", alice.pk), ("Other talk", alice.pk)}
    # The list beside the dialog has them now.
    assert answer["HX-Trigger"] == "conversations"


def test_who_left_the_page_is_told_there_how_the_import_ended(as_alice: Client, as_bob: Client) -> None:
    importing(as_alice, ("two.json", handed_out(SHELF, TRAIN)), ("odd.jsonl", b"odd"))
    for language, words in {
        "en": "2 of 3 conversations imported. Import the same files again to see why the others were not.",
        "de": "2 von 3 Unterhaltungen importiert. Importieren Sie dieselben Dateien noch einmal",
    }.items():
        shown = as_alice.get("/import/", headers={"accept-language": language}).text
        assert words in " ".join(re.sub(r"<[^>]+>", " ", shown).split())
    assert "conversations imported" not in as_bob.get("/import/").text


def test_an_archive_of_all_conversations_comes_back_as_it_is(talk: Talk, as_alice: Client, as_bob: Client) -> None:
    Talk(actions.create_session(talk.session.owner, title="Evening")).ask("Good evening.", reply="Good evening.")
    answer = importing(as_bob, ("conversations.zip", bytes_of(as_alice.get("/export/"))))
    assert "2 of 2 conversations imported" in answer.content.decode()
    assert len(outcomes_in(answer)) == 2
    theirs = Session.objects.exclude(owner=talk.session.owner)
    assert {one.title for one in theirs} == {"Shop work", "Evening"}
    assert turns_of(theirs.get(title="Shop work")) == turns_of(talk.session)


def zipped(*files: tuple[str, bytes]) -> bytes:
    packed = BytesIO()
    with ZipFile(packed, "w", ZIP_DEFLATED) as archive:
        for name, data in files:
            archive.writestr(name, data)
    return packed.getvalue()


def test_of_hundreds_it_is_told_at_once_how_many_came_and_why_others_did_not(bring: Bring) -> None:
    many = [{**TRAIN, "title": f"Trip {number}", "conversation_id": str(number)} for number in range(12)]
    empty = [{**SHELF, "title": f"Nothing {number}", "mapping": {}} for number in range(3)]
    told = bring(json.dumps([*many, *empty]), HX_Request="true")
    page = told.content.decode()
    assert "12 of 15 conversations imported" in page
    (fault, *rest) = outcomes_in(told)
    assert fault == (
        "3 not imported, each for this reason: This conversation has no messages, so there is nothing to import. "
        "Nothing 0 Nothing 1 Nothing 2"
    )
    assert len(rest) == 12
    # Whoever wants to see them opens the list.
    assert page.index("not imported") < page.index(">All that are here now</summary>") < page.index("Trip 0")
    assert "You already have 12 of them." in bring(json.dumps([*many, *empty])).content.decode()


@pytest.mark.skipif(connection.vendor != "sqlite", reason="The other database scans tables that are as small as here.")
def test_whether_one_has_come_before_is_asked_of_ones_own_conversations(bring: Bring) -> None:
    with CaptureQueriesContext(connection) as asked:
        bring(json.dumps([SHELF, TRAIN]))
    known = [one["sql"] for one in asked if one["sql"].startswith("SELECT") and "session.imported" in one["sql"]]
    assert len(known) == 2
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN QUERY PLAN {known[0]}")
        steps = [step for *_, step in cursor.fetchall()]
    assert not [step for step in steps if step.startswith("SCAN")]


def test_an_archive_within_an_archive_is_called_so(as_alice: Client) -> None:
    within = zipped(("old/conversations.zip", zipped(("talk.jsonl", lines(LINE, TURN).encode()))))
    page = importing(as_alice, ("all.zip", within)).content.decode()
    assert "This is an archive within an archive. Unpack the outer one, and import this one on its own." in page


def test_what_was_archived_there_is_archived_here(bring: Bring) -> None:
    bring(handed_out({**SHELF, "is_archived": True}, {**TRAIN, "is_archived": "odd"}))
    assert list(Session.objects.exclude(archived_at=None).values_list("title", flat=True)) == ["Shelf"]
    Session.objects.update(archived_at=None)
    # What was brought back since stays.
    bring(handed_out({**SHELF, "is_archived": True}, TRAIN))
    assert not Session.objects.exclude(archived_at=None).exists()


def test_an_archive_that_is_damaged_or_too_much_harms_nothing(
    as_alice: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "This archive cannot be unpacked." in importing(as_alice, ("a.zip", b"PK and no more")).content.decode()
    assert "This is no conversation that CCM Web exported." in importing(as_alice, ("a.zip", zipped())).content.decode()
    whole = zipped(("a/talk.jsonl", lines(LINE, TURN).encode()), ("b.jsonl", lines(LINE, TURN, TURN).encode()))
    spoilt = whole.replace(whole[60:70], bytes(10), 1)
    assert outcomes_in(importing(as_alice, ("a.zip", spoilt)))[0] == (
        "a/talk.jsonl Not imported: This archive cannot be unpacked."
    )
    monkeypatch.setattr(module, "MOST_AT_ONCE", len(lines(LINE, TURN)) + 10)
    assert outcomes_in(importing(as_alice, ("a.zip", whole))) == [
        "b.jsonl Not imported: That is too much at once. Import this file on its own.",
        "a/talk.jsonl Imported: Talk",
    ]
    # Nobody unpacks what is a million times larger than it came.
    bomb = zipped(("bomb.jsonl", bytes(64 * 1024 * 1024)), ("talk.jsonl", lines(LINE, TURN).encode()))
    assert outcomes_in(importing(as_alice, ("a.zip", bomb))) == [
        "bomb.jsonl Not imported: The file has 64.0 MB; 8 MB is the most.",
        "talk.jsonl You already have this one: Talk",
    ]


def of_chatgpt(title: str, question: str, answer: str, at: float = 1_750_000_000.0) -> dict[str, Any]:
    def node(id: str, parent: str | None, role: str, text: str) -> dict[str, Any]:
        content = {"content_type": "text", "parts": [text]}
        return {
            "id": id,
            "parent": parent,
            "message": {"author": {"role": role}, "content": content, "create_time": at},
        }

    tree = {"q": node("q", None, "user", question), "a": node("a", "q", "assistant", answer)}
    return {"title": title, "create_time": at, "conversation_id": f"c-{title}", "current_node": "a", "mapping": tree}


def test_an_archive_that_says_less_than_it_holds_is_not_unpacked(as_alice: Client) -> None:
    whole = bytearray(zipped(("talk.jsonl", b" " * 256 * 1024 * 1024)))
    for at in (22, whole.rfind(b"PK\x01\x02") + 24):
        whole[at : at + 4] = (1000).to_bytes(4, "little")
    tracemalloc.start()
    answer = importing(as_alice, ("a.zip", bytes(whole)))
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert "This archive cannot be unpacked." in answer.content.decode()
    assert most < 64 * 1024 * 1024


@pytest.mark.parametrize("packed", [ZIP_BZIP2, ZIP_LZMA])
def test_what_becomes_any_size_before_it_is_counted_is_not_unpacked(packed: int, as_alice: Client) -> None:
    whole = BytesIO()
    with ZipFile(whole, "w", packed) as archive:
        archive.writestr("talk.jsonl", lines(LINE, TURN))
    assert "This archive cannot be unpacked." in importing(as_alice, ("a.zip", whole.getvalue())).content.decode()


def test_of_an_archive_with_more_files_than_anybody_has_none_is_read(
    as_alice: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(zips, "MOST_ENTRIES", 2)
    many = zipped(*((f"{number}.jsonl", lines(LINE, TURN).encode()) for number in range(3)))
    assert "This archive cannot be unpacked." in importing(as_alice, ("a.zip", many)).content.decode()


def test_what_was_exported_here_has_as_many_parts_as_it_has(bring: Bring, monkeypatch: pytest.MonkeyPatch) -> None:
    """A table of numbers has a comma in each of its places."""
    monkeypatch.setattr(other_chats, "MOST_PARTS", 3)
    bring(lines(LINE, {**TURN, "user": "1,2,3,4,5,6"}))
    assert Message.objects.filter(text="1,2,3,4,5,6").exists()


SHELF = of_chatgpt("Shelf", "Which wood bears books?", "Oak does.", at=1_750_000_100.0)
TRAIN = of_chatgpt("", "How do I get from Kyoto to Nara?", "By the Miyakoji rapid train.")


def handed_out(*conversations: Any) -> bytes:
    """As ChatGPT sends it: an archive in which one file has all conversations."""
    whole = BytesIO()
    with ZipFile(whole, "w", ZIP_DEFLATED) as archive:
        archive.writestr("chat.html", "<html>All of it once more</html>")
        archive.writestr("conversations.json", json.dumps(conversations))
        archive.writestr("user.json", '{"id": "user-1"}')
    return whole.getvalue()


def test_what_chatgpt_hands_out_comes_as_conversations_of_their_time(as_alice: Client, bring: Bring) -> None:
    page = bring(handed_out(SHELF, TRAIN)).content.decode()
    assert "2 of 2 conversations imported" in page
    train, shelf = Session.objects.order_by("created_at")
    assert (train.title, shelf.title) == ("How do I get from Kyoto to Nara?", "Shelf")
    assert (shelf.created_at.timestamp(), shelf.last_activity_at.timestamp()) == (1_750_000_100, 1_750_000_100)
    said = Message.objects.filter(session=shelf).values_list("role", "text")
    assert list(said) == [("user", "Which wood bears books?"), ("assistant", "Oak does.")]
    assert "Miyakoji" in as_alice.get("/search/?q=Miyakoji").content.decode()
    assert [*problems_of(train), *problems_of(shelf)] == []
    again = bring(handed_out(SHELF, TRAIN)).content.decode()
    assert (again.count("You already have this one:"), Session.objects.count()) == (2, 2)


def test_of_a_later_archive_only_what_has_gone_on_comes(bring: Bring) -> None:
    bring(handed_out(SHELF, TRAIN))
    answer = of_chatgpt("Shelf", "Which wood bears books?", "Oak and ash do.", at=1_750_000_100.0)
    page = bring(
        handed_out(answer, {**TRAIN, "title": "Nara", "update_time": 1.0, "is_starred": None})
    ).content.decode()
    assert (page.count("You already have this one:"), Session.objects.count()) == (1, 3)


def test_what_is_no_text_and_no_number_keeps_nothing_from_coming(bring: Bring) -> None:
    odd = json.dumps([{**TRAIN, "title": "Nara \ud83d"}, {**SHELF, "update_time": float("nan")}])
    assert "2 of 2 conversations imported" in bring(odd.replace("1750000100.0", "1e999", 1)).content.decode()
    assert "Nara" in Session.objects.values_list("title", flat=True)
    assert bring(odd.replace("1750000100.0", "1e999", 1)).content.decode().count("You already have this one:") == 2


def test_a_file_that_was_saved_again_may_be_as_large_as_the_first(
    as_alice: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "LARGEST_IMPORT", 300)
    answer = importing(as_alice, ("conversations (1).json", json.dumps([SHELF, TRAIN])))
    assert "2 of 2 conversations imported" in answer.content.decode()


def test_one_that_cannot_be_read_keeps_no_other_from_coming(bring: Bring) -> None:
    page = bring(json.dumps([{**SHELF, "mapping": {}}, TRAIN])).content.decode()
    assert "1 of 2 conversations imported" in page
    assert '<b dir="auto">Shelf</b>' in page
    assert "This conversation has no messages" in page
    assert Session.objects.count() == 1


@pytest.mark.parametrize(
    ("limit", "most", "said"), [("MOST_MESSAGES", 1, "It has 2 messages"), ("LARGEST_IMPORT", 9, "MB")]
)
def test_of_one_conversation_no_more_comes_than_others_can_wait_for(
    limit: str, most: int, said: str, bring: Bring, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = handed_out(SHELF, SHELF)
    monkeypatch.setattr(module, limit, most)
    assert said in bring(whole).content.decode()
    assert not Session.objects.exists()


def test_what_is_more_than_goes_at_once_comes_with_the_next_import(
    bring: Bring, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST_FILES", 1)
    assert "Import it again" in bring(handed_out(SHELF, TRAIN)).content.decode()
    assert Session.objects.count() == 1
    bring(handed_out(SHELF, TRAIN))
    assert Session.objects.count() == 2


def test_a_list_that_breaks_off_is_refused_and_a_conversation_alone_is_opened(bring: Bring) -> None:
    assert "was not saved to its end" in bring(json.dumps([SHELF])[:-40]).content.decode()
    answer = bring(json.dumps([SHELF]))
    assert answer["Location"] == Session.objects.get().get_absolute_url()


def test_the_list_of_conversations_leads_to_the_form(as_alice: Client) -> None:
    assert 'href="/import/"' in as_alice.get("/conversations/").content.decode()
    page = as_alice.get("/import/").content.decode()
    assert 'type="file"' in page
    assert " multiple " in page
    assert as_alice.post("/import/").status_code == 422
