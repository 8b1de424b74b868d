"""Where references lead within one snapshot, with how sure that is; and what most of them lead to.

A reference is stored as it is written. What it means is worked out here, from the names of the snapshot alone: so an
index that follows changes file by file is the same as one made anew.
"""

from __future__ import annotations

import posixpath
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import rustworkx

from workspaces.domain.languages import module_of
from workspaces.domain.roots import Root
from workspaces.domain.states import EdgeKind, SymbolKind

# How sure it is that a name means this symbol, by how it was found.
WRITTEN_OUT, OWN, IMPORTED, INHERITED, ALL_IMPORTED, ONLY_ONE, ONE_OF_FEW = 1.0, 0.95, 0.9, 0.85, 0.8, 0.5, 0.2
FEW = 3
# What is less sure is listed as possible, and counts for nothing.
SURE = 0.8
SELVES = ("self", "this", "cls", "Self", "super", "super()")
BASES_UP = 4
# Through so many modules, one importing the next, a name is followed: each takes three calls of the thousand there are.
DEEPEST = 200
# Of what a symbol is worth to others a share is worth to what contains it: a class lives by its methods.
PART_OF = 0.3
DAMPING = 0.85
CALLABLE = (SymbolKind.CLASS, SymbolKind.FUNCTION, SymbolKind.METHOD, SymbolKind.TYPE, SymbolKind.CONSTANT)


class Named(NamedTuple):
    """A symbol of the snapshot, without its text."""

    id: int
    file: int
    kind: str
    name: str
    qualified: str
    parent: int | None
    is_test: bool


class FileName(NamedTuple):
    path: str
    language: str
    module: str


class Written(NamedTuple):
    """A reference, as an `Edge` stores it."""

    file: int
    source: int
    kind: str
    name: str
    before: str
    alias: str
    line: int


class Lead(NamedTuple):
    target: int
    confidence: float


@dataclass(kw_only=True)
class Names:
    """All names of one snapshot."""

    files: Mapping[int, FileName]
    symbols: Mapping[int, Named]
    roots: Sequence[Root] = ()
    by_name: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    by_qualified: dict[str, int] = field(default_factory=dict)
    modules: dict[str, int] = field(default_factory=dict)
    modules_by_end: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    # By the name that files write: every call through an import asks for one, and few are written.
    meant: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for one in self.symbols.values():
            if one.kind == SymbolKind.SECTION:
                continue
            self.by_name[one.name].append(one.id)
            # The first stands: what is defined again, as under a condition, is the same to who calls it.
            self.by_qualified.setdefault(one.qualified, one.id)
            if one.kind == SymbolKind.MODULE and one.parent is None:
                module = self.files[one.file].module
                if module:
                    self.modules.setdefault(module, one.id)
                    self.modules_by_end[module.rpartition(".")[2]].append(module)

    def module(self, dotted: str) -> str:
        """The module of the snapshot that is meant; empty where it is from elsewhere, or could be several."""
        if dotted in self.modules:
            return dotted
        if dotted not in self.meant:
            self.meant[dotted] = self.within_root(dotted) or self.by_its_end(dotted)
        return self.meant[dotted]

    def within_root(self, dotted: str) -> str:
        """By the name that the package has for itself."""
        for root in self.roots:
            if dotted == root.name:
                return root.whole
            if dotted.startswith(f"{root.name}."):
                within = f"{root.below}.{dotted[len(root.name) + 1 :]}".lstrip(".")
                if within in self.modules:
                    return within
        return ""

    def by_its_end(self, dotted: str) -> str:
        ending = f".{dotted}"
        found = [one for one in self.modules_by_end.get(dotted.rpartition(".")[2], ()) if one.endswith(ending)]
        return found[0] if len(found) == 1 else ""

    def crate_of(self, path: str) -> str:
        """The name of the innermost Rust package that a file is of; empty where none is named."""
        mine = [
            one for one in self.roots if one.language == "rust" and f"{path}".startswith(f"{one.folder}/".lstrip("/"))
        ]
        return max(mine, key=lambda one: len(one.folder)).name if mine else ""

    def in_module(self, dotted: str, name: str) -> int | None:
        module = self.module(dotted)
        found = self.by_qualified.get(f"{module}.{name}") if module else None
        return found if found is not None else self.modules.get(self.module(f"{dotted}.{name}"))


