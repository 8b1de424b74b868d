"""Queries that every turn asks, built once in a process.

Django builds and compiles a query each time it is asked, which takes several times as long as SQLite or PostgreSQL take
to answer. `prepared` keeps the SQL of one, with a place for each value that a call gives; it keeps no row.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from copy import copy
from datetime import datetime
from functools import lru_cache, wraps
from typing import Any, Generic, ParamSpec, Self, TypeVar, get_args, get_origin, get_type_hints
from uuid import UUID

from django.core.exceptions import EmptyResultSet
from django.db import DEFAULT_DB_ALIAS, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import Aggregate, DateTimeField, Field, IntegerField, QuerySet, TextField, UUIDField, Value
from django.db.models.sql.compiler import SQLCompiler
from django.db.transaction import TransactionManagementError

from .session import Branch

P = ParamSpec("P")
Row = TypeVar("Row")
Spot = TypeVar("Spot", bound="Place")
# Kept of one query: it has another text for each depth of forks, and for each number of rows asked for.
MOST_SHAPES = 64
# By which long lists grow.
STEP = 256
UNLOCKED = "Rows are locked in a transaction, or not at all."

FIELDS: dict[type, Field[Any, Any]] = {
    UUID: UUIDField(),
    int: IntegerField(),
    str: TextField(),
    datetime: DateTimeField(),
}


def in_one_row(rows: QuerySet[Any], **sums: Aggregate) -> QuerySet[Any, tuple[int, ...]]:
    """The sums of all rows, which `aggregate` would ask for at once."""
    one: QuerySet[Any] = rows.order_by().values(all=Value(1)).annotate(**sums)
    return one.values_list(*sums)


class Place(Value):
    """Where SQL has a value that each call gives: the one at `value` among them."""

    def as_sql(self, compiler: SQLCompiler, connection: Any) -> Any:
        return "%s", [self]


class BranchPlace(Place):
    """Of the key of a branch; queries also ask a branch for these."""

    session_id: Place
    lineage: list[list[Place]]
    ancestors = Branch.ancestors

    @property
    def pk(self) -> Self:
        return self


class ListPlace(Place):
    """Of values of which a column has one, at `value` and after it."""

    size: int

    def as_sql(self, compiler: SQLCompiler, connection: Any) -> Any:
        places = [Place(self.value + place, output_field=self.output_field) for place in range(self.size)]
        return f"({', '.join(['%s'] * self.size)})", places


def prepared(build: Callable[P, QuerySet[Any, Row]]) -> Callable[P, list[Row]]:
    """The rows of the query that `build` makes.

    What comes by position are values (branches, ids, numbers, texts, times, lists of these), for which `build` is given
    places of the types that it names: it may compare with them and nothing else, and of a branch with its `session_id`
    and its `ancestors`. What comes by name is part of the SQL, as a number of rows is.
    """

    @lru_cache(maxsize=MOST_SHAPES)
    def compiled(vendor: str, sizes: tuple[int, ...], named: tuple[tuple[str, Hashable], ...]) -> Compiled[Row]:
        places, types = Places(), get_type_hints(build).values()
        args = [places.of(kind, size) for kind, size in zip(types, sizes, strict=False)]
        return Compiled(build(*args, **dict(named)))  # type: ignore[arg-type]

    @wraps(build)
    def ask(*args: P.args, **kwargs: P.kwargs) -> list[Row]:
        apart = [taken_apart(arg) for arg in args]
        sizes = tuple(size for size, _ in apart)
        values = [value for _, own in apart for value in own]
        return compiled(connections[DEFAULT_DB_ALIAS].vendor, sizes, tuple(kwargs.items())).rows(values)

    return ask


def taken_apart(arg: object) -> tuple[int, list[Any]]:
    """What the SQL depends on, of a branch its ancestors and of a list its values, how many; and the values, in the
    order in which `Places` has places for them."""
    if isinstance(arg, Branch):
        ancestors = [value for one in arg.lineage for value in one]
        return len(arg.lineage), [arg.pk, arg.session_id, *ancestors]
    if isinstance(arg, list):
        # The last once more: most lists are then as long as one that was asked for before.
        size = filled_up(len(arg))
        return size, [*arg, *arg[-1:] * (size - len(arg))]
    return 1, [arg]


def filled_up(count: int) -> int:
    """To a power of two; many values to some more only, as SQLite takes so many and no more."""
    if count <= STEP:
        return 1 << (count - 1).bit_length() if count else 0
    return -(-count // STEP) * STEP


class Places:
    """Places, numbered as they are asked for."""

    def __init__(self) -> None:
        self.count = 0

    def of(self, kind: Any, size: int) -> Any:
        if get_origin(kind) is list:
            return self.listed(get_args(kind)[0], size)
        if kind is not Branch:
            return self.next(Place, kind)
        branch = self.next(BranchPlace, UUID)
        branch.session_id = self.next(Place, UUID)
        branch.lineage = [[self.next(Place, one) for one in (UUID, int, int)] for _ in range(size)]
        return branch

    def listed(self, kind: type, size: int) -> ListPlace | list[Any]:
        # Django knows by itself what holds of no value.
        if not size:
            return []
        place = self.next(ListPlace, kind)
        place.size = size
        self.count += size - 1
        return place

    def next(self, place: type[Spot], kind: type) -> Spot:
        self.count += 1
        return place(self.count - 1, output_field=FIELDS[kind])


class Compiled(Generic[Row]):
    def __init__(self, query: QuerySet[Any, Row]) -> None:
        self.query = query
        self.compiler = query.query.get_compiler(using=query.db)
        # Columns whose values are converted; Django looks each time at all.
        self.converted: dict[int, Any] = {}
        try:
            self.sql, self.params = self.compiler.as_sql()
        except EmptyResultSet:
            # One of a list without values, for which no database is asked.
            self.sql, self.params = "", ()
        else:
            columns = [column for column, *_ in self.compiler.select[: self.compiler.col_count]]
            self.converted = {place: one for place, (_, one) in self.compiler.get_converters(columns).items()}
        # Each call brings its own: that of the thread which happened to be first is not kept.
        self.compiler.connection = None

    def rows(self, values: Sequence[Any]) -> list[Row]:
        """Read and made into objects by Django, whose compiler is given the SQL that it has made before."""
        if not self.sql:
            return []
        query = self.query.all()
        # Of this thread: `django.db.connection` looks that up at each use.
        connection = connections[DEFAULT_DB_ALIAS]
        # Otherwise asked where SQL is made.
        if query.query.select_for_update and connection.get_autocommit():
            raise TransactionManagementError(UNLOCKED)
        compiler = copy(self.compiler)
        compiler.connection = connection
        filled_in = [filled(param, values, connection) for param in self.params]
        vars(compiler)["as_sql"] = lambda: (self.sql, filled_in)
        vars(compiler)["get_converters"] = lambda columns: self.converters(connection)
        vars(query.query)["get_compiler"] = lambda using: compiler
        return list(query)

    def converters(self, connection: BaseDatabaseWrapper) -> dict[int, tuple[list[Any], Any]]:
        return {
            place: (connection.ops.get_db_converters(column) + column.get_db_converters(connection), column)
            for place, column in self.converted.items()
        }


def filled(param: object, values: Sequence[Any], connection: BaseDatabaseWrapper) -> object:
    if not isinstance(param, Place):
        return param
    return param.output_field.get_db_prep_value(values[param.value], connection)


def first(rows: Sequence[Row]) -> Row | None:
    return rows[0] if rows else None
