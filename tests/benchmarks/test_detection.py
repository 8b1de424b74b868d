"""How often the built-in engine does with efforts what is expected, on messages frozen before its rules."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks.detection.cases import SHA256, Changed, read_cases

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("half", SHA256)
def test_the_files_are_the_frozen_ones_with_seven_messages_of_each_kind(half):
    kinds = [case.kind for case in read_cases(half)]
    assert {kind: kinds.count(kind) for kind in kinds} == dict.fromkeys(
        [
            *("opens", "opens_nothing", "stays", "must_not_close", "closes", "switches", "expands", "collapses"),
            "asks_past",
        ],
        7,
    )


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


@pytest.mark.slow
def test_the_engine_does_all_of_the_open_half_and_85_in_100_of_the_other(tmp_path):
    found = measured(tmp_path)
    assert not found["faults"]
    assert found["halves"]["open"]["rate"] == 1
    assert found["halves"]["held_out"]["rate"] >= 0.85


def test_one_kind_is_measured_and_nothing_is_left_behind(tmp_path):
    found = measured(tmp_path, "--half", "open", "--kind", "collapses")
    assert found["cases"] == 7
    assert found["halves"] == {"open": {"rate": 1, "kinds": {"collapses": {"rate": 1, "failed": []}}}}
    assert not list(tmp_path.rglob("*.sqlite3"))
