"""`manage.py` in a process of its own, with nothing of this one's settings."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

ROOT = Path(__file__).resolve().parents[2]


def manage(*arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
    # Long enough for a busy machine; what hangs ends.
    return subprocess.run(
        _command(arguments), cwd=ROOT, env=environment(settings), capture_output=True, text=True, timeout=600
    )


def start(*arguments: str, **settings: str) -> subprocess.Popen[str]:
    pipe = subprocess.PIPE
    return subprocess.Popen(
        _command(arguments), cwd=ROOT, env=environment(settings), stdout=pipe, stderr=subprocess.STDOUT, text=True
    )


class Killable(Protocol):
    def kill(self) -> None: ...


@contextmanager
def killed_after(seconds: float, process: Killable) -> Iterator[None]:
    """Who reads what a process says would wait for ever for one that neither says anything nor ends."""
    timer = threading.Timer(seconds, process.kill)
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _command(arguments: tuple[str, ...]) -> list[str]:
    return [sys.executable, "-u", "manage.py", *arguments]


def environment(settings: dict[str, str]) -> dict[str, str]:
    ours = ("CCM_", "DATABASE_URL", "REDIS_URL", "DJANGO_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    # Each first reply would be followed by a call that no script has.
    return {**kept, "CCM_MODEL_TITLES": "off", **settings}
