"""Rows that the product takes long to make and many tests begin with: made once, then put back.

Only where they would come out alike: what is in the database must be what it was, key for key, and so must whatever
else the caller says that it depends on. Only in tests whose transaction is taken back, and on SQLite, which numbers
rows on from the largest by itself.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from hashlib import sha256
from time import monotonic
from typing import Any, TypeVar

from django.conf import settings
from django.db import connection

T = TypeVar("T")
Rows = dict[str, list[tuple[Any, ...]]]

# Pages say how long ago something was, to the minute.
KEPT_SECONDS = 40.0
# The tests' own accounts, and the index, which follows from what it is of.
LEFT_ALONE = ("auth_", "django_", "sqlite_", "axes_", "efforts_passage_terms", "workspaces_symbol_terms")

_seen: dict[str, float] = {}
_made: dict[str, tuple[float, Rows, Any]] = {}


def remembered(what: object, make: Callable[[], T], url: str) -> T:
    """What `make` returns, which must be plain values; its rows are there. `url`: the address of the test's provider.

    What is asked for once only is not kept.
    """
    if connection.vendor != "sqlite" or not connection.in_atomic_block:
        return make()
    now = monotonic()
    key = digest(what, rows(url))
    if key in _made and now - _made[key][0] < KEPT_SECONDS:
        _, after, told = _made[key]
        put_back(after, url)
        return told  # type: ignore[no-any-return]
    told = make()
    if key in _seen and now - _seen[key] < KEPT_SECONDS:
        _made[key] = (now, rows(url), told)
    _seen[key] = now
    return told


def digest(what: object, before: Rows) -> str:
    set_to = {name: getattr(settings, name) for name in dir(settings) if name.startswith("CCM_")}
    return sha256(repr((what, set_to, before)).encode()).hexdigest()


@cache
def columns() -> dict[str, str]:
    with connection.cursor() as cursor:
        tables = [name for name in connection.introspection.table_names(cursor) if not name.startswith(LEFT_ALONE)]
        described = {name: connection.introspection.get_table_description(cursor, name) for name in tables}
    # The sign keeps a value as it is stored: of a bare column the driver makes a date or a boolean.
    return {name: ", ".join(f'+"{one.name}"' for one in described[name]) for name in tables}


def rows(url: str) -> Rows:
    database = connection.connection
    found = {name: database.execute(f'SELECT {of} FROM "{name}"').fetchall() for name, of in columns().items()}
    return {name: [tuple(swapped(row, url, "{url}")) for row in some] for name, some in found.items() if some}


def put_back(after: Rows, url: str) -> None:
    database = connection.connection
    for name in columns():
        database.execute(f'DELETE FROM "{name}"')
    for name, some in after.items():
        places = ", ".join("?" * len(some[0]))
        database.executemany(f'INSERT INTO "{name}" VALUES ({places})', [swapped(row, "{url}", url) for row in some])


def swapped(row: tuple[Any, ...], one: str, other: str) -> list[Any]:
    return [value.replace(one, other) if isinstance(value, str) else value for value in row]
