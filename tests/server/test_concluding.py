"""Efforts of real talk, concluded through the served product by recorded answers."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from tests.house.process import ROOT

pytestmark = [
    pytest.mark.slow,
    pytest.mark.server,
    pytest.mark.skipif("CCM_DATA" not in os.environ, reason="CCM_DATA is not set: no conversations to conclude"),
]
WITHOUT = ("DATABASE_URL", "REDIS_URL")


def test_what_stands_after_a_conclusion_is_small_keeps_the_person_s_list_and_is_in_the_next_prompt() -> None:
    environment = {name: value for name, value in os.environ.items() if name not in WITHOUT}
    command = [sys.executable, "-m", "benchmarks.concluding"]
    # What is logged goes to standard error.
    called = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=600, check=True)
    found = json.loads(called.stdout)
    assert [demand for demand in found["demands"] if not demand["holds"]] == []
    assert found["ranges"] == 25
