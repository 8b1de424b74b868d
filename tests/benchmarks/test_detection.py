"""How often a model does with efforts what is expected, on frozen messages."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks.detection.cases import Changed, read_cases

pytestmark = pytest.mark.long

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("half", ["open", "held_out"])
def test_the_files_are_the_frozen_ones_with_seven_messages_of_each_kind(half):
    kinds = [case.kind for case in read_cases(half)]
    assert {kind: kinds.count(kind) for kind in kinds} == dict.fromkeys(
        [
            *("opens", "opens_nothing", "stays", "must_not_close", "closes", "switches", "expands", "collapses"),
            "asks_past",
        ],
        7,
    )


def test_things_to_record_and_things_to_leave_are_said_in_messages_of_their_own():
    expected = [(case.kind, case.expect.get("recorded", "")) for case in read_cases("records")]
    wanted = {(kind, expect): expected.count((kind, expect)) for kind, expect in expected}
    recorded = {("records", kind): 6 for kind in ("decision", "open_work", "constraint")}
    assert wanted == {**recorded, ("records_nothing", ""): 6}


def test_another_file_is_refused(tmp_path, monkeypatch):
    (tmp_path / "open.json").write_text("[]")
    monkeypatch.setattr("benchmarks.detection.cases.FOLDER", tmp_path)
    with pytest.raises(Changed):
        read_cases("open")


def measured(home: Path, *arguments: str) -> dict[str, Any]:
    """In a process of its own: the command leaves the database that the program is set up with."""
    environment = {**os.environ, "CCM_HOME": str(home), "DJANGO_SETTINGS_MODULE": "ccmweb.settings"}
    command = [sys.executable, "manage.py", "measure_detection", "--model", "builtin", "--json", *arguments]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_one_kind_is_measured_and_nothing_is_left_behind(tmp_path):
    found = measured(tmp_path, "--half", "open", "--kind", "collapses")
    assert (found["cases"], found["faults"]) == (7, [])
    [of_kind] = found["halves"]["open"]["kinds"].values()
    assert of_kind["rate"] == round(1 - len(of_kind["failed"]) / 7, 4)
    assert not list(tmp_path.rglob("*.sqlite3"))


def recorded(home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "CCM_HOME": str(home), "DJANGO_SETTINGS_MODULE": "ccmweb.settings"}
    # Of another wording the record is found beside its file.
    kept = [] if "--system-text" in arguments else ["--record", str(home / "record.jsonl")]
    asked = ["--half", "open", "--kind", "opens", *kept, *arguments]
    command = [sys.executable, "manage.py", "measure_detection", "--model", "recorded", *asked]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)


def answer_all(folder: Path, reply: dict[str, Any]) -> Path:
    """The same reply to every request that was exported."""
    answers = folder.with_name(f"{folder.name}-answers")
    answers.mkdir()
    for path in folder.glob("*.md"):
        (answers / f"{path.stem}.json").write_text(json.dumps(reply))
    return answers


@pytest.mark.slow
def test_replies_given_elsewhere_are_asked_for_until_none_is_missing_and_then_measured(tmp_path):
    assert "7 requests are in" in recorded(tmp_path, "--export", str(tmp_path / "first")).stdout
    opens = {"text": "", "calls": [{"name": "open_effort", "arguments": {"name": "checkout payment hangs"}}]}
    taken = recorded(tmp_path, "--answers", str(answer_all(tmp_path / "first", opens)), "--by", "Ada")
    assert (taken.returncode, "7 replies are not in the record" in taken.stderr) == (1, True)

    recorded(tmp_path, "--export", str(tmp_path / "second"))
    [result] = {path.read_text().split("===== TOOL =====")[1].strip() for path in (tmp_path / "second").glob("*.md")}
    assert json.loads(result)["opened"] == "checkout-payment-hangs"
    ends = answer_all(tmp_path / "second", {"text": "Let us look.", "calls": []})
    found = json.loads(recorded(tmp_path, "--answers", str(ends), "--by", "Ada", "--json").stdout)
    assert (found["by"], found["replies"], found["faults"]) == (["Ada"], 14, [])
    [of_kind] = found["halves"]["open"]["kinds"].values()
    assert "opens-01" not in of_kind["failed"]
    assert len(of_kind["failed"]) == 6


@pytest.mark.slow
def test_a_strong_model_does_with_efforts_what_is_expected_in_the_replies_it_gave_blind(tmp_path):
    environment = {**os.environ, "CCM_HOME": str(tmp_path), "DJANGO_SETTINGS_MODULE": "ccmweb.settings"}
    command = [sys.executable, "manage.py", "measure_detection", "--model", "recorded", "--json"]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    assert (found["cases"], found["faults"]) == (150, [])
    for half in found["halves"].values():
        for kind, result in half["kinds"].items():
            assert (kind, result["rate"]) >= (kind, 0.95)
        assert half["kinds"].get("must_not_close", {"rate": 1.0})["rate"] == 1.0


@pytest.mark.slow
def test_what_is_exported_tells_nothing_of_what_is_expected(tmp_path):
    recorded(tmp_path, "--export", str(tmp_path / "first"))
    [instructions] = (tmp_path / "first").glob("instructions-*.txt")
    assert '"name": "open_effort"' in instructions.read_text()
    for path in (tmp_path / "first").glob("*.md"):
        assert "opens" not in path.read_text().replace(instructions.name, "")


@pytest.mark.slow
def test_another_wording_is_asked_in_its_place_and_its_replies_are_kept_beside_it(tmp_path):
    (tmp_path / "other.md").write_text("Be brief.\n")
    wording = ["--system-text", str(tmp_path / "other.md")]
    recorded(tmp_path, *wording, "--export", str(tmp_path / "first"))
    [instructions] = (tmp_path / "first").glob("instructions-*.txt")
    assert "===== SYSTEM =====\n\nBe brief.\n\n=====" in instructions.read_text()
    replies = answer_all(tmp_path / "first", {"text": "Hello.", "calls": []})
    found = json.loads(recorded(tmp_path, *wording, "--answers", str(replies), "--by", "Ada", "--json").stdout)
    assert (found["requests"], found["faults"]) == (7, [])
    assert len((tmp_path / "other.jsonl").read_text().splitlines()) == 7
    assert not (tmp_path / "record.jsonl").exists()
