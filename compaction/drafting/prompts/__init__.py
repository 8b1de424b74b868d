"""What models are told that draft a summary, or check one."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from efforts.domain.text.canonical import sha256

DRAFTING = ("system", "draft", "overtaken")
CHECKING = ("system", "inventory", "half", "mapping")
# Seeds what is planted in checks. Not the version of the prompts: who changes one leaves the requests of the others,
# and what was answered to them, as they are.
DRAW_VERSION = "7cc9afa44f99"


@cache
def text_of(name: str) -> str:
    return (Path(__file__).parent / f"{name}.md").read_text(encoding="utf-8").strip()


@cache
def draft_version() -> str:
    """Of the texts themselves: nobody can change one and keep the other."""
    return version_of(DRAFTING)


@cache
def check_version() -> str:
    return sha256(version_of(CHECKING) + exam_text())[:12]


@cache
def exam_text() -> str:
    return (Path(__file__).parent / "exam.json").read_text(encoding="utf-8")


def version_of(names: tuple[str, ...]) -> str:
    return sha256("\n\n".join(text_of(name) for name in names))[:12]
