"""The turns that a summary is made of, and stands for."""

from __future__ import annotations

from dataclasses import dataclass

from efforts.domain.prompt.conversation import PastTurn
from efforts.domain.text.source_text import Source


@dataclass(frozen=True, kw_only=True)
class SourceLog:
    """Finished turns of one branch, oldest first; `turn_ids` are their rows."""

    turns: tuple[PastTurn, ...]
    turn_ids: tuple[int, ...]
    source: Source
