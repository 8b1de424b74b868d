"""Files of messages, as pages show them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db.models import F

from efforts.context.connections import KeyUnreadable, choose
from efforts.domain.prompt.pictures import tokens_of
from efforts.domain.text.files import size_words
from efforts.models import MessageFile, Session, Turn

ICONS = {"text": "file", "pdf": "file", "picture": "picture"}


@dataclass(frozen=True, kw_only=True)
class FileView:
    id: UUID
    name: str
    kind: str
    size: str
    tokens: int
    # That has its text in the log, where it was sent.
    message: int | None = None

    @property
    def icon(self) -> str:
        return ICONS[self.kind]

    @property
    def is_picture(self) -> bool:
        return self.kind == "picture"


@dataclass(frozen=True, kw_only=True)
class Refusal:
    """A file that was not taken, and why."""

    name: str
    text: str


def waiting_views(session: Session) -> tuple[FileView, ...]:
    """Those in the composer, oldest first, with what each will cost: of a picture that is not seen its name alone."""
    # Their text may be long, and is shown nowhere there.
    rows = MessageFile.objects.filter(session=session, message=None).defer("text").order_by("created_at", "pk")
    sees = sees_pictures(session)
    return tuple(replace(file_view(row), tokens=row.tokens - unseen_tokens(row, sees)) for row in rows)


def unseen_tokens(row: MessageFile, sees: bool) -> int:
    return tokens_of(row.picture) if row.picture and not sees else 0


def in_composer(session: Session) -> dict[str, Any]:
    """What the composer shows of files. `unseen`: there is a picture among them, and the model sees none."""
    files = waiting_views(session)
    return {
        "files": files,
        "unseen": any(file.is_picture for file in files) and not sees_pictures(session),
        **limits(),
    }


def limits() -> dict[str, Any]:
    """The most that one file may have."""
    return {"file_bytes": settings.CCM_FILE_BYTES, "file_most": size_words(settings.CCM_FILE_BYTES)}


def sees_pictures(session: Session) -> bool:
    try:
        return choose(session).sees_pictures
    # The page must open all the same: the settings that mend it are reached from there.
    except KeyUnreadable:
        return False


def sent_views(turns: Sequence[Turn]) -> dict[int, tuple[FileView, ...]]:
    """By their turns' ids."""
    rows = MessageFile.objects.filter(message__turn__in=turns).annotate(turn=F("message__turn")).defer("text")
    found: dict[int, tuple[FileView, ...]] = {}
    for row in rows.order_by("message"):
        found[row.turn] = (*found.get(row.turn, ()), file_view(row))
    return found


def file_view(row: MessageFile) -> FileView:
    size = size_words(row.size)
    return FileView(id=row.pk, name=row.name, kind=row.kind, size=size, tokens=row.tokens, message=row.message_id)


def together(refusals: Iterable[Refusal]) -> str:
    return " ".join(f"{one.name}: {one.text}" for one in refusals)
