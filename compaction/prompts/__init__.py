"""What models are told that draft an artifact, or judge one."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from efforts.domain.canonical import sha256


@cache
def draft_text() -> str:
    return (Path(__file__).parent / "draft.md").read_text().strip()


@cache
def judge_text() -> str:
    return (Path(__file__).parent / "judge.md").read_text().strip()


@cache
def prompt_version() -> str:
    """Of the text itself: nobody can change one and keep the other."""
    return sha256(draft_text())[:12]


@cache
def judge_version() -> str:
    return sha256(judge_text())[:12]
