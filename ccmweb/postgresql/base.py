"""Django's backend, for statements of any number of values.

Values are sent beside a statement, so that its plan can be kept (`environment.database`); the protocol counts them in
two bytes. What Django asks as it deletes a long conversation has more.
"""

from __future__ import annotations

from typing import Any

from django.db.backends.postgresql import base
from psycopg import ClientCursor
from psycopg import Cursor as PlainCursor

MOST_VALUES = 2**16 - 1


# The stubs do not say that the one is the other.
class Cursor(base.ServerBindingCursor, PlainCursor[Any]):
    def execute(self, query: Any, params: Any = None, **options: Any) -> Any:
        """What has more values has them written into the statement."""
        if params is not None and len(params) > MOST_VALUES:
            query, params = ClientCursor(self.connection).mogrify(query, params), None
        return super().execute(query, params, **options)


class DatabaseWrapper(base.DatabaseWrapper):
    def get_connection_params(self) -> dict[str, Any]:
        params = super().get_connection_params()
        binds_at_the_server = params["cursor_factory"] is base.ServerBindingCursor
        return {**params, "cursor_factory": Cursor} if binds_at_the_server else params
