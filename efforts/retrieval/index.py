"""The index follows the log: what is said is indexed in the transaction that stores it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import connection, transaction
from django.db.models import QuerySet

from efforts.domain.text.passages import spans_of
from efforts.domain.text.terms import terms_of
from efforts.llm.tokens import get_counter
from efforts.models import Frequency, Message, Passage, Session
from efforts.models.prepared import prepared

# Ids of passages tell their message: the last message that could be found bounds the passages that could.
PER_MESSAGE = 10_000
# Rows of one statement.
BATCH = 500
# Of SQLite's index, in one transaction: some 100 ms.
MERGED_PAGES = 500
# In the frequencies of a session the number of its passages.
ALL = ""


@transaction.atomic(savepoint=False)
def add_message(*, session_id: UUID, **fields: Any) -> Message:
    """One more entry of the log, indexed."""
    # Before it has its id: in a session ids are then committed in their order, and a snapshot stays what it was.
    owners = lock([session_id])
    row = Message.objects.create(session_id=session_id, **fields)
    index_locked([row], owners, Passage)
    return row


@transaction.atomic
def add_messages(rows: Sequence[Message]) -> None:
    """Many at once, each with its passages."""
    Message.objects.bulk_create(rows)
    index_messages(rows)


def index_messages(rows: Sequence[Message], passages: type[Passage] = Passage) -> None:
    """Index messages that are not indexed yet. `passages`: the model as the caller knows it."""
    index_locked(rows, lock({row.session_id for row in rows}), passages)


def index_locked(rows: Sequence[Message], owners: dict[UUID, int], passages: type[Passage]) -> None:
    made = [one for row in rows for one in passages_of(row, owners[row.session_id], passages)]
    passages.objects.bulk_create(made, batch_size=BATCH)
    add_frequencies(frequencies_of(made))


def lock(sessions: Iterable[UUID]) -> dict[UUID, int]:
    """The sessions' owners; in one order, or two writers would wait for each other."""
    return dict(locked(list(sessions)))


@prepared
def locked(sessions: list[UUID]) -> QuerySet[Session, tuple[UUID, int]]:
    rows = Session.objects.select_for_update().filter(pk__in=sessions).order_by("pk")
    return rows.values_list("pk", "owner_id")


def passages_of(row: Message, owner: int, passages: type[Passage] = Passage) -> Iterator[Passage]:
    """What a tool returned was said elsewhere, or never."""
    if row.role == Message.Role.TOOL:
        return
    for place, (start, end, terms) in enumerate(read_passages(row.text)):
        yield passages(
            id=row.pk * PER_MESSAGE + place,
            session_id=row.session_id,
            message_id=row.pk,
            start=start,
            end=end,
            length=len(terms),
            scope=padded([session_token(row.session_id), owner_token(owner)]),
            terms=padded(terms),
        )


# Of the texts that are being stored just now: reading four megabytes takes seconds, and is done before the transaction
# that would let everybody else wait (`read_ahead`).
@lru_cache(maxsize=4)
def read_passages(text: str) -> tuple[tuple[int, int, tuple[str, ...]], ...]:
    """Where each passage begins and ends, and its terms."""
    return tuple((start, end, tuple(terms_of(text[start:end]))) for start, end in at_most(spans_of(text), PER_MESSAGE))


def count_tokens(text: str) -> int:
    return _counted(text, settings.CCM_ENCODING)


@lru_cache(maxsize=4)
def _counted(text: str, encoding: str) -> int:
    return get_counter(encoding).count(text)


def read_ahead(text: str) -> None:
    """To be called before the transaction that stores a text."""
    read_passages(text)
    count_tokens(text)


def at_most(spans: list[tuple[int, int]], most: int) -> list[tuple[int, int]]:
    """The last one takes what would be more."""
    return spans if len(spans) <= most else [*spans[: most - 1], (spans[most - 1][0], spans[-1][1])]


def padded(terms: Sequence[str]) -> str:
    """So that `text.count(f" {term} ")` counts a term, also where it is said twice in a row."""
    return f" {'  '.join(terms)} " if terms else ""


def session_token(session_id: UUID) -> str:
    return f"s_{session_id.hex[:16]}"


def owner_token(owner: int) -> str:
    return f"o_{owner}"


Frequencies = Counter[tuple[UUID, str]]


def frequencies_of(rows: Iterable[Passage]) -> Frequencies:
    return Counter((row.session_id, term) for row in rows for term in {ALL, *row.terms.split()})


def add_frequencies(found: Frequencies) -> None:
    key = Session._meta.pk
    values = [(key.get_db_prep_value(session, connection), term, n) for (session, term), n in sorted(found.items())]
    table = Frequency._meta.db_table
    with connection.cursor() as cursor:
        for first in range(0, len(values), BATCH):
            some = values[first : first + BATCH]
            cursor.execute(
                f"INSERT INTO {table} (session_id, term, passages) VALUES {', '.join(['(%s, %s, %s)'] * len(some))} "
                f"ON CONFLICT (session_id, term) DO UPDATE SET passages = {table}.passages + excluded.passages",
                [value for row in some for value in row],
            )


def forget_deleted() -> None:
    """SQLite's index keeps the terms of what was deleted until its parts are merged; step by step, so that others can
    write meanwhile. Of PostgreSQL autovacuum takes care."""
    if connection.vendor == "sqlite":
        merge(-MERGED_PAGES)
        while merge(MERGED_PAGES):
            pass


def merge(pages: int) -> bool:
    """Whether there was anything to merge. A number below 0 begins with the whole index."""
    with connection.cursor() as cursor:
        before = connection.connection.total_changes
        cursor.execute("INSERT INTO efforts_passage_terms (efforts_passage_terms, rank) VALUES ('merge', %s)", [pages])
        # The command itself is counted as one change.
        return bool(connection.connection.total_changes - before > 1)
