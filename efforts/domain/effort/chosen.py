"""Chosen turns that a summary stands for, by the id that people and models use: turns-3-9."""

from __future__ import annotations

import re

from efforts.domain.effort.ageing import GAP

# As what something is expanded: its log, or the whole summary of it.
RAW, BODY = "raw", "body"
# Models spell it as people do.
ID = re.compile(rf"turns[{GAP}]+([1-9]\d{{0,8}})[{GAP}]+([1-9]\d{{0,8}})", re.IGNORECASE)


# What a conversation starts from stands for no turns of its own.
SEED = "seed"


def id_of(first: int, last: int) -> str:
    """No two that stand in one branch begin with the same turn."""
    return f"turns-{first}-{last}" if first else SEED


def span_of(id: str) -> tuple[int, int] | None:
    """Numbers of its first and last turn; None where it is no such id."""
    found = ID.fullmatch(id.strip())
    return (int(found[1]), int(found[2])) if found else None
