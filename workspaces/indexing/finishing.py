"""What is known of a snapshot as a whole, when all its symbols are: its graph, and what a prompt says of it."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Q, Sum

from workspaces.domain.carried import Leads, carry, leads_of
from workspaces.domain.graph import Resolver, central
from workspaces.domain.maps import CENTRAL, folder_map
from workspaces.domain.states import Stage
from workspaces.models import File, Snapshot, Symbol
from workspaces.retrieval.naming import read_resolver, written_of

# Characters of what a central symbol says of itself.
LINE = 90
# Folders of which this process remembers where references led at last.
REMEMBERED = 2


@dataclass(frozen=True, kw_only=True)
class Led:
    resolver: Resolver
    leads: Leads


# The last completed snapshot of each, the one that was completed last at the end.
remembered: OrderedDict[UUID, Led] = OrderedDict()


def complete(snapshot: Snapshot) -> None:
    """From here on the snapshot is never changed."""
    led = led_in(snapshot)
    flat = ((one.source, one.target, one.confidence) for found in led.leads.values() for one in found)
    snapshot.central = [list(one) for one in central(led.resolver.names, flat)]
    snapshot.symbols = len(led.resolver.names.symbols)
    snapshot.lines = File.objects.filter(snapshot.standing).aggregate(sum=Sum("lines", default=0))["sum"]
    snapshot.scaffold = map_of(snapshot)
    snapshot.stage = Stage.COMPLETE
    snapshot.save(update_fields=["central", "symbols", "lines", "scaffold", "stage"])
    remembered[snapshot.workspace_id] = led
    while len(remembered) > REMEMBERED:
        remembered.popitem(last=False)


def led_in(snapshot: Snapshot) -> Led:
    """Where references lead. What a change since the last snapshot cannot have moved is not even read."""
    last = remembered.pop(snapshot.workspace_id, None)
    resolver = read_resolver(snapshot, last.resolver if last else None)
    kept = carry(last.leads, last.resolver, resolver) if last else None
    if kept is None:
        return Led(resolver=resolver, leads=leads_of(resolver, written_of(snapshot)))
    anew = leads_of(resolver, written_of(snapshot, Q(file__in=kept.files) | Q(name__in=kept.names)))
    leads = {file: [*kept.leads.get(file, ()), *anew.get(file, ())] for file in {*kept.leads, *anew}}
    return Led(resolver=resolver, leads=leads)


def map_of(snapshot: Snapshot) -> str:
    paths = list(File.objects.filter(snapshot.standing).order_by("path").values_list("path", flat=True))
    ids = [id for id, *_ in snapshot.central[:CENTRAL]]
    symbols = Symbol.objects.select_related("file").in_bulk(ids)
    named = [
        (one.qualified, f"{one.file.path}:{one.first_line}", one.doc.strip().split("\n")[0][:LINE])
        for one in (symbols[id] for id in ids)
    ]
    return folder_map(snapshot.workspace.name, paths, snapshot.symbols, named)
