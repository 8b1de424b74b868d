"""Plans as lines of JSON, with what came of them."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext

from compaction import review
from compaction.domain.artifact import parse_artifact
from compaction.domain.lifecycle import ClaimVerdictValue
from efforts import actions
from efforts.context.planning import run_inputs
from efforts.domain.effort.states import EntryKind
from efforts.domain.prompt.planner import plan
from efforts.domain.text.canonical import canonical_json
from efforts.models import Branch, ContextPlan, RetrievalSet, Run, ToolTrace
from efforts.pages.presenters import export
from efforts.turns import recording
from tests.compaction import artifacts
from tests.compaction.review import reviewed, room_of
from tests.efforts.talk import Talk
from tests.fakes.provider import FakeProvider


class Planned(Talk):
    """Every turn has a plan, as with a runner."""

    def claim(self) -> recording.Lease:
        lease = super().claim()
        run = Run.objects.select_related("turn__session", "branch__parent").get(pk=lease.run_id)
        recording.record_plan(lease, 1, plan(run_inputs(run)))
        return lease


@pytest.fixture
def talk(alice: User) -> Planned:
    return Planned(actions.create_session(alice))


def exported(talk: Talk, **options: Any) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text(talk, **options).splitlines()]


def text(talk: Talk, **options: Any) -> str:
    out = StringIO()
    call_command("export_session", str(talk.session.pk), plans=True, stdout=out, stderr=StringIO(), **options)
    return out.getvalue()


def test_every_plan_is_a_line_that_can_be_read_back(talk: Planned) -> None:
    for said in ("One", "Two", "Three"):
        talk.ask(said)
    lines, rows = exported(talk), list(ContextPlan.objects.order_by("created_at"))
    assert [line["plan"] for line in lines] == [str(row.pk) for row in rows]
    assert [line["turn"] for line in lines] == [1, 2, 3]
    for line, row in zip(lines, rows, strict=True):
        assert (line["v"], line["planner"], line["call"]) == (1, row.planner_version, 1)
        assert line["request_sha256"] == row.request_sha256
        assert (line["budget"]["setting"], line["budget"]["effective"]) == (16_000, row.budget)
        assert sum(line["sections"].values()) == line["usage"]["counted"] == row.tokens
        assert [item["title"] for item in line["items"]] == [item["title"] for item in row.body["items"]]
        assert all(item["sentence"] for item in line["items"])


def test_tools_retrievals_usage_and_verdict_go_with_the_plan(talk: Planned) -> None:
    talk.concluded("Payment webhook", "The signature has expired.")
    talk.ask("What was it?", ("search_efforts", {"query": "payment"}), ("reopen_effort", {"id": "nothing"}))
    run = Run.objects.latest("created_at")
    ContextPlan.objects.filter(run=run).update(prompt_tokens=1_000, cached_tokens=640)
    actions.judge_run(run, "bad", why="It was the key.", actor=talk.session.owner)
    line = exported(talk)[-1]
    assert (line["usage"]["reported"], line["usage"]["cached"]) == (1_000, 640)
    assert [tool["name"] for tool in line["tools"]] == ["search_efforts", "reopen_effort"]
    assert "There is no effort" in line["tools"][1]["error"]
    found = RetrievalSet.objects.get()
    [retrieval] = line["retrievals"]
    assert (retrieval["retrieval"], retrieval["result_hash"]) == (str(found.pk), found.result_hash)
    assert [(hit["rank"], hit["effort"], hit["turn"]) for hit in retrieval["items"]] == [(1, "payment-webhook", None)]
    assert line["tools"][0]["result_sha256"] == ToolTrace.objects.earliest("id").result_sha256
    assert (line["outcome"]["state"], line["outcome"]["verdict"]) == ("completed", "bad")
    assert line["outcome"]["why"] == "It was the key."


def test_no_secret_is_exported(talk: Planned) -> None:
    talk.ask("Search.", ("search_messages", {"query": "password=hunter22"}))
    run = Run.objects.get()
    actions.judge_run(run, "bad", why="It showed sk-abcdefghij0123456789.", actor=talk.session.owner)
    assert "hunter22" not in text(talk)
    assert "abcdefghij0123456789" not in text(talk)
    [line] = exported(talk)
    assert line["retrievals"][0]["query"] == "password=[masked]"
    assert line["masked"] >= 2


def test_the_order_is_the_same_each_time_branch_by_branch(talk: Planned, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(export, "CHUNK", 2)
    side = Branch.objects.create(session=talk.session, name="side", parent=talk.branch, fork_turn=0)
    other = Planned(talk.session, side)
    for number in range(3):
        talk.ask(f"Here {number}")
        other.ask(f"There {number}")
    # Two plans of one moment, at the end of a chunk.
    ContextPlan.objects.filter(branch=side).update(created_at=ContextPlan.objects.earliest("created_at").created_at)
    lines = exported(talk)
    assert [line["branch"] for line in lines] == [str(talk.branch.pk)] * 3 + [str(side.pk)] * 3
    assert len({line["plan"] for line in lines}) == 6
    assert text(talk) == text(talk)


def test_reading_takes_the_same_number_of_queries_however_many_plans(talk: Planned) -> None:
    talk.ask("Search.", ("search_messages", {"query": "harbour"}))
    few = queries(talk)
    for number in range(5):
        talk.ask(f"Harbour {number}", ("search_messages", {"query": "harbour"}))
    assert queries(talk) == few


def queries(talk: Talk) -> int:
    with CaptureQueriesContext(
        connection,
    ) as captured:
        assert list(export.plan_lines(talk.session))
    return len(captured)


def test_a_file_has_its_name_only_when_it_is_whole(talk: Planned, tmp_path: Path) -> None:
    talk.ask("One")
    out = tmp_path / "plans.jsonl"
    assert text(talk, out=out) == ""
    assert out.read_text() == text(talk)
    assert list(tmp_path.iterdir()) == [out]


def test_what_cannot_be_exported_is_said(talk: Planned, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="There is no session"):
        call_command("export_session", str(uuid4()), plans=True)
    with pytest.raises(CommandError, match="--plans"):
        call_command("export_session", str(talk.session.pk))
    with pytest.raises(CommandError, match="cannot be written"):
        text(talk, out=tmp_path / "nowhere" / "plans.jsonl")


def test_a_conversation_without_plans_exports_nothing(talk: Planned) -> None:
    assert text(talk) == ""


def test_the_ledger_is_exported_in_every_state_with_where_its_words_stand_and_secrets_masked(talk: Planned) -> None:
    key = "sk-proj-" + "a1B2c3D4" * 6
    talk.ask(f"Hello. Take the train. The key is {key}, keep it. Never touch production.")
    message = talk.session.turns.get().messages.get(role="user")
    old = actions.note_entry(talk.place, message.pk, EntryKind.DECISION, words="Take the train.")
    new = actions.note_entry(talk.place, message.pk, EntryKind.DECISION, f"The key is {key}.")
    actions.supersede_entry(talk.place, old.pk, new.pk)
    actions.set_constraint(talk.place, "Never touch production.", turn=1)
    out = StringIO()
    call_command("export_session", str(talk.session.pk), ledger=True, stdout=out, stderr=StringIO())
    lines = [json.loads(line) for line in out.getvalue().splitlines()]
    assert [(line["kind"], line["state"], line["turn"], line["message"]) for line in lines] == [
        ("decision", "superseded", 1, message.pk),
        ("decision", "confirmed", 1, message.pk),
        ("constraint", "in force", 1, message.pk),
    ]
    first, second, _ = lines
    assert message.text[first["start"] : first["end"]] == first["text"] == "Take the train."
    assert first["superseded_by"] == second["entry"] == new.name
    assert (second["start"], second["masked"]) == (None, 1)
    assert key not in out.getvalue()


def summaries_of(talk: Talk) -> tuple[list[dict[str, Any]], list[dict[str, Any]], str]:
    out = StringIO()
    call_command("export_session", str(talk.session.pk), summaries=True, stdout=out, stderr=StringIO())
    lines = [json.loads(line) for line in out.getvalue().splitlines()]
    made = [line for line in lines if line["line"] == "artifact"]
    assert lines == made + lines[len(made) :]
    return made, lines[len(made) :], out.getvalue()


def test_summaries_are_exported_with_their_versions_verdicts_and_all_that_has_stood(
    alice: User, provider: FakeProvider
) -> None:
    room = room_of(alice, provider)
    first = reviewed(room)
    words = "Postgres is decided on for the storage of orders."
    review.decide(first, "postgres", ClaimVerdictValue.EDITED, reviewer=alice, text=words)
    second = review.submit(first, reviewer=alice).made
    assert second is not None
    pointer = artifacts.accept(second)
    artifacts.roll_back(second, reason="Too short.")
    everything, moves, _ = summaries_of(room.talk)
    made = [line for line in everything if line["kind"] != "digest"]
    assert [(line["artifact"], line["version"], line["edited_from"], line["edited_by"]) for line in made] == [
        (first.pk, 1, None, None),
        (second.pk, 2, first.pk, "alice"),
    ]
    assert [line["family"] for line in made] == [first.pk] * 2
    for line, row in zip(made, (first, second), strict=True):
        assert parse_artifact(canonical_json(line["document"])).artifact_id == line["artifact"] == row.pk
        [judged] = line["judged"]
        assert (judged["passed"], judged["verdicts"]) == (True, row.gate_runs.get().verdicts)
    assert [line["acceptances"] for line in made[:1]] == [[]]
    [accepted] = made[1]["acceptances"]
    assert (accepted["pointer"], accepted["by"], accepted["via"]) == (pointer.pk, "alice", "review")
    assert [(line["kind"], line["artifact"], line["before"], line["after"], line["reason"]) for line in moves] == [
        ("accepted", second.pk, [], [pointer.pk], ""),
        ("rolled back", second.pk, [pointer.pk], [], "Too short."),
    ]
    assert {line["text"] for line in moves} == {pointer.text}


def test_no_secret_is_exported_with_a_summary(alice: User) -> None:
    key = "sk-proj-" + "a1B2c3D4" * 6
    talk = artifacts.LongTalk(actions.create_session(alice))
    talk.ask("One")
    good = artifacts.of_turns(talk.branch, [1])
    artifacts.of_turns(talk.branch, [1], f"The key is {key}.")
    artifacts.accept(good)
    artifacts.roll_back(good, reason=f"It hid {key}.")
    made, moves, text = summaries_of(talk)
    assert key not in text
    assert [line["masked"] > 0 for line in (*made, *moves)] == [False, True, False, True]


def test_summaries_of_another_conversation_are_not_exported(talk: Planned, alice: User) -> None:
    other = artifacts.LongTalk(actions.create_session(alice))
    other.ask("One")
    artifacts.accept(artifacts.of_turns(other.branch, [1]))
    assert summaries_of(talk) == ([], [], "")
