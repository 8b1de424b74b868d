"""Code that a person looks for, by words or by a name: found as a model's tools find it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from efforts.domain.text.terms import terms_of
from workspaces.domain.cards import LINE, window
from workspaces.models import Snapshot, Symbol
from workspaces.retrieval.cards import address_of, card_of
from workspaces.retrieval.search import search
from workspaces.tools.finding import named, unindexed

MOST = 30


@dataclass(frozen=True, kw_only=True)
class FoundView:
    """`place`: path and number of the line that is shown."""

    kind: str
    qualified: str
    place: str
    line: str
    address: str


@dataclass(frozen=True, kw_only=True)
class SearchView:
    """`unindexed`: files in which nothing can be found yet."""

    found: Sequence[FoundView]
    has_more: bool
    unindexed: int


def search_view(snapshot: Snapshot | None, query: str) -> SearchView | None:
    """What has that name comes first, in the order in which a model looks it up."""
    if snapshot is None or not query:
        return None
    looked, defined = search(snapshot, query, most=MOST), named(snapshot, query)
    others = [row for one in looked.scored if (row := looked.rows.get(one.symbol)) and row not in defined]
    views = [found_view(snapshot, one, terms_of(one.name)) for one in defined]
    views += [found_view(snapshot, one, looked.terms) for one in others[: max(0, MOST - len(defined))]]
    # What holds a line, such as its module, shows the same.
    shown: dict[str, FoundView] = {}
    for one in views[:MOST]:
        shown.setdefault(one.place, one)
    has_more = max(looked.found, len(views)) > MOST
    return SearchView(found=list(shown.values()), has_more=has_more, unindexed=unindexed(snapshot))


def found_view(snapshot: Snapshot, symbol: Symbol, terms: Collection[str]) -> FoundView:
    """With the line that has most of what was looked for."""
    lines, path = symbol.file.text.split("\n"), symbol.file.path
    number = next(iter(window(card_of(symbol, {}), lines, terms, 1)), symbol.first_line)
    return FoundView(
        kind=symbol.kind,
        qualified=symbol.qualified,
        place=f"{path}:{number}",
        line="".join(lines[number - 1 : number]).strip()[:LINE],
        address=address_of(snapshot.workspace_id, snapshot.number, path, number),
    )
