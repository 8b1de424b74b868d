"""The names of a snapshot in memory, read once in each process: what references mean is worked out by them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import chain
from operator import itemgetter
from typing import Any

from django.db.models import Q

from workspaces.domain.carried import MOST
from workspaces.domain.graph import FileName, Named, Names, Resolver, Written
from workspaces.domain.roots import MANIFESTS, Root, roots_of
from workspaces.domain.states import EdgeKind, Stage
from workspaces.models import Edge, File, Snapshot, Symbol

# Snapshots whose names one process keeps: some tens of megabytes each, of a large folder.
KEPT = 2
CHUNK = 5_000
FIELDS = ("file_id", "source_id", "kind", "name", "before", "alias", "line")


def resolver_of(snapshot: Snapshot) -> Resolver:
    """While symbols are still missing nothing is kept."""
    return kept_resolver(snapshot.pk) if snapshot.stage == Stage.COMPLETE else read_resolver(snapshot)


@lru_cache(maxsize=KEPT)
def kept_resolver(pk: int) -> Resolver:
    return read_resolver(Snapshot.objects.get(pk=pk))


def read_resolver(snapshot: Snapshot, before: Resolver | None = None) -> Resolver:
    """`before`: that of an earlier snapshot of the folder, whose files are not read again where they still stand."""
    rows = File.objects.filter(snapshot.standing).values_list("pk", "path", "language", "module")
    # Sorted here, as databases do not agree on the order of letters.
    files = {pk: FileName(*named) for pk, *named in sorted(rows.iterator(chunk_size=CHUNK), key=itemgetter(1))}
    known = files.keys() & before.names.files.keys() if before else set[int]()
    # One question names the new ones, and no database takes any number of them.
    if len(files) - len(known) > MOST:
        known = set()
    symbols, written = list[Named](), list[Written]()
    if before:
        kept = chain.from_iterable((*before.imports.values(), *before.bases.values()))
        symbols += (one for one in before.names.symbols.values() if one.file in known)
        written += (one for one in kept if one.file in known)
    new: dict[str, Any] = {"file__in": files.keys() - known} if known else {}
    fields = ("id", "file_id", "kind", "name", "qualified", "parent_id", "is_test")
    standing = Symbol.objects.filter(snapshot.standing_by_file, **new).order_by("id").values_list(*fields)
    symbols += (Named(*row) for row in standing.iterator(chunk_size=CHUNK))
    written += written_of(snapshot, kind__in=(EdgeKind.IMPORTS, EdgeKind.INHERITS), **new)
    places = {pk: place for place, pk in enumerate(files)}
    symbols.sort(key=lambda one: places[one.file])
    names = Names(files=files, symbols={one.id: one for one in symbols}, roots=roots(snapshot, files))
    imports: dict[int, list[Written]] = defaultdict(list)
    bases: dict[int, list[Written]] = defaultdict(list)
    for one in written:
        if one.kind == EdgeKind.IMPORTS:
            imports[one.file].append(one)
        else:
            bases[one.source].append(one)
    return Resolver(names=names, imports=dict(imports), bases=dict(bases))


def roots(snapshot: Snapshot, files: Mapping[int, FileName]) -> list[Root]:
    wanted = [pk for pk, file in files.items() if file.path.rpartition("/")[2] in MANIFESTS]
    manifests = dict(File.objects.filter(pk__in=wanted).values_list("path", "text"))
    modules = {file.path: file.module for file in files.values() if file.module}
    return roots_of(snapshot.workspace.name, modules, manifests)


def written_of(snapshot: Snapshot, *which: Q, **more: Any) -> Iterator[Written]:
    """The references of a snapshot, in the order of the files' text."""
    edges = Edge.objects.filter(snapshot.standing_by_file, *which, **more).order_by("id")
    for row in edges.values_list(*FIELDS).iterator(chunk_size=CHUNK):
        yield Written(*row)
