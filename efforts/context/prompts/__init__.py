"""The texts that models are given, each in a file of its own."""

from __future__ import annotations

from functools import cache
from pathlib import Path


# Read once: two calls of a turn must not be sent two texts because the file was edited in between.
@cache
def text_of(name: str) -> str:
    return (Path(__file__).parent / f"{name}.md").read_text().strip()


def system_text() -> str:
    return text_of("system")
