"""What a command printed: as a page shows it, and the end of it as a model is told."""

from __future__ import annotations

import re
from collections.abc import Callable

# Colours, cursor and titles of a terminal, and letters that print nothing.
ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])")
UNPRINTED = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
# A line that is drawn anew, such as a bar of progress: what stood last is what was seen.
REDRAWN = re.compile(r"^[^\n]*\r(?!\n)", re.MULTILINE)
LONGEST_LINE = 300


def printed(data: bytes) -> str:
    """As a terminal would show it at last: without colours, and of lines that were drawn over the last."""
    text = ESCAPES.sub("", data.decode(errors="replace"))
    return UNPRINTED.sub("", REDRAWN.sub("", text.replace("\r\n", "\n")))


def tail(text: str, lines: int, tokens: int, count: Callable[[str], int]) -> str:
    """Its last lines, as many as fit; what a summary of tests says stands there."""
    kept: list[str] = []
    for line in reversed(text.rstrip().split("\n")):
        short = line.rstrip() if len(line) <= LONGEST_LINE else f"{line[:LONGEST_LINE]} …"
        tokens -= count(short) + 1
        if len(kept) == lines or (tokens < 0 and kept):
            break
        kept.append(short)
    return "\n".join(reversed(kept)).strip("\n")
