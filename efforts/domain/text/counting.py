"""A number with its noun."""

from __future__ import annotations


def counted(number: int, one: str, several: str = "") -> str:
    """As people read it: "1 turn", "2 turns"."""
    return f"{number} {one if number == 1 else several or one + 's'}"
