"""`manage.py` in a process of its own, with nothing of this one's settings."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def manage(*arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        _command(arguments), cwd=ROOT, env=_environment(settings), capture_output=True, text=True, timeout=60
    )


def start(*arguments: str, **settings: str) -> subprocess.Popen[str]:
    pipe = subprocess.PIPE
    return subprocess.Popen(
        _command(arguments), cwd=ROOT, env=_environment(settings), stdout=pipe, stderr=subprocess.STDOUT, text=True
    )


def _command(arguments: tuple[str, ...]) -> list[str]:
    return [sys.executable, "-u", "manage.py", *arguments]


def _environment(settings: dict[str, str]) -> dict[str, str]:
    ours = ("CCM_", "DATABASE_URL", "REDIS_URL", "DJANGO_")
    return {name: value for name, value in os.environ.items() if not name.startswith(ours)} | settings
