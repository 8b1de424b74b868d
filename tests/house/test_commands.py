"""Commands on a machine where nothing is set up yet."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("command", ["demo_seed", "proof_run", "verify_plans", "run_turns", "rebuild_index"])
def test_without_a_database_a_command_says_in_one_line_what_to_do_first(command: str, tmp_path: Path) -> None:
    kept = {key: value for key, value in os.environ.items() if key not in ("DATABASE_URL", "REDIS_URL")}
    ran = subprocess.run(
        [sys.executable, "manage.py", *command.split()],
        cwd=ROOT,
        env={**kept, "CCM_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 1
    assert ran.stderr.splitlines()[-1].endswith("First: python manage.py migrate")
    assert "Traceback" not in ran.stderr
