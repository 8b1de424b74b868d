"""Files in the composer: added, taken away, and sent with a message."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from hashlib import sha256
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import Max, QuerySet, Sum
from django.utils import timezone

from efforts.domain.errors import Refused
from efforts.domain.prompt.conversation import MESSAGE_OVERHEAD
from efforts.domain.prompt.pictures import tokens_of
from efforts.domain.text.files import MOST_TEXT, clean_name, size_words
from efforts.log import events
from efforts.models import Message, MessageFile, Session, Turn
from efforts.retrieval.index import add_message, count_tokens, read_ahead

from . import storing
from .reading import read_file

if TYPE_CHECKING:
    from django.contrib.auth.models import User

# Days that a file waits in a composer.
UNSENT_DAYS = 30
GONE = "A file of this message is not in the composer any more. Look at what is there, and send it again."


def waiting_files(session: Session) -> QuerySet[MessageFile]:
    """What was added and not sent yet, oldest first."""
    return MessageFile.objects.filter(session=session, message=None).order_by("created_at", "pk")


def add_file(session: Session, *, name: str, data: bytes, actor: User) -> MessageFile:
    """Read and keep a file for the next message. Raises `Refused` with words where that cannot be done; then nothing of
    it is kept."""
    name = clean_name(name)
    check_size(len(data))
    check_room(session, len(data), 0)
    # Before the transaction: reading may take seconds.
    read = read_file(name, data)
    tokens = count_tokens(read.text) + (tokens_of(read.picture) if read.picture else 0)
    sha = sha256(read.kept).hexdigest()
    # On the disk before a row names it, so that the lock is not held while it is written.
    with storing.written(session.pk, read.kept) as draft, transaction.atomic():
        # One after the other, or two that come at once would both be the last that fits.
        Session.objects.select_for_update().get(pk=session.pk)
        check_room(session, len(read.kept), len(read.text))
        row = MessageFile.objects.create(
            session=session,
            name=name,
            kind=read.kind,
            media_type=read.media_type,
            size=len(data),
            stored=len(read.kept),
            sha256=sha,
            text=read.text,
            picture=read.picture,
            tokens=tokens,
        )
        events.append(session.pk, "file.added", about(row), actor=actor)
        storing.keep(session.pk, draft, sha)
    return row


def about(row: MessageFile) -> dict[str, Any]:
    return {"file": str(row.pk), "name": row.name, "file_kind": row.kind, "size": row.size, "tokens": row.tokens}


def check_size(size: int) -> None:
    """Raises `Refused` where a file has more bytes than one may have."""
    if size > settings.CCM_FILE_BYTES:
        most = size_words(settings.CCM_FILE_BYTES)
        raise Refused("file_too_large", f"The file has {size_words(size)}; {most} is the most.")


def check_room(session: Session, size: int, length: int) -> None:
    """Raises `Refused` where one more file of `size` bytes and `length` characters would be too much."""
    waiting = list(waiting_files(session))
    if len(waiting) >= settings.CCM_FILES_PER_MESSAGE:
        raise Refused("too_many_files", f"A message may have {settings.CCM_FILES_PER_MESSAGE} files. Send these first.")
    together = length + sum(len(row.text) for row in waiting)
    # One file may have as much, with its name.
    if waiting and together > MOST_TEXT:
        raise Refused(
            "file_text",
            f"With it the files of this message have {together:,} characters of text; {MOST_TEXT:,} is the most. "
            "Send the others first.",
        )
    # A message that is said anew shares the bytes of its files.
    contents = MessageFile.objects.filter(session__owner=session.owner_id).order_by().values("session", "sha256")
    kept = contents.annotate(bytes=Max("stored")).aggregate(sum=Sum("bytes", default=0))["sum"]
    if kept + size > settings.CCM_PERSON_FILE_BYTES:
        most = size_words(settings.CCM_PERSON_FILE_BYTES)
        raise Refused(
            "files_full", f"Your files have {size_words(kept)}; {most} is the most. Delete a conversation with files."
        )


def remove_file(session: Session, file_id: UUID, *, actor: User) -> None:
    """Out of the composer; its bytes go. Raises `Refused` where it was sent meanwhile. Removed twice it is gone."""
    with transaction.atomic():
        row = MessageFile.objects.select_for_update().filter(session=session, pk=file_id).first()
        if row is None:
            return
        if row.message_id is not None:
            raise Refused("overtaken", "This file was sent already.")
        row.delete()
        events.append(session.pk, "file.removed", {"file": str(file_id), "name": row.name}, actor=actor)
    forget_unused(session.pk, row.sha256)


def forget_unused(session_id: UUID, sha: str) -> None:
    """The bytes, where no file of the conversation is of them any more."""
    with transaction.atomic():
        # Or they could go between the row and the bytes of one that is added now.
        Session.objects.select_for_update().filter(pk=session_id).first()
        if not MessageFile.objects.filter(session=session_id, sha256=sha).exists():
            storing.forget(session_id, sha)


def forget_unsent() -> int:
    """Files that nobody has sent for `UNSENT_DAYS` days; how many they were."""
    old = MessageFile.objects.filter(message=None, created_at__lt=timezone.now() - timedelta(days=UNSENT_DAYS))
    rows = list(old.select_related("session__owner"))
    for row in rows:
        remove_file(row.session, row.pk, actor=row.session.owner)
    return len(rows)


def put_back_files(session: Session, turn: Turn, *, actor: User) -> list[MessageFile]:
    """The files of a message that is said anew are in the composer again; those that are there already, once."""
    with transaction.atomic():
        there = set(waiting_files(session).values_list("name", "sha256"))
        rows = [row for row in copies_of(turn) if (row.name, row.sha256) not in there]
        for row in rows:
            check_room(session, 0, len(row.text))
            row.save()
            events.append(session.pk, "file.added", about(row), actor=actor)
    return rows


def names_of(session: Session, ids: Sequence[UUID]) -> str:
    """What a message of files alone says."""
    names = dict(waiting_files(session).filter(pk__in=ids).values_list("pk", "name"))
    return ", ".join(names[one] for one in dict.fromkeys(ids) if one in names)


def read_files_ahead(session: Session, ids: Sequence[UUID]) -> None:
    """To be called before the transaction that sends them."""
    if not ids:
        return
    for row in MessageFile.objects.filter(session=session, pk__in=ids[: settings.CCM_FILES_PER_MESSAGE]):
        read_ahead(row.text)


def to_send(session: Session, ids: Sequence[UUID]) -> list[MessageFile]:
    """In the order of the ids. Raises `Refused` where one is not in the composer any more, or they are too many."""
    if not ids:
        return []
    if len(ids) > settings.CCM_FILES_PER_MESSAGE:
        raise Refused("too_many_files", f"A message may have {settings.CCM_FILES_PER_MESSAGE} files.")
    rows = MessageFile.objects.select_for_update().filter(session=session, message=None).in_bulk(ids)
    if len(rows) != len(set(ids)):
        raise Refused("file_gone", GONE)
    return [rows[one] for one in dict.fromkeys(ids)]


def copies_of(turn: Turn) -> list[MessageFile]:
    """Of the files of a turn, for another one that says the same: the bytes are shared, the words are its own."""
    rows = MessageFile.objects.filter(message__turn=turn).select_related("message").order_by("message")
    shared = ("session_id", "name", "kind", "media_type", "size", "stored", "sha256", "picture", "tokens")
    return [
        MessageFile(**{name: getattr(row, name) for name in shared}, text=row.message.text)
        for row in rows
        if row.message
    ]


def add_to_turn(turn: Turn, rows: Sequence[MessageFile]) -> int:
    """Each is a message of the turn from now on; the tokens of all of them."""
    for row in rows:
        row.message = add_message(
            session_id=turn.session_id,
            turn=turn,
            role=Message.Role.FILE,
            text=row.text,
            picture=row.picture,
            tokens=row.tokens,
        )
        # The log has it now: nothing is stored twice.
        row.text = ""
        row.save()
    return sum(row.tokens + MESSAGE_OVERHEAD for row in rows)
