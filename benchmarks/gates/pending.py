"""Requests that wait for an answer, as files for whoever answers them, and the answers as files."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from compaction.drafting.requesting import Request

from .cases import Unreadable
from .record import Record, read_record

KEY_LENGTH = 64


@dataclass(frozen=True, kw_only=True)
class Pending:
    """`log`: which log it is about, so that requests about one log can go to different readers."""

    step: str
    log: str
    request: Request


def export(pending: Iterable[Pending], folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for one in pending:
        (folder / f"{one.request.key}.md").write_text(text_of(one), encoding="utf-8")


def text_of(one: Pending) -> str:
    parts = [f"<!-- step: {one.step} | log: {one.log} -->"]
    parts += [said_by(said["role"], said["content"]) for said in one.request.messages]
    return "\n\n".join(parts) + "\n"


def said_by(role: str, text: str) -> str:
    """A message of a request, as whoever answers it reads it."""
    return f"===== {role.upper()} =====\n\n{text}"


def record_at(path: Path, *, answers: Path | None, by: str) -> Record:
    """The record, with the answers that are given, which it keeps. Raises `Unreadable`."""
    record = read_record(path)
    if answers is None:
        return record
    if not by:
        raise Unreadable("Say who gave the answers: --by NAME")
    record = record.with_answers(answers_in(answers), by)
    record.write(path)
    return record


def answers_in(folder: Path) -> dict[str, str]:
    """By the keys of their requests. Raises `Unreadable`."""
    paths = sorted(path for path in folder.glob("*") if path.suffix in (".json", ".txt"))
    if not paths:
        raise Unreadable(f"{folder} has no answers: there should be files named by the keys of their requests.")
    if wrong := [path.name for path in paths if len(path.stem) != KEY_LENGTH]:
        raise Unreadable(f"{folder}: {wrong[0]} is not named by the key of a request.")
    return {path.stem: path.read_text(encoding="utf-8").strip() for path in paths}
