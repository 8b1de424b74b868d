"""The names of a snapshot in memory, read once in each process: what references mean is worked out by them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

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


def read_resolver(snapshot: Snapshot, written: Sequence[Written] | None = None) -> Resolver:
    """`written`: all references of the snapshot, where they are there already."""
    rows = File.objects.filter(snapshot.standing).values_list("pk", "path", "language", "module")
    files = {pk: FileName(*named) for pk, *named in rows.iterator(chunk_size=CHUNK)}
    fields = ("id", "file_id", "kind", "name", "qualified", "parent_id", "is_test")
    symbols = Symbol.objects.filter(snapshot.standing_by("file")).order_by("file__path", "id").values_list(*fields)
    named = {row[0]: Named(*row) for row in symbols.iterator(chunk_size=CHUNK)}
    names = Names(files=files, symbols=named, roots=roots(snapshot, files))
    imports: dict[int, list[Written]] = defaultdict(list)
    bases: dict[int, list[Written]] = defaultdict(list)
    for one in written if written is not None else written_of(snapshot, kinds=(EdgeKind.IMPORTS, EdgeKind.INHERITS)):
        if one.kind == EdgeKind.IMPORTS:
            imports[one.file].append(one)
        elif one.kind == EdgeKind.INHERITS:
            bases[one.source].append(one)
    return Resolver(names=names, imports=dict(imports), bases=dict(bases))


def roots(snapshot: Snapshot, files: Mapping[int, FileName]) -> list[Root]:
    wanted = [pk for pk, file in files.items() if file.path.rpartition("/")[2] in MANIFESTS]
    manifests = dict(File.objects.filter(pk__in=wanted).values_list("path", "text"))
    modules = {file.path: file.module for file in files.values() if file.module}
    return roots_of(snapshot.workspace.name, modules, manifests)


def written_of(
    snapshot: Snapshot, *, kinds: tuple[EdgeKind, ...] = tuple(EdgeKind), **which: object
) -> Iterator[Written]:
    """The references of a snapshot, in the order of the files' text."""
    edges = Edge.objects.filter(snapshot.standing_by("file"), kind__in=kinds, **which).order_by("id")
    for row in edges.values_list(*FIELDS).iterator(chunk_size=CHUNK):
        yield Written(*row)
