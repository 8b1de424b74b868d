"""What of a snapshot answers a query: found by its words, ranked with what it leads to."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import Any, TypeAlias

import numpy as np
from django.db import connection
from django.db.models import Q
from numpy.typing import NDArray

from efforts.domain.text.ranking import rarity
from efforts.domain.text.terms import QUERY_LENGTH, query_terms, spelled
from efforts.retrieval.vectors import Meant
from workspaces.domain import ranking
from workspaces.domain.graph import SURE, Resolver, Written
from workspaces.domain.ranking import Candidate, Scored
from workspaces.domain.states import EdgeKind, Stage, SymbolKind
from workspaces.models import SYMBOLS_PER_FILE, Edge, File, Snapshot, Symbol, scope_of
from workspaces.retrieval.meanings import nearest
from workspaces.retrieval.naming import FIELDS, resolver_of

Ids: TypeAlias = NDArray[np.int64]

STRATEGY = f"code/{ranking.VERSION}"
# Symbols whose words are read; and of the best how many neighbours.
MOST, MOST_NEAR = 1_200, 40
# Of those nearest to what the query means so many, beside those with its words.
NEAREST = 100
# References by one name that are read.
MOST_REFERENCES = 400
# As the index has it, word for word: migration 0001.
TERMS = "string_to_array(btrim(scope || names || terms), '  ')"
# A word that may be a name, as a person or a model writes it.
WORD = re.compile(r"(`?)([A-Za-z_]\w*(?:(?:\.|::)[A-Za-z_]\w*)*)(\(\))?")
# What makes it one: a capital inside, an underscore, what parts names, or brackets and backticks around it.
NAME_LIKE = re.compile(r"[a-z0-9][A-Z]|[A-Z][a-z0-9]+[A-Z]|[A-Za-z0-9]_[A-Za-z0-9]|^_|[.:]")
LONGEST_NAME = 200
PATH = re.compile(r"[\w@.+/-]{1,200}\.\w{1,5}\b")
WANTS_TESTS = re.compile(r"\btests?\b|\bspecs?\b", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class Rankers:
    """Which are asked; the default is what measured best (docs/workspaces.md)."""

    graph: bool = True


@dataclass(frozen=True, kw_only=True)
class CodeSearch:
    """`rows`: of what was found, the symbols; `found`: how many have a word of the query; `most`: what a symbol would
    score by its words that said all of the query again and again."""

    query: str
    terms: tuple[str, ...]
    scored: Sequence[Scored] = ()
    rows: Mapping[int, Symbol] = field(default_factory=dict)
    found: int = 0
    most: float = 0.0
    meant: Meant | None = None

    @cached_property
    def typed(self) -> dict[str, str]:
        """For each term the word of the query."""
        return spelled(self.query)


def search(
    snapshot: Snapshot, query: str, *, most: int, rankers: Rankers = Rankers(), meant: Meant | None = None
) -> CodeSearch:
    """The best first, with their symbols and files. `meant`: what the query means, where meanings are compared too."""
    terms = query_terms(query)
    if not terms:
        return CodeSearch(query=query, terms=())
    symbols = max(symbols_in(snapshot), 1)
    files = standing_files(snapshot)
    with_term = [standing_with(snapshot, files, term) for term in terms]
    frequencies = [len(ids) for ids in with_term]
    exact = written_out(snapshot, query)
    meanings = nearest(snapshot, meant) if meant else {}
    ids = {*holding(with_term, symbols).tolist(), *exact, *islice(meanings, NEAREST)}
    rows = list(candidate_rows(ids, terms))
    neighbours = neighbours_of(snapshot, rows, frequencies, terms) if rankers.graph else {}
    more = {other for others in neighbours.values() for other, _ in others} - {row.symbol for row in rows}
    rows += candidate_rows(more, terms)
    scored = ranking.rank(
        rows,
        frequencies,
        symbols,
        exact=frozenset(exact),
        wants_tests=bool(WANTS_TESTS.search(query)),
        neighbours=neighbours,
        meanings=meanings,
    )
    kept = [one for one in scored if one.score > 0][:most]
    found = Symbol.objects.select_related("file").defer("terms", "names").in_bulk([one.symbol for one in kept])
    most_words = ranking.most_of([rarity(with_it, symbols) for with_it in frequencies])
    return CodeSearch(query=query, terms=terms, scored=kept, rows=found, found=len(rows), most=most_words, meant=meant)


def symbols_in(snapshot: Snapshot) -> int:
    if snapshot.stage == Stage.COMPLETE:
        return snapshot.symbols
    return Symbol.objects.filter(snapshot.standing_by_file).count()


def standing_with(snapshot: Snapshot, files: Ids, term: str) -> Ids:
    """Ids of the symbols of a snapshot, whose `files` these are, that have the term. The index has all versions: what
    was read since must not change what an old snapshot answers, nor take the place of what stands."""
    scope = scope_of(snapshot.workspace_id).strip()
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            sql = "SELECT rowid FROM workspaces_symbol_terms WHERE workspaces_symbol_terms MATCH %s"
            cursor.execute(sql, [f'"{scope}" AND "{term}"'])
        else:
            cursor.execute(f"SELECT id FROM workspaces_symbol WHERE {TERMS} @> %s::text[]", [[scope, term]])
        ids = np.fromiter((id for (id,) in cursor), np.int64)
    return ids[np.isin(ids // SYMBOLS_PER_FILE, files)]


def standing_files(snapshot: Snapshot) -> Ids:
    if snapshot.stage == Stage.COMPLETE:
        return np.fromiter(resolver_of(snapshot).names.files, np.int64)
    return np.fromiter(File.objects.filter(snapshot.standing).values_list("pk", flat=True), np.int64)


def holding(found: Sequence[Ids], symbols: int) -> Ids:
    """Of symbols that have words of the query, those with most of its rarest ones. `found`: of each word who has it."""
    if not any(map(len, found)):
        return np.empty(0, np.int64)
    weights = [rarity(len(ids), symbols) for ids in found]
    ids, places = np.unique(np.concatenate(found), return_inverse=True)
    sums = np.bincount(places, weights=np.repeat(weights, [len(ids) for ids in found]))
    most: Ids = ids[np.lexsort((ids, -sums.round(6)))[:MOST]]
    return most


def candidate_rows(ids: set[int], terms: Sequence[str]) -> Iterator[Candidate]:
    """All of these stand in the snapshot: asked once more, SQLite would look in each file for each of them."""
    wanted = [f" {term} " for term in terms]
    fields = ("id", "kind", "is_test", "qualified", "length", "terms", "names")
    rows = Symbol.objects.filter(pk__in=ids).order_by("pk").values_list(*fields)
    for id, kind, is_test, qualified, length, text, names in rows:
        yield Candidate(
            symbol=id,
            file=id // SYMBOLS_PER_FILE,
            kind=kind,
            is_test=is_test,
            qualified=qualified,
            length=length,
            counts=tuple(text.count(term) for term in wanted),
            named=tuple(names.count(term) for term in wanted),
        )


def neighbours_of(
    snapshot: Snapshot, rows: Sequence[Candidate], frequencies: Sequence[int], terms: Sequence[str]
) -> dict[int, list[tuple[int, float]]]:
    """Of the best by their text: what they call, what calls them, and what holds them, as far as it is sure."""
    if snapshot.stage != Stage.COMPLETE:
        return {}
    seeds = ranking.best(rows, frequencies, max(symbols_in(snapshot), 1))
    resolver = resolver_of(snapshot)
    found: dict[int, list[tuple[int, float]]] = {}
    for one in edges_from(snapshot, seeds):
        found.setdefault(one.source, []).extend((lead.target, lead.confidence) for lead in sure(resolver, one))
    for seed in seeds:
        named = resolver.names.symbols.get(seed)
        if named is None:
            continue
        if named.parent is not None:
            found.setdefault(seed, []).append((named.parent, 1.0))
        callers = [one.source for one in edges_to(snapshot, named.name) if leads_to(resolver, one, seed)]
        found.setdefault(seed, []).extend((caller, 1.0) for caller in callers[:MOST_NEAR])
    return found


def sure(resolver: Resolver, one: Written) -> list[Any]:
    return [lead for lead in resolver.leads(one) if lead.confidence >= SURE]


def leads_to(resolver: Resolver, one: Written, symbol: int) -> float:
    """How sure it is that a reference means the symbol; 0.0 where it is not, or another is meant."""
    found = max((lead.confidence for lead in resolver.leads(one) if lead.target == symbol), default=0.0)
    return found if found >= SURE else 0.0


def edges_from(snapshot: Snapshot, sources: Sequence[int]) -> Iterator[Written]:
    kinds = (EdgeKind.CALLS, EdgeKind.INHERITS)
    for row in Edge.objects.filter(source__in=sources, kind__in=kinds).order_by("id").values_list(*FIELDS):
        yield Written(*row)


def edges_to(snapshot: Snapshot, name: str) -> list[Written]:
    """References by that name, of whatever they mean."""
    standing = snapshot.standing_by_file & Q(workspace=snapshot.workspace_id, name=name)
    rows = Edge.objects.filter(standing).exclude(kind=EdgeKind.IMPORTS).order_by("id")
    return [Written(*row) for row in rows.values_list(*FIELDS)[:MOST_REFERENCES]]


def written_out(snapshot: Snapshot, text: str) -> set[int]:
    """Symbols that a text names so that no other can be meant: by path, qualified name, or an unambiguous name."""
    text = text[:QUERY_LENGTH]
    found: set[int] = set()
    for name in names_in(text)[:20]:
        found |= meant_by(snapshot, name)
    for path in list(dict.fromkeys(PATH.findall(text)))[:10]:
        modules = Symbol.objects.filter(snapshot.standing_by_file, kind=SymbolKind.MODULE, parent=None)
        named = modules.filter(Q(file__path=path) | Q(file__path__endswith=f"/{path}"))
        ids = list(named.values_list("pk", flat=True)[:2])
        found |= set(ids) if len(ids) == 1 else set()
    return found


def names_in(text: str) -> list[str]:
    """In the order of the text, each once, with dots."""
    words = (found.groups() for found in WORD.finditer(text))
    names = (
        name for tick, name, call in words if (tick or call or NAME_LIKE.search(name)) and len(name) <= LONGEST_NAME
    )
    return list(dict.fromkeys(name.replace("::", ".") for name in names))


def meant_by(snapshot: Snapshot, name: str) -> set[int]:
    last = name.rpartition(".")[2]
    rows = Symbol.objects.filter(snapshot.standing_by_file, workspace=snapshot.workspace_id, name=last)
    rows = rows.exclude(kind=SymbolKind.SECTION).order_by("pk")
    if last != name:
        rows = rows.filter(Q(qualified=name) | Q(qualified__endswith=f".{name}"))
    ids = list(rows.exclude(is_test=True).values_list("pk", flat=True)[:4]) or list(
        rows.values_list("pk", flat=True)[:4]
    )
    return set(ids) if len(ids) <= 2 else set()
