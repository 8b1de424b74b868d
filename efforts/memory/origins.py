"""Where a change to what is kept happens, and what was said that it comes from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.db.models import QuerySet

from efforts.domain.text.locating import Span
from efforts.models import Message

if TYPE_CHECKING:
    from django.contrib.auth.models import User


@dataclass(frozen=True, kw_only=True)
class Where:
    """What the events of a change carry: the turn it happened in or after, its branch, how it came about, and who did
    it."""

    turn: int
    branch: str
    via: str
    actor: User | None = None

    def fields(self) -> dict[str, Any]:
        return {"turn": self.turn, "branch": self.branch, "via": self.via}


@dataclass(frozen=True, kw_only=True)
class Origin:
    """The message that something kept comes from, and its words there, where it has them."""

    message: Message
    span: Span | None = None

    def fields(self) -> dict[str, Any]:
        start, end = (self.span.start, self.span.end) if self.span else (None, None)
        return {"source": self.message, "start": start, "end": end}


def overlapping(rows: QuerySet[Any], origin: Origin | None) -> QuerySet[Any]:
    """Those from the same words of the message."""
    if origin is None or origin.span is None:
        return rows.none()
    return rows.filter(source=origin.message, start__lt=origin.span.end, end__gt=origin.span.start)


def is_given_up(gone: QuerySet[Any], text: str, origin: Origin | None) -> bool:
    """Whether the person has ended this, and has not said it again since. `gone`: what was ended."""
    if overlapping(gone, origin).exists():
        return True
    last = gone.filter(text__iexact=text).order_by("-changed_at").first()
    said = origin.message.created_at if origin and origin.span else None
    return last is not None and (said is None or said < last.changed_at)
