"""The texts that models are given, each in a file of its own."""

from __future__ import annotations

from functools import cache
from pathlib import Path


@cache
def system_text() -> str:
    return (Path(__file__).parent / "system.md").read_text().strip()
