"""`manage.py import_conversations`: talk from elsewhere becomes rows that are no exception anywhere."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.test import Client

from benchmarks.importing import import_talk
from benchmarks.replay import moment, read_talks
from efforts import actions
from efforts.context.courses import course_at
from efforts.context.planning import main_branch
from efforts.context.plans import preview
from efforts.domain.effort.states import EffortStatus, SummaryState
from efforts.models import (
    Branch,
    ContextPointer,
    EffortState,
    Event,
    Message,
    PointerTurn,
    Session,
    ToolTrace,
    Turn,
    TurnLabel,
)
from efforts.models.threads import read, write
from efforts.turns.runner import Runner
from tests.fakes.provider import FakeProvider, Reply
from tests.turns.conftest import Stage

pytestmark = pytest.mark.long

Said = dict[str, Any]


def said(role: str, text: str, session: int = 1, **more: Any) -> Said:
    return {"role": role, "text": text, "session": session, **more}


def conversation(messages: Sequence[Said], name: str = "talk", **more: Any) -> dict[str, Any]:
    numbered = [{"id": f"m{number}", **message} for number, message in enumerate(messages, 1)]
    return {"id": name, "source": "test", "messages": numbered, "sessions": [], "questions": [], **more}


def written(folder: Path, *conversations: dict[str, Any]) -> Path:
    path = folder / "talks.jsonl"
    path.write_text("\n".join(map(json.dumps, conversations)))
    return path


def do_import(path: Path, **options: Any) -> dict[str, Any]:
    out = StringIO()
    call_command("import_conversations", str(path), owner="alice", json=True, stdout=out, stderr=StringIO(), **options)
    found: dict[str, Any] = json.loads(out.getvalue())
    return found


TWO_SESSIONS = conversation(
    [
        said("user", "We moved the budget meeting to Friday at nine.", speaker="Ann"),
        said("user", "In the small room, with the projector.", speaker="Ann"),
        said("assistant", "Noted: Friday at nine, in the small room.", speaker="Bob"),
        said("user", "Which colour did we choose for the logo, by the way?", 2, speaker="Ann"),
        said("assistant", "Teal, decided in March after the long vote.", 2, speaker="Bob"),
        said("user", "Fine, then I print the cards today.", 2, speaker="Ann"),
    ],
    sessions=[{"n": 1, "date": "1:56 pm on 8 May, 2023"}, {"n": 2, "date": "2023/06/12 (Mon) 10:14"}],
)
# Long enough for excerpts of each session to be smaller than the session.
AT_LENGTH = conversation(
    [
        said("user", "We moved the budget meeting to Friday at nine."),
        said("assistant", "Noted, with the projector and the small room. " * 12),
        said("user", "Which colour did we choose for the logo, by the way?", 2),
        said("assistant", "Teal, decided in March after the long vote. " * 12, 2),
        said("user", "Fine, then I print the cards today.", 2),
    ],
    sessions=[{"n": 1, "date": "1:56 pm on 8 May, 2023"}, {"n": 2, "date": "2023/06/12 (Mon) 10:14"}],
)
WITH_TOOLS = conversation(
    [
        said("system", "You are another."),
        said("user", "Where is the limit set?"),
        said(
            "assistant",
            "I look.",
            tool_calls=[{"id": "a", "type": "function", "function": {"name": "grep", "arguments": '{"for":"LIMIT"}'}}],
        ),
        said("tool", "query.py: LIMIT = 10", tool_call_ids=["a"]),
        said("assistant", "In query.py, it is 10."),
    ],
    name="tools",
)


@pytest.fixture
def imported(tmp_path: Path, alice: User) -> Session:
    do_import(written(tmp_path, TWO_SESSIONS), sessions_as_efforts=True)
    return Session.objects.get()


def log_of(session: Session) -> list[tuple[int, str, str]]:
    rows = Message.objects.filter(session=session).order_by("id")
    return [(row.turn.number, row.role, row.text) for row in rows.select_related("turn")]


def test_what_was_said_stands_turn_by_turn_under_the_speakers_names(imported: Session) -> None:
    assert log_of(imported) == [
        (1, "user", "Ann: We moved the budget meeting to Friday at nine.\nIn the small room, with the projector."),
        (1, "assistant", "Bob: Noted: Friday at nine, in the small room."),
        (2, "user", "Ann: Which colour did we choose for the logo, by the way?"),
        (2, "assistant", "Bob: Teal, decided in March after the long vote."),
        (3, "user", "Ann: Fine, then I print the cards today."),
    ]
    assert str(imported) == "talk"


def test_each_session_is_a_concluded_effort_whose_excerpts_stand_for_its_turns(tmp_path: Path, alice: User) -> None:
    do_import(written(tmp_path, AT_LENGTH), sessions_as_efforts=True)
    states = list(EffortState.objects.select_related("effort").order_by("pk"))
    assert [(s.effort.slug, s.status, s.summary, s.turns) for s in states] == [
        ("session-1", EffortStatus.CONCLUDED, SummaryState.DIGEST, 1),
        ("session-2", EffortStatus.CONCLUDED, SummaryState.DIGEST, 2),
    ]
    covered = PointerTurn.objects.filter(active=True).values_list("pointer__effort__slug", "turn__number")
    assert sorted(covered) == [("session-1", 1), ("session-2", 2), ("session-2", 3)]
    assert main_branch(Session.objects.get()).active_effort is None
    opened = "Which colour did we choose for the logo, by the way?"
    assert ContextPointer.objects.get(effort__slug="session-2").headline == opened


def test_without_efforts_every_turn_is_ambient(tmp_path: Path, alice: User) -> None:
    do_import(written(tmp_path, TWO_SESSIONS))
    assert (EffortState.objects.count(), TurnLabel.objects.count(), Turn.objects.count()) == (0, 0, 3)


def test_it_was_said_when_the_data_says(imported: Session) -> None:
    assert [turn.created_at.date().isoformat() for turn in Turn.objects.order_by("number")] == [
        "2023-05-08",
        "2023-06-12",
        "2023-06-12",
    ]
    first = Message.objects.order_by("id").first()
    assert first
    assert first.created_at == moment("1:56 pm on 8 May, 2023")


def test_dates_are_read_as_collections_write_them() -> None:
    assert moment("2023-05-08T13:56:00+00:00") == datetime(2023, 5, 8, 13, 56, tzinfo=UTC)
    assert moment("2023/07/12 (Wed) 10:14").isoformat()[:16] == "2023-07-12T10:14"
    assert moment("some day").year == datetime.now(UTC).year


def test_sums_clock_and_log_are_those_of_turns_that_were_run(imported: Session) -> None:
    turns = list(Turn.objects.order_by("number"))
    for before, turn in enumerate(turns):
        assert turn.tokens == sum(message.tokens + 4 for message in turn.messages.all())
        assert turn.tokens_before == sum(earlier.tokens for earlier in turns[:before])
    branch = Branch.objects.get(session=imported)
    assert (branch.head, branch.clock) == (3, 3)
    course, _ = course_at(branch, branch.head)
    rows = EffortState.objects.select_related("effort")
    assert {slug: vars(stand) for slug, stand in course.efforts.items()} == {
        row.effort.slug: {key: getattr(row, key) for key in vars(course.efforts[row.effort.slug])} for row in rows
    }
    labelled = TurnLabel.objects.select_related("turn", "effort")
    assert {number: label.slug for number, label in course.labels.items()} == {
        row.turn.number: row.effort.slug for row in labelled
    }
    assert list(Event.objects.order_by("seq").values_list("seq", flat=True)) == list(range(1, imported_events() + 1))


def imported_events() -> int:
    return Session.objects.get().event_seq


def test_tool_calls_keep_their_results_under_ids_of_our_own(tmp_path: Path, alice: User) -> None:
    # Twice the same ids: those of the data are unique nowhere.
    do_import(written(tmp_path, WITH_TOOLS, {**WITH_TOOLS, "id": "again"}))
    for session in Session.objects.all():
        user, call, result, answer = Message.objects.filter(session=session).order_by("id")
        assert [user.run, call.run, answer.text] == [None, result.run, "In query.py, it is 10."]
        assert call.tool_calls == [{"id": result.tool_call_id, "name": "grep", "arguments": '{"for":"LIMIT"}'}]
        assert ToolTrace.objects.get(message=result).name == result.tool_name == "grep"


def test_whoever_keeps_the_ids_of_the_data_finds_them_in_the_rows(tmp_path: Path, alice: User) -> None:
    [talk] = read_talks(written(tmp_path, TWO_SESSIONS))
    made = import_talk(alice, talk)
    assert made
    texts = {message.pk: message.text for message in Message.objects.all()}
    found = {piece.id: texts[pk][piece.start : piece.end] for pk, pieces in made.pieces.items() for piece in pieces}
    assert found == {message["id"]: message["text"] for message in TWO_SESSIONS["messages"]}


# Again, and badly


def test_a_second_import_skips_what_is_there_and_says_so(tmp_path: Path, alice: User) -> None:
    path = written(tmp_path, TWO_SESSIONS)
    first, second = do_import(path), do_import(path)
    assert [first["imported"], first["skipped"], second["imported"], second["skipped"]] == [1, 0, 0, 1]
    out = StringIO()
    call_command("import_conversations", str(path), owner="alice", stdout=out, stderr=StringIO())
    assert "0 conversations with 0 messages imported for alice, 1 were there already." in out.getvalue()
    assert Session.objects.count() == 1


def test_another_owner_s_import_and_a_deleted_one_are_no_hindrance(tmp_path: Path, alice: User, bob: User) -> None:
    path = written(tmp_path, TWO_SESSIONS)
    call_command("import_conversations", str(path), owner="bob", stdout=StringIO(), stderr=StringIO())
    assert do_import(path)["imported"] == 1
    mine = Session.objects.get(owner=alice)
    actions.erase_session(mine, actor=alice)
    assert do_import(path)["imported"] == 1


BAD = {
    "{": "it is not JSON",
    '{"id": "x"}': "“messages” is missing",
    json.dumps(conversation([])): "nobody says anything in it",
    json.dumps(conversation([said("wizard", "Hm.")])): "has the role 'wizard'",
    json.dumps(conversation([said("user", "a\x00b")])): "has a NUL",
    json.dumps(conversation([said("user", "\ud800")])): "half of a character",
    json.dumps(conversation([said("user", "a", id="1"), said("user", "b", id="1")])): "needs an id of its own",
    json.dumps(conversation([said("user", 5)])): "another kind than expected",  # type: ignore[arg-type]
    "[]": "another kind than expected",
}


@pytest.mark.parametrize("line", BAD)
def test_a_bad_line_is_named_and_nothing_is_imported(line: str, tmp_path: Path, alice: User) -> None:
    path = written(tmp_path, TWO_SESSIONS)
    path.write_text(f"{path.read_text()}\n{line}\n")
    with pytest.raises(CommandError) as refused:
        do_import(path)
    assert str(refused.value).startswith("Nothing was imported. talks.jsonl, line 2, is no conversation: ")
    assert BAD[line] in str(refused.value)
    assert not Session.objects.exists()


def test_a_file_and_an_owner_that_are_not_there_are_refused(tmp_path: Path, alice: User) -> None:
    with pytest.raises(CommandError, match="Nothing was imported"):
        do_import(tmp_path / "none.jsonl")
    with pytest.raises(CommandError, match="no user 'eve'"):
        call_command("import_conversations", str(tmp_path / "none.jsonl"), owner="eve")


# Going on with it


def test_its_page_opens_and_its_next_prompt_has_its_excerpts(tmp_path: Path, as_alice: Client) -> None:
    do_import(written(tmp_path, AT_LENGTH), sessions_as_efforts=True)
    imported = Session.objects.get()
    page = as_alice.get(imported.get_absolute_url())
    assert page.status_code == 200
    assert "Teal, decided in March" in page.content.decode()
    sections = {section.key: section.tokens for section in preview(main_branch(imported)).sections}
    assert sections["summary"] > 0


async def test_it_goes_on_as_if_it_had_been_held_here(
    stage: Stage, provider: FakeProvider, runner: Runner, tmp_path: Path
) -> None:
    await write(do_import, written(tmp_path, WITH_TOOLS))
    imported = await read(Session.objects.select_related("owner").exclude(pk=stage.session.pk).get)
    imported.endpoint = stage.session.endpoint
    await write(imported.save)
    provider.script = [Reply("Yes, 10.")]
    turn = await Stage(imported).ask("Is it still 10?")
    assert turn.run
    assert (turn.number, turn.run.state) == (2, "completed")
    sent = provider.requests[-1]["messages"]
    assert [message["role"] for message in sent] == ["system", "user", "assistant", "tool", "assistant", "user"]
    out = StringIO()
    await read(lambda: call_command("verify_plans", "--plan-again", "--json", stdout=out))
    assert json.loads(out.getvalue())["failed"] == 0
