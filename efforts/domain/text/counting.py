"""A number with its noun."""

from __future__ import annotations


def counted(number: int, one: str, several: str = "", *, form: str = "") -> str:
    """As people read it: "1 turn", "2 turns". `form`: of the number, as "," for "2,000 turns"."""
    return f"{number:{form}} {one if number == 1 else several or one + 's'}"
