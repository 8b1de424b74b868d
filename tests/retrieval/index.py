"""The index that ought to be there, made anew from the log."""

from __future__ import annotations

from collections import Counter

from django.db import connection

from efforts.models import Frequency, Message, Passage
from efforts.retrieval.index import frequencies_of, passages_of


def assert_index_is_whole() -> None:
    """Nothing is missing, nothing too much, whatever was done."""
    rows = Message.objects.select_related("session")
    ought = [passage for row in rows for passage in passages_of(row, row.session.owner_id)]
    assert {row.pk: values(row) for row in Passage.objects.all()} == {row.pk: values(row) for row in ought}
    counts = {(row.session_id, row.term): row.passages for row in Frequency.objects.all()}
    assert Counter(counts) == frequencies_of(ought)
    if connection.vendor == "sqlite":
        with connection.cursor() as cursor:
            cursor.execute(
                "INSERT INTO efforts_passage_terms (efforts_passage_terms, rank) VALUES ('integrity-check', 1)"
            )


def values(row: Passage) -> tuple[object, ...]:
    return (row.session_id, row.message_id, row.start, row.end, row.length, row.scope, row.terms)
