"""What a model is told that drafts an artifact."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from efforts.domain.canonical import sha256


@cache
def draft_text() -> str:
    return (Path(__file__).parent / "draft.md").read_text().strip()


@cache
def prompt_version() -> str:
    """Of the text itself: nobody can change one and keep the other."""
    return sha256(draft_text())[:12]
