"""Definitions and references of a file that has been parsed: alike for all languages, by what a `Grammar` says."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from tree_sitter import Node, QueryCursor

from workspaces.domain.grammars import CONTAINERS, Grammar, Siblings, text_of
from workspaces.domain.states import EdgeKind, SymbolKind

LONGEST_SIGNATURE = 300
LONGEST_DOC = 1_200
LONGEST_CONDITION = 120
LONGEST_NAME = 200
# Of what stands before a name: a chain of calls says nothing that could be followed.
LONGEST_BEFORE = 120
DEEPEST = 12


@dataclass(frozen=True, kw_only=True)
class Definition:
    """`inside`: its name with those around it, below the file's module; `parent`: the place of what contains it."""

    kind: SymbolKind
    name: str
    inside: str
    parent: int | None
    lines: tuple[int, int]
    signature: str = ""
    doc: str = ""
    conditions: tuple[str, ...] = ()
    is_test: bool = False


@dataclass(frozen=True, kw_only=True)
class Reference:
    """As it is written: `name`, and what stands before it; `source`: the place of the definition that holds it."""

    source: int
    kind: EdgeKind
    name: str
    before: str
    line: int
    alias: str = ""


@dataclass(frozen=True)
class Scope:
    """Bytes of a definition, or of what only holds some (`place` of the type they are of, or of what is around)."""

    start: int
    end: int
    place: int
    inside: str
    is_container: bool
    node: Node | None = None


def read_definitions(grammar: Grammar, root: Node, file: Definition) -> tuple[list[Definition], list[Scope]]:
    """In the order of the text; the scopes are those of the definitions."""
    found = QueryCursor(grammar.query("definitions")).captures(root)
    captured = {(node.start_byte, -node.end_byte): (node, kind) for kind, nodes in found.items() for node in nodes}
    definitions, scopes = [file], [Scope(0, root.end_byte, 0, "", False)]
    # Of each name the first that is called so, and the first type: some files define thousands.
    places, types = {file.name: 0}, dict[str, int]()
    open_scopes, siblings = [scopes[0]], Siblings()
    for _, (node, kind) in sorted(captured.items()):
        outer = grammar.outer(node)
        while outer.start_byte >= open_scopes[-1].end and len(open_scopes) > 1:
            open_scopes.pop()
        around = open_scopes[-1]
        if kind == "impl":
            open_scopes.append(impl_scope(grammar, node, types, around))
            if open_scopes[-1].place != around.place:
                scopes.append(open_scopes[-1])
        elif name := grammar.name(node)[:LONGEST_NAME]:
            owner = places.get(grammar.receiver(node), around.place)
            is_test = definitions[around.place].is_test
            made = definition(grammar, node, outer, kind, name, around, siblings, owner=owner, is_test=is_test)
            definitions.append(made)
            is_container = made.kind in CONTAINERS
            places.setdefault(name, len(definitions) - 1)
            if is_container:
                types.setdefault(name, len(definitions) - 1)
            scope = Scope(outer.start_byte, outer.end_byte, len(definitions) - 1, made.inside, is_container, node)
            scopes.append(scope)
            if len(open_scopes) < DEEPEST:
                open_scopes.append(scope)
    return definitions, scopes


def impl_scope(grammar: Grammar, node: Node, types: Mapping[str, int], around: Scope) -> Scope:
    """What is implemented for a type belongs to the type, where the file defines it."""
    name = grammar.implemented(node)
    inside = f"{around.inside}.{name}" if around.inside else name
    return Scope(node.start_byte, node.end_byte, types.get(name, around.place), inside, True, node)


def definition(
    grammar: Grammar,
    node: Node,
    outer: Node,
    kind: str,
    name: str,
    around: Scope,
    siblings: Siblings,
    *,
    owner: int,
    is_test: bool,
) -> Definition:
    receiver = grammar.receiver(node)
    prefix = receiver or around.inside
    inside = f"{prefix}.{name}" if prefix else name
    symbol = grammar.kind(node, kind)
    if symbol == SymbolKind.FUNCTION and (around.is_container or receiver):
        symbol = SymbolKind.METHOD
    conditions = tuple(condition[:LONGEST_CONDITION] for condition in grammar.conditions(node, outer, siblings))
    # What is implemented stands outside its type: then it is no part of its lines.
    row, column = outer.end_point
    return Definition(
        kind=symbol,
        name=name,
        inside=inside,
        parent=owner,
        lines=(outer.start_point[0] + 1, max(row + (column > 0), outer.start_point[0] + 1)),
        signature=grammar.signature(node)[:LONGEST_SIGNATURE],
        doc=grammar.doc(node, outer, siblings)[:LONGEST_DOC],
        conditions=conditions,
        is_test=is_test or grammar.is_test(name, conditions),
    )


def read_references(grammar: Grammar, root: Node, scopes: Sequence[Scope]) -> Iterator[Reference]:
    """Each once for what holds it."""
    seen: set[tuple[int, str, str, str]] = set()
    for one in all_references(grammar, root, scopes):
        key = (one.source, one.kind, one.name, one.before)
        if (one.name or one.kind == EdgeKind.IMPORTS) and key not in seen:
            seen.add(key)
            yield one


def all_references(grammar: Grammar, root: Node, scopes: Sequence[Scope]) -> Iterator[Reference]:
    found = QueryCursor(grammar.query("references")).captures(root)
    found = {kind: sorted(nodes, key=lambda node: (node.start_byte, node.end_byte)) for kind, nodes in found.items()}
    holders = Holders(scopes)
    for node in found.get("import", ()):
        for module, name, alias in grammar.imports(node):
            line = node.start_point[0] + 1
            yield Reference(
                source=0,
                kind=EdgeKind.IMPORTS,
                name=name[:LONGEST_NAME],
                before=module[:LONGEST_BEFORE],
                alias=(alias or name)[:LONGEST_NAME],
                line=line,
            )
    for node in found.get("call", ()):
        yield named(grammar, node, holders.of(node.start_byte), EdgeKind.CALLS)
    for scope in scopes:
        for base in grammar.bases(scope.node) if scope.node else ():
            yield named(grammar, base, scope.place, EdgeKind.INHERITS)


def named(grammar: Grammar, node: Node, source: int, kind: EdgeKind) -> Reference:
    before, name = grammar.split(text_of(node))
    # It stays something that is called on: without it the name would be that of a function.
    before = before if len(before) <= LONGEST_BEFORE else "…"
    return Reference(source=source, kind=kind, name=name[:LONGEST_NAME], before=before, line=node.start_point[0] + 1)


class Holders:
    """Which definition holds a byte: the innermost."""

    def __init__(self, scopes: Sequence[Scope]) -> None:
        self.scopes = sorted(scopes, key=lambda scope: (scope.start, -scope.end))
        self.starts = [scope.start for scope in self.scopes]
        # Of each the place of the one around it.
        self.around = list[int]()
        for place, scope in enumerate(self.scopes):
            self.around.append(self.holding(max(place - 1, 0), scope.start))

    def of(self, byte: int) -> int:
        return self.scopes[self.holding(bisect_right(self.starts, byte) - 1, byte)].place

    def holding(self, place: int, byte: int) -> int:
        while place > 0 and self.scopes[place].end <= byte:
            place = self.around[place]
        return place
