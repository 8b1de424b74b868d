"""Where one is led to in the log: the message, how far down in it, and the words that are marked there."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from efforts.domain.text.counting import number_in
from efforts.domain.text.terms import LONGEST_TERM, MOST_QUERY_TERMS
from efforts.models import Branch, Message, Passage

# Digits, of a passage.
LONGEST_ID = 18


@dataclass(frozen=True, kw_only=True)
class InMessage:
    """`at`: where the middle of a passage lies, from 0 to 1; a page shows a message rendered, so nothing finer."""

    message: int
    role: str
    at: float

    @classmethod
    def of(cls, message: Message, start: int, end: int) -> InMessage:
        at = (start + end) / 2 / max(len(message.text), 1)
        return cls(message=message.pk, role=message.role, at=round(at, 4))


def as_json(turn: int, place: InMessage, marked: Sequence[str]) -> str:
    """As the page's script reads it."""
    return json.dumps(
        {"turn": turn, "message": place.message, "role": place.role, "at": place.at, "marks": list(marked)}
    )


def found_here(branch: Branch, passage: str, marked: Sequence[str]) -> str:
    """What an address asks to be shown; empty where it is nothing of this conversation."""
    pk = number_in(passage, digits=LONGEST_ID) or 0
    row = Passage.objects.filter(session=branch.session_id, pk=pk).select_related("message__turn").first()
    if row is None:
        return ""
    words = [word[:LONGEST_TERM] for word in marked[:MOST_QUERY_TERMS]]
    return as_json(row.message.turn.number, InMessage.of(row.message, row.start, row.end), words)