@dataclass(kw_only=True)
class Resolver:
    """`imports`: those of each file, by its id; `bases`: what each class names as such, by its id."""

    names: Names
    imports: Mapping[int, Sequence[Written]]
    bases: Mapping[int, Sequence[Written]]
    known: dict[int, dict[str, tuple[str, int | None]]] = field(default_factory=dict)
    # Of each file the modules of which it imports everything.
    whole: dict[int, list[str]] = field(default_factory=dict)
    # What stands before a name means the same wherever it stands in a file, and most is written more than once.
    found: dict[tuple[int, str, str], Lead | None] = field(default_factory=dict)

    def leads(self, one: Written) -> tuple[Lead, ...]:
        """The symbols that a reference may mean; none where all that is known is that it is from elsewhere."""
        if one.kind == EdgeKind.IMPORTS:
            target = self.imported(one)[1]
            return (Lead(target, IMPORTED),) if target is not None else ()
        found = self.sure(one)
        if found is not None:
            return (found,) if found.target != one.source else ()
        return self.guessed(one)

    def sure(self, one: Written) -> Lead | None:
        file = self.names.files[one.file]
        if not one.before:
            return self.plain(one, file)
        if one.before in SELVES or (file.language == "go" and self.is_receiver(one)):
            return self.of_own_class(one)
        key = one.file, one.before, one.name
        if key not in self.found:
            self.found[key] = self.beyond(one, file)
        return self.found[key]

    def beyond(self, one: Written, file: FileName) -> Lead | None:
        """By what stands before it, where that is no word for the object itself."""
        first, _, rest = one.before.partition(".")
        found = self.through(one.file, first, rest, one.name)
        if found is not None:
            return Lead(found, IMPORTED)
        here = self.names.by_qualified.get(f"{file.module}.{one.before}.{one.name}")
        if here is not None:
            return Lead(here, OWN)
        # Written with its whole path: `import a.b` and `a.b.c()`, `crate::a::c()`.
        dotted = self.absolute(one.before, file)
        found = self.given(dotted, one.name) if dotted else None
        return Lead(found, IMPORTED) if found is not None else None

    def through(self, file: int, first: str, rest: str, name: str) -> int | None:
        """By an imported name, and what stands between it and the name that is meant."""
        module, target = self.bound(file).get(first, ("", None))
        if target is not None:
            path = ".".join(filter(None, [self.names.symbols[target].qualified, rest, name]))
            if (found := self.names.by_qualified.get(path)) is not None:
                return found
        return self.given(f"{module}.{rest}".rstrip("."), name) if module else None

    def given(self, dotted: str, name: str) -> int | None:
        """What a module defines, or has imported itself and gives on."""
        found = self.names.in_module(dotted, name)
        there = self.names.modules.get(self.names.module(dotted)) if found is None else None
        return self.passed_on(self.names.symbols[there].file, name) if there is not None else found

    def plain(self, one: Written, file: FileName) -> Lead | None:
        """Of its own module, or imported into it."""
        for around in self.around(one.source):
            found = self.names.by_qualified.get(f"{around}.{one.name}")
            if found is not None:
                return Lead(found, WRITTEN_OUT)
        found = self.names.by_qualified.get(f"{file.module}.{one.name}")
        if found is not None:
            return Lead(found, WRITTEN_OUT)
        bound = self.bound(one.file)
        if one.name in bound:
            target = bound[one.name][1]
            return Lead(target, IMPORTED) if target is not None else None
        for module in self.whole.get(one.file, ()):
            if all_found := self.names.in_module(module, one.name):
                return Lead(all_found, ALL_IMPORTED)
        return None

    def around(self, source: int) -> Iterator[str]:
        """Functions and modules that hold functions see them; a class does not see its methods by their bare names."""
        at: int | None = source
        while at is not None:
            one = self.names.symbols.get(at)
            if one is None:
                return
            if one.kind in (SymbolKind.FUNCTION, SymbolKind.METHOD, SymbolKind.MODULE):
                yield one.qualified
            at = one.parent

    def is_receiver(self, one: Written) -> bool:
        """In Go a method calls others by the name of its receiver, one or two letters by custom."""
        source = self.names.symbols.get(one.source)
        return bool(source and source.kind == SymbolKind.METHOD and len(one.before) <= 2)

    def of_own_class(self, one: Written) -> Lead | None:
        owner = self.class_of(one.source)
        if owner is None:
            return None
        if one.before not in ("super", "super()"):
            own = self.names.by_qualified.get(f"{self.names.symbols[owner].qualified}.{one.name}")
            if own is not None:
                return Lead(own, OWN)
        inherited = self.inherited(owner, one.name, BASES_UP)
        return Lead(inherited, INHERITED) if inherited is not None else None

    def class_of(self, source: int) -> int | None:
        at = self.names.symbols.get(source)
        while at is not None:
            if at.kind == SymbolKind.METHOD:
                # What is implemented for a type may stand outside of it.
                return self.names.by_qualified.get(at.qualified.rpartition(".")[0])
            at = self.names.symbols.get(at.parent) if at.parent is not None else None
        return None

    def inherited(self, owner: int, name: str, up: int) -> int | None:
        for base in self.bases.get(owner, ()) if up else ():
            lead = self.sure(base)
            if lead is None or lead.target == owner:
                continue
            found = self.names.by_qualified.get(f"{self.names.symbols[lead.target].qualified}.{name}")
            if found is None:
                found = self.inherited(lead.target, name, up - 1)
            if found is not None:
                return found
        return None

    def guessed(self, one: Written) -> tuple[Lead, ...]:
        """By the name alone, where few have it."""
        if not one.before and one.name in self.bound(one.file):
            return ()  # known to be from elsewhere
        wanted = (SymbolKind.METHOD,) if one.before else CALLABLE
        found = [id for id in self.names.by_name.get(one.name, ()) if self.names.symbols[id].kind in wanted]
        found = [id for id in found if id != one.source]
        if len(found) > FEW:
            return ()
        return tuple(Lead(id, ONLY_ONE if len(found) == 1 else ONE_OF_FEW) for id in found)

    def bound(self, file: int, deep: int = 0) -> dict[str, tuple[str, int | None]]:
        """What each imported name of a file is: its module, and its symbol where that is of the snapshot. `deep`: how
        many modules are being worked out, each for one that imports it."""
        if file not in self.known:
            # Empty while it is worked out: modules import each other.
            self.known[file] = {}
            found: dict[str, tuple[str, int | None]] = {}
            for place, one in enumerate(self.imports.get(file, ())):
                alias = f"*{place}" if one.name == "*" else one.alias
                found[alias] = module, target = self.imported(one, deep + 1)
                if target is not None and self.names.files[file].language == "go":
                    # A package may have another name than the folder that it is imported from.
                    found.setdefault(self.names.symbols[target].qualified.rpartition(".")[2], (module, target))
            self.known[file] = found
            self.whole[file] = [module for alias, (module, _) in found.items() if alias.startswith("*")]
        return self.known[file]

    def imported(self, one: Written, deep: int = 0) -> tuple[str, int | None]:
        """The module, with dots, and the symbol."""
        file = self.names.files[one.file]
        module = self.absolute(one.before, file)
        if one.name in ("", "*"):
            return module, self.names.modules.get(self.names.module(module)) if module else None
        nested = f"{module}.{one.name}" if module else one.name
        if module and (found := self.names.in_module(module, one.name)):
            # A module is gone on from by its name, a symbol by itself.
            return nested, found
        if module and (there := self.names.modules.get(self.names.module(module))) is not None:
            return nested, self.passed_on(self.names.symbols[there].file, one.name, deep)
        return nested, self.names.modules.get(self.names.module(nested))

    def passed_on(self, file: int, name: str, deep: int = 0) -> int | None:
        """What another module has imported itself, and gives on."""
        bound = self.bound(file, deep) if deep < DEEPEST else {}
        if name in bound:
            return bound[name][1]
        for module in self.whole.get(file, ()):
            if found := self.names.in_module(module, name):
                return found
        return None

    def absolute(self, module: str, file: FileName) -> str:
        """A module as a file names it, with dots from the root of the snapshot."""
        if file.language == "python":
            return python_module(module, file)
        if file.language in ("javascript", "typescript", "tsx"):
            return script_module(module, file)
        if file.language == "rust":
            return rust_module(module, file, self.names.crate_of(file.path))
        return module.replace("/", ".")


