"""What is known of a snapshot as a whole, when all its symbols are: its graph, and what a prompt says of it."""

from __future__ import annotations

from django.db.models import Sum

from workspaces.domain.graph import central
from workspaces.domain.maps import CENTRAL, folder_map
from workspaces.domain.states import Stage
from workspaces.models import File, Snapshot, Symbol
from workspaces.retrieval.naming import read_resolver, written_of

# Characters of what a central symbol says of itself.
LINE = 90


def complete(snapshot: Snapshot) -> None:
    """From here on the snapshot is never changed."""
    written = list(written_of(snapshot))
    resolver = read_resolver(snapshot, written)
    snapshot.central = [list(one) for one in central(resolver, written)]
    snapshot.symbols = len(resolver.names.symbols)
    snapshot.lines = File.objects.filter(snapshot.standing).aggregate(sum=Sum("lines", default=0))["sum"]
    snapshot.scaffold = map_of(snapshot)
    snapshot.stage = Stage.COMPLETE
    snapshot.save(update_fields=["central", "symbols", "lines", "scaffold", "stage"])


def map_of(snapshot: Snapshot) -> str:
    paths = list(File.objects.filter(snapshot.standing).order_by("path").values_list("path", flat=True))
    ids = [id for id, *_ in snapshot.central[:CENTRAL]]
    symbols = Symbol.objects.select_related("file").in_bulk(ids)
    named = [
        (one.qualified, f"{one.file.path}:{one.first_line}", one.doc.strip().split("\n")[0][:LINE])
        for one in (symbols[id] for id in ids)
    ]
    return folder_map(snapshot.workspace.name, paths, snapshot.symbols, named)
