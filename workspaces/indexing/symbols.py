"""The symbols and references of files that have none yet, then the graph of the snapshot."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from django.db import connection, transaction

from efforts.domain.text.terms import terms_of
from efforts.retrieval.index import padded
from workspaces.domain.meanings import content_sha256
from workspaces.domain.outline import Outline, outline_of, own_lines, parts_of
from workspaces.domain.parsing import Definition
from workspaces.domain.states import Stage, SymbolKind
from workspaces.indexing.snapshots import Progress, in_batches
from workspaces.models import SYMBOLS_PER_FILE, Edge, File, Snapshot, Symbol, Workspace, scope_of

# Files whose symbols are written in one transaction.
FILES = 20
# Terms of one symbol that can be found: of a very long function its first ones.
MOST_TERMS = 1_500


def index_symbols(snapshot: Snapshot, progress: Progress) -> None:
    """Of every file of the snapshot that has none yet, by path: what stands can be found from then on."""
    todo = File.objects.filter(snapshot.standing, indexed=False).order_by("path").values_list("pk", flat=True)
    ids = list(todo)
    Snapshot.objects.filter(pk=snapshot.pk).exclude(stage=Stage.COMPLETE).update(stage=Stage.SYMBOLS)
    for done, batch in enumerate(in_batches(ids, FILES)):
        progress(min(done * FILES, len(ids)), len(ids))
        index_files(list(File.objects.filter(pk__in=batch).order_by("path")))


def index_files(files: list[File]) -> None:
    made = [Indexed(file, outline_of(file.path, file.language, file.text)) for file in files]
    with transaction.atomic():
        # An attempt that was taken for dead may have come back.
        fresh = set(File.objects.filter(pk__in=[file.pk for file in files], indexed=False).values_list("pk", flat=True))
        kept = [one for one in made if one.file.pk in fresh]
        insert(Symbol, SYMBOL, (row for one in kept for row in one.symbols()))
        insert(Edge, EDGE, (row for one in kept for row in one.edges()))
        broken = [one.file.pk for one in kept if one.outline.broken]
        File.objects.filter(pk__in=fresh).update(indexed=True)
        File.objects.filter(pk__in=broken).update(broken=True)


SYMBOL = (
    *("id", "workspace_id", "file_id", "parent_id", "kind", "name", "qualified", "signature", "doc", "conditions"),
    *("first_line", "last_line", "is_test", "length", "scope", "names", "terms", "content_sha256"),
)
EDGE = ("workspace_id", "file_id", "source_id", "kind", "name", "before", "alias", "line")


def insert(model: type[Symbol] | type[Edge], columns: Sequence[str], rows: Iterator[tuple[Any, ...]]) -> None:
    """Half of an index's time would go into making objects of rows that nobody looks at."""
    places = ", ".join(["%s"] * len(columns))
    sql = f"INSERT INTO {model._meta.db_table} ({', '.join(columns)}) VALUES ({places})"
    with connection.cursor() as cursor:
        cursor.executemany(sql, list(rows))


def told_of(one: Definition, parts: Sequence[Definition], lines: Sequence[str]) -> str:
    """Its lines, and what is said of it above them: only Python says it within."""
    own, doc = own_lines(one, parts, lines), one.doc
    return own if doc.partition("\n")[0] in own else f"{doc}\n{own}"


@dataclass(frozen=True)
class Indexed:
    """A file and what stands in it, as rows."""

    file: File
    outline: Outline

    @property
    def workspace(self) -> Any:
        return Workspace._meta.pk.get_db_prep_value(self.file.workspace_id, connection)

    def symbols(self) -> Iterator[tuple[Any, ...]]:
        lines = self.file.text.split("\n")
        definitions = self.outline.definitions[:SYMBOLS_PER_FILE]
        path_terms, parts = terms_of(self.file.path), parts_of(definitions)
        workspace, scope = self.workspace, scope_of(self.file.workspace_id)
        # Once for each text: minified code has thousands of functions on one long line.
        read = cache(lambda text: terms_of(text)[:MOST_TERMS])
        for place, one in enumerate(definitions):
            terms = read(told_of(one, parts.get(place, ()), lines))
            yield (
                self.id(place),
                workspace,
                self.file.pk,
                self.id(one.parent) if one.parent is not None else None,
                str(one.kind),
                one.name,
                self.qualified(one),
                one.signature,
                one.doc,
                json.dumps(one.conditions),
                *one.lines,
                one.is_test,
                len(terms),
                scope,
                padded([*terms_of(one.inside or one.name), *path_terms]),
                padded(terms),
                content_sha256(self.qualified(one), one.doc, lines[one.lines[0] - 1 : one.lines[1]]),
            )

    def qualified(self, one: Definition) -> str:
        if one.kind == SymbolKind.SECTION:
            return f"{self.file.path}#{one.name}"[:1024]
        module = self.file.module or self.file.path
        return (f"{module}.{one.inside}" if one.inside else module)[:1024]

    def edges(self) -> Iterator[tuple[Any, ...]]:
        workspace = self.workspace
        for one in self.outline.references:
            if one.source < SYMBOLS_PER_FILE:
                yield (
                    *(workspace, self.file.pk, self.id(one.source), str(one.kind)),
                    *(one.name, one.before, one.alias, one.line),
                )

    def id(self, place: int) -> int:
        return self.file.pk * SYMBOLS_PER_FILE + place