def python_module(module: str, file: FileName) -> str:
    dots = len(module) - len(module.lstrip("."))
    if not dots:
        return module
    parts = file.module.split(".")
    # Of a package `.` is itself, of a module what it stands in.
    up = dots - 1 if file.path.endswith(("__init__.py", "__init__.pyi")) else dots
    base = parts[: len(parts) - up] if up else parts
    return ".".join([*base, *filter(None, [module.lstrip(".")])])


def script_module(module: str, file: FileName) -> str:
    if not module.startswith("."):
        return module.replace("/", ".")
    path = posixpath.normpath(posixpath.join(posixpath.dirname(file.path), module))
    stem, suffix = posixpath.splitext(path)
    path = stem if suffix in (".js", ".mjs", ".cjs", ".ts", ".tsx", ".jsx") else path
    return module_of(f"{path}.ts", "typescript")


def rust_module(module: str, file: FileName, crate: str) -> str:
    parts = [part for part in module.replace("::", ".").split(".") if part]
    here = file.module.split(".")
    if parts[:1] == ["crate"]:
        return ".".join([*filter(None, [crate]), *parts[1:]])
    if parts[:1] == ["self"]:
        return ".".join([*here, *parts[1:]])
    while parts[:1] == ["super"]:
        parts, here = parts[1:], here[:-1]
        if parts[:1] != ["super"]:
            return ".".join([*here, *parts])
    return ".".join(parts)


