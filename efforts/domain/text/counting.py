"""Numbers: with their nouns, and as people type them."""

from __future__ import annotations


def counted(number: int, one: str, several: str = "", *, form: str = "") -> str:
    """As people read it: "1 turn", "2 turns". `form`: of the number, as "," for "2,000 turns"."""
    return f"{number:{form}} {one if number == 1 else several or one + 's'}"


def number_in(text: str | None, *, digits: int = 9) -> int | None:
    """None where the text is no number, or one of more digits: no column holds more, and Python reads no more than some
    thousands."""
    return int(text) if text and text.isdecimal() and len(text) <= digits else None
