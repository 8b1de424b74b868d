"""Files of messages, as pages show them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.db.models import F

from efforts.actions.files.composer import waiting_files
from efforts.context.connections import KeyUnreadable, choose
from efforts.domain.prompt.pictures import tokens_of
from efforts.domain.text.files import size_words
from efforts.models import MessageFile, Session, Turn


@dataclass(frozen=True, kw_only=True)
class Refusal:
    """A file that was not taken, and why."""

    name: str
    text: str


def waiting_views(session: Session) -> list[MessageFile]:
    """Those in the composer, oldest first, with what each will cost: of a picture that is not seen its name alone."""
    # Their text may be long, and is shown nowhere there.
    rows = list(waiting_files(session).defer("text"))
    if not sees_pictures(session):
        for row in rows:
            row.tokens -= tokens_of(row.picture) if row.picture else 0
    return rows


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


def sent_views(turns: Sequence[Turn]) -> dict[int, list[MessageFile]]:
    """By their turns' ids."""
    rows = MessageFile.objects.filter(message__turn__in=turns).annotate(turn=F("message__turn")).defer("text")
    found: dict[int, list[MessageFile]] = {}
    for row in rows.order_by("message"):
        found.setdefault(row.turn, []).append(row)
    return found


def together(refusals: Iterable[Refusal]) -> str:
    return " ".join(f"{one.name}: {one.text}" for one in refusals)