class Standing(NamedTuple):
    """How much of the code leads to a symbol: its share of all, and how many symbols call it, tests apart."""

    symbol: int
    share: float
    callers: int
    tests: int


def central(names: Names, leads: Iterable[tuple[int, int, float]]) -> list[Standing]:
    """Each symbol that others lead to, the most central first; equal ones by their names. `leads`: for each reference
    that leads to a symbol for sure where it stands, what it leads to, and how sure that is."""
    graph: rustworkx.PyDiGraph[int, float] = rustworkx.PyDiGraph(multigraph=False)
    ids = [id for id, one in names.symbols.items() if one.kind != SymbolKind.SECTION]
    nodes = dict(zip(ids, graph.add_nodes_from(ids), strict=True))
    weights: dict[tuple[int, int], float] = {}
    callers: dict[int, set[int]] = defaultdict(set)
    for source, target, confidence in leads:
        callers[target].add(source)
        # What tests lead to is not what the code is about.
        if not names.symbols[source].is_test:
            edge = nodes[source], nodes[target]
            weights[edge] = max(weights.get(edge, 0.0), confidence)
    for id, node in nodes.items():
        parent = names.symbols[id].parent
        if parent in nodes:
            edge = node, nodes[parent]
            weights[edge] = max(weights.get(edge, 0.0), PART_OF)
    # In one order whatever was found first: the last digits of sums depend on it.
    graph.add_edges_from([(*edge, weight) for edge, weight in sorted(weights.items())])
    shares = rustworkx.pagerank(graph, alpha=DAMPING, weight_fn=float) if nodes else {}
    found = [
        Standing(id, round(shares[nodes[id]], 9), *split_tests(names, callers[id])) for id in nodes if callers.get(id)
    ]
    return sorted(found, key=lambda one: (-one.share, names.symbols[one.symbol].qualified, one.symbol))


def split_tests(names: Names, callers: Iterable[int]) -> tuple[int, int]:
    tests = [names.symbols[id].is_test for id in callers]
    return len(tests) - sum(tests), sum(tests)
