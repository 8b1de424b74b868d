"""The two databases' own indexes of terms: the passages that hold what is asked for, newest first.

Terms are values and never syntax: in SQLite's query language each stands in quotes, which no term can hold, and
PostgreSQL compares arrays.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.db import connection

# As the index has it, word for word: migration 0009.
TERMS = "string_to_array(btrim(scope || terms), '  ')"


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """All of `every`, which is not empty, and at least one of `some` where there are any; in how many passages at
    most."""

    every: tuple[str, ...]
    some: tuple[str, ...] = ()
    passages: int


def newest(wanted: Wanted, *, below: int, most: int) -> list[int]:
    """The ids of passages under `below`, the newest first."""
    with connection.cursor() as cursor:
        cursor.execute(*sql_of(wanted, below, most))
        return [id for (id,) in cursor.fetchall()]


def sql_of(wanted: Wanted, below: int, most: int) -> tuple[str, list[Any]]:
    if connection.vendor == "sqlite":
        return IN_SQLITE, [match(wanted), below, most]
    some = [list(wanted.some)] if wanted.some else []
    holding = f"{TERMS} @> %s::text[]" + (f" AND {TERMS} && %s::text[]" if some else "")
    return IN_POSTGRESQL.format(holding=holding), [list(wanted.every), *some, below, most]


IN_SQLITE = """
    SELECT rowid FROM efforts_passage_terms
    WHERE efforts_passage_terms MATCH %s AND rowid < %s ORDER BY rowid DESC LIMIT %s
"""
# Materialised: the planner would else walk through all passages from the newest on, where it expects many matches.
IN_POSTGRESQL = """
    WITH found AS MATERIALIZED (SELECT id FROM efforts_passage WHERE {holding} AND id < %s)
    SELECT id FROM found ORDER BY id DESC LIMIT %s
"""


def match(wanted: Wanted) -> str:
    some = [f"({' OR '.join(map(quoted, wanted.some))})"] if wanted.some else []
    return " AND ".join([*map(quoted, wanted.every), *some])


def quoted(term: str) -> str:
    return '"' + term.replace('"', '""') + '"'
