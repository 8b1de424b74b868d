"""Commands on a machine where nothing is set up yet."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

ROOT = Path(__file__).parents[2]
COMMANDS = ("demo_seed", "proof_run", "verify_plans", "check_integrity", "run_turns", "rebuild_index", "tidy")


def test_without_a_database_a_command_says_in_one_line_what_to_do_first(tmp_path: Path) -> None:
    kept = {key: value for key, value in os.environ.items() if key not in ("DATABASE_URL", "REDIS_URL")}
    ran = subprocess.run(
        [sys.executable, "manage.py", "run_turns"],
        cwd=ROOT,
        env={**kept, "CCM_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 1
    assert ran.stderr.splitlines()[-1].endswith("First: python manage.py migrate")
    assert "Traceback" not in ran.stderr


@pytest.mark.django_db
@pytest.mark.parametrize("command", COMMANDS)
def test_on_a_database_of_an_older_version_each_command_says_the_same(command: str) -> None:
    newest = next(name for app, name in MigrationLoader(connection).graph.leaf_nodes() if app == "efforts")
    MigrationRecorder(connection).record_unapplied("efforts", newest)
    with pytest.raises(CommandError, match=r"First: python manage\.py migrate$"):
        call_command(command)
