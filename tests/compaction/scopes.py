"""Scopes as sources, by who says what."""

from __future__ import annotations

from efforts.domain.source_text import Part, Source, SourcePart, normal


def scope(*said: tuple[str, str]) -> Source:
    """Messages as (role, text); each of the user's begins a turn."""
    parts = []
    turn = 0
    for number, (role, text) in enumerate(said, start=1):
        turn += role == "user"
        part = Part.RESULT if role == "tool" else Part.TEXT
        parts.append(SourcePart(message=number, turn=max(turn, 1), role=role, part=part, text=normal(text)))  # type: ignore[arg-type]
    return Source(parts=tuple(parts))


def talk(*said: str) -> Source:
    """A meeting: each message begins with who speaks."""
    return scope(*(("user", text) for text in said))


def words(text: str) -> int:
    """Counted coarsely: a third of the characters."""
    return len(text) // 3
