"""Symbols for a model: by words, by name, by who calls them."""

from __future__ import annotations

from typing import Any

from django.db.models import Q

from efforts.domain.effort.states import Trigger
from efforts.tools.base import ToolContext, ToolError
from workspaces.domain.states import Stage, SymbolKind
from workspaces.models import Snapshot, Symbol
from workspaces.retrieval.cards import counts_of, place_of
from workspaces.retrieval.naming import resolver_of
from workspaces.retrieval.recording import record
from workspaces.retrieval.search import edges_to, leads_to, search
from workspaces.tools.attached import snapshot_of

MATCHES, NAMED, CALLERS, PARTS = 8, 6, 20, 20
DOC = 200
# Letters of a name: none has so many.
LONGEST = 2_000
UNKNOWN = "Nothing is called {name} here. Try search_code with words that describe it."


def search_code(context: ToolContext, *, query: str) -> dict[str, Any]:
    snapshot = snapshot_of(context)
    found = search(snapshot, query, most=MATCHES, meant=context.asked.meant)
    if not found.terms:
        raise ToolError("The query is empty. Give names or telling words.")
    alone = context.asked.fault
    record(context.run, snapshot, found, Trigger.TOOL, words_alone=alone)
    matches = [told(found.rows[one.symbol]) for one in found.scored if one.symbol in found.rows]
    return {"matches": matches, "of": found.found, **({"words_alone": alone} if alone else {}), **progress(snapshot)}


def look_up(context: ToolContext, *, name: str) -> dict[str, Any]:
    snapshot = snapshot_of(context)
    counts = counts_of(snapshot)
    found = named(snapshot, name)
    if not found:
        raise ToolError(UNKNOWN.format(name=name[:80]))
    matches = []
    for one in found[:NAMED]:
        callers, tests = counts.get(one.pk, (0, 0))
        parts = list(one.children.order_by("first_line").values_list("name", flat=True)[: PARTS + 1])
        inside = {"contains": parts[:PARTS]} if parts else {}
        matches.append({**told(one), "doc": one.doc[:DOC], "callers": callers, "tests": tests, **inside})
    return {"matches": matches, "of": len(found)}


def who_calls(context: ToolContext, *, name: str) -> dict[str, Any]:
    snapshot = snapshot_of(context)
    found = named(snapshot, name)
    if not found:
        raise ToolError(UNKNOWN.format(name=name[:80]))
    if len(found) > 1 and len({one.qualified for one in found}) > 1:
        several = ", ".join(one.qualified for one in found[:NAMED])
        raise ToolError(f"{len(found)} symbols are called {name[:80]}: {several}. Name one of them in full.")
    symbol, resolver = found[0], resolver_of(snapshot)
    sure, possible = [], []
    for one in edges_to(snapshot, symbol.name):
        source = resolver.names.symbols.get(one.source)
        if source is None:
            continue
        place = f"{resolver.names.files[one.file].path}:{one.line}"
        entry = {"symbol": source.qualified, "place": place, **({"test": True} if source.is_test else {})}
        if leads_to(resolver, one, symbol.pk):
            sure.append(entry)
        elif any(lead.target == symbol.pk for lead in resolver.leads(one)):
            possible.append(entry)
    sure.sort(key=lambda entry: "test" in entry)
    return {
        "symbol": symbol.qualified,
        "place": place_of(symbol),
        "callers": sure[:CALLERS],
        "of": len(sure),
        "possible": possible[: CALLERS // 2],
    }


def told(symbol: Symbol) -> dict[str, Any]:
    signature = {"signature": symbol.signature} if symbol.signature else {}
    return {"symbol": symbol.qualified, "kind": symbol.kind, "place": place_of(symbol), **signature}


def named(snapshot: Snapshot, name: str) -> list[Symbol]:
    """The symbols that a name means, those outside of tests first."""
    name = name.strip()[:LONGEST].strip("`").removesuffix("()").replace("::", ".").strip(".")
    last = name.rpartition(".")[2]
    standing = Symbol.objects.filter(snapshot.standing_by_file, workspace=snapshot.workspace_id)
    rows = standing.exclude(kind=SymbolKind.SECTION).select_related("file").defer("terms", "names")
    exact = rows.filter(Q(name=last) & (Q(qualified=name) | Q(qualified__endswith=f".{name}")))
    found = list((exact if last != name else rows.filter(name=name)).order_by("is_test", "qualified", "pk")[:50])
    return found or list(rows.filter(file__path=name, parent=None).order_by("pk")[:1])


def unindexed(snapshot: Snapshot) -> int:
    """Files whose symbols are not known yet."""
    if snapshot.stage == Stage.COMPLETE:
        return 0
    return snapshot.workspace.files.filter(snapshot.standing, indexed=False).count()


def progress(snapshot: Snapshot) -> dict[str, Any]:
    """What a model should know while the index is being made."""
    left = unindexed(snapshot)
    return {"note": f"Files that are not indexed yet: {left}. read_span reads them."} if left else {}
