"""Answers that others gave, taken by what concludes ranges of talk."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from benchmarks import conclusions
from benchmarks.conclusions import Stage, Talking, take, whole_record
from benchmarks.gates.cases import Unreadable
from benchmarks.gates.ranges import annotation, read_kept
from benchmarks.gates.record import read_record
from tests.compaction.gates import cases

LOG, KEY = cases.source(), "0" * 64


@pytest.fixture
def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Stage:
    """One range waits for the list of what a person keeps of it."""
    for name in ("OWN", "COMMON", "LEDGERS"):
        monkeypatch.setattr(conclusions, name, tmp_path / f"{name}.jsonl")
    monkeypatch.setattr(conclusions, "keep", lambda one, entries: None)
    waiting = SimpleNamespace(range=SimpleNamespace(id="talk"), log=SimpleNamespace(source=LOG))
    return Stage(server=Talking(record=whole_record()), concluded=[], unlisted=[cast(Any, waiting)])


def test_a_list_becomes_entries_and_all_else_is_recorded(stage: Stage, tmp_path: Path) -> None:
    answers = tmp_path / "answers"
    answers.mkdir()
    listed = {"entries": [{"kind": "decision", "text": "Outside.", "sentence": "3.2"}]}
    (answers / f"{annotation(LOG).key}.json").write_text(json.dumps(listed))
    (answers / f"{KEY}.json").write_text("{}")
    with pytest.raises(Unreadable, match="who gave the answers"):
        take(stage, answers, "")
    take(stage, answers, "Ada")
    assert [(one.range, one.message) for one in read_kept(conclusions.LEDGERS)] == [("talk", 3)]
    assert {key: one.by for key, one in read_record(conclusions.OWN).answers.items()} == {KEY: "Ada"}
    assert (stage.unlisted, len(stage.concluded), set(stage.server.record.answers)) == ([], 1, {KEY})
