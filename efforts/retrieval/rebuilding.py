"""The index compared with the log and mended, a little at a time: people go on talking meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from uuid import UUID

from django.db import DatabaseError, connection, transaction

from efforts.models import Frequency, Message, Passage, Session, VectorCodes, VectorIndex

from .index import BATCH, PER_MESSAGE, add_frequencies, frequencies_of, lock, passages_of
from .vectors import forget, write_codes

VALUES = ("session_id", "message_id", "start", "end", "length", "scope", "terms")


@dataclass(kw_only=True)
class Rebuilt:
    """What was looked at, and of it what was wrong."""

    sessions: int = 0
    messages: int = 0
    passages: int = 0  # missing, different or too many
    frequencies: int = 0  # sessions whose counts were wrong
    terms: bool = False  # SQLite's own index


def rebuild(tell: Callable[[Rebuilt], object] = lambda done: None, *, only: UUID | None = None) -> Rebuilt:
    """Of all conversations, or of one."""
    done = Rebuilt()
    sessions = Session.objects.filter(pk=only) if only else Session.objects.all()
    for session in list(sessions.order_by("pk").values_list("pk", flat=True)):
        after = 0
        while after >= 0:
            after = mend_messages(session, after, done)
            tell(done)
        mend_frequencies(session, done)
        done.sessions += 1
    done.terms = mend_terms()
    return done


@transaction.atomic
def mend_messages(session: UUID, after: int, done: Rebuilt) -> int:
    """The next messages of a session; the last one's id, or -1 where there is none."""
    owners = lock([session])
    rows = list(Message.objects.filter(session=session, pk__gt=after).order_by("pk")[:BATCH])
    span = Passage.objects.filter(session=session, pk__gte=(after + 1) * PER_MESSAGE)
    # Under the lock nothing comes behind the last one, so what stands there belongs to no message.
    there = by_id(span.filter(pk__lt=(rows[-1].pk + 1) * PER_MESSAGE) if rows else span)
    ought = by_id(one for row in rows for one in passages_of(row, owners[session]))
    wrong = [pk for pk, row in there.items() if pk not in ought or values(row) != values(ought[pk])]
    Passage.objects.filter(pk__in=wrong).delete()
    if first := min([*wrong, *(pk for pk in ought if pk not in there)], default=0):
        VectorIndex.objects.filter(session=session, through__gte=first).update(through=first - 1)
        VectorCodes.objects.filter(session=session, last__gte=first).delete()
        # Of those before it in the same row; the others are written with the vectors that are missing now.
        for model in VectorIndex.objects.filter(session=session).exclude(model="").values_list("model", flat=True):
            write_codes(session, model, through=first - 1)
        forget(session)
    missing = [row for pk, row in ought.items() if pk not in there or pk in wrong]
    Passage.objects.bulk_create(missing, batch_size=BATCH)
    done.messages += len(rows)
    done.passages += len({*wrong, *(row.pk for row in missing)})
    return rows[-1].pk if rows else -1


def by_id(rows: Iterable[Passage]) -> dict[int, Passage]:
    return {row.pk: row for row in rows}


def values(row: Passage) -> tuple[object, ...]:
    return tuple(getattr(row, name) for name in VALUES)


@transaction.atomic
def mend_frequencies(session: UUID, done: Rebuilt) -> None:
    lock([session])
    ought = frequencies_of(Passage.objects.filter(session=session).only("session_id", "terms"))
    rows = Frequency.objects.filter(session=session)
    if {(row.session_id, row.term): row.passages for row in rows} != ought:
        rows.delete()
        add_frequencies(ought)
        done.frequencies += 1


def mend_terms() -> bool:
    """SQLite's index beside the passages: whether it had to be made anew. PostgreSQL keeps its own as it keeps rows."""
    if connection.vendor != "sqlite":
        return False
    with connection.cursor() as cursor:
        try:
            with transaction.atomic():
                cursor.execute(COMMAND, ["integrity-check", 1])
        except DatabaseError:
            cursor.execute(COMMAND, ["rebuild", 0])
            return True
    return False


# Beside the check's name: whether the terms of the passages are compared too.
COMMAND = "INSERT INTO efforts_passage_terms (efforts_passage_terms, rank) VALUES (%s, %s)"
