"""Readers that run as processes of their own, bounded in time and memory."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

READER = Path(__file__).parent / "reader.py"
# Of the whole, start and all; on a busy machine a process starts late.
SECONDS = 60


def run(what: str, *arguments: object) -> dict[str, Any]:
    """What it printed; {"fault": "too_much"} where it took too much time or memory, and {"fault": "damaged"} where it
    ended without an answer."""
    try:
        done = subprocess.run(
            # Isolated: nothing beside it, and nothing of the environment, changes what it imports.
            [sys.executable, "-I", str(READER), what, *map(str, arguments)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return {"fault": "too_much"}
    # A signal ends what uses up its time.
    if done.returncode < 0:
        return {"fault": "too_much"}
    try:
        answer: dict[str, Any] = json.loads(done.stdout)
    except ValueError:
        return {"fault": "damaged"}
    return answer
