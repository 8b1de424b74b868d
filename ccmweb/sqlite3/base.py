"""Django's backend, for which “Über” and “über” are one where case does not count, as for PostgreSQL.

SQLite itself knows the case of English letters alone.
"""

from __future__ import annotations

from typing import Any

from django.db.backends.sqlite3 import base, operations

WITHOUT_CASE = ("iexact", "icontains", "istartswith", "iendswith")


def lowered(value: Any) -> Any:
    return value.lower() if isinstance(value, str) else value


class DatabaseOperations(operations.DatabaseOperations):
    def lookup_cast(self, lookup_type: str, internal_type: str | None = None) -> str:
        return "LOWERED(%s)" if lookup_type in WITHOUT_CASE else super().lookup_cast(lookup_type, internal_type)


class DatabaseWrapper(base.DatabaseWrapper):
    ops_class = DatabaseOperations
    operators = {
        **base.DatabaseWrapper.operators,
        **dict.fromkeys(WITHOUT_CASE, "LIKE LOWERED(%s) ESCAPE '\\'"),
    }

    def get_new_connection(self, conn_params: Any) -> Any:
        connection = super().get_new_connection(conn_params)
        connection.create_function("LOWERED", 1, lowered, deterministic=True)
        return connection
