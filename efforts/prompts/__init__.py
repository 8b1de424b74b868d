"""The texts that models are given, each in a file of its own."""

from __future__ import annotations

from functools import cache
from pathlib import Path


# Read once: two calls of a turn must not be sent two texts because the file was edited in between.
@cache
def system_text() -> str:
    return (Path(__file__).parent / "system.md").read_text().strip()
