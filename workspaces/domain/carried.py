"""Where the references of a snapshot lead, without looking up again what a change cannot have moved.

Whatever is looked up for a reference ends in its own last word, in a name that is imported or inherited, in the class
of a method, or in a module. So where modules, imports and bases are as they were, and none of them is called like what
is defined otherwise now, only references in changed files and to these names can lead elsewhere. Wherever that is not
plain, nothing is carried.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from workspaces.domain.graph import Named, Names, Resolver, Written
from workspaces.domain.states import EdgeKind, SymbolKind

# Names and files of one change, beyond which all is looked up.
MOST = 500


class Sure(NamedTuple):
    """A reference that leads to a symbol for sure; `name`: its last word, as it is written."""

    name: str
    source: int
    target: int
    confidence: float


# By file.
Leads: TypeAlias = Mapping[int, Sequence[Sure]]
# A symbol as those who refer to it know it: its file, and kind and name with those of all around it.
Told: TypeAlias = tuple[object, ...]


@dataclass(frozen=True, kw_only=True)
class Carried:
    """`leads` of files that have not changed; still to be looked up: all of `files` and, anywhere, those to `names`."""

    leads: Leads
    files: frozenset[int]
    names: frozenset[str]


def leads_of(resolver: Resolver, references: Iterable[Written]) -> dict[int, Sequence[Sure]]:
    """Without imports, which call nothing, and what is guessed."""
    found: dict[int, list[Sure]] = defaultdict(list)
    for one in references:
        lead = resolver.sure(one) if one.kind != EdgeKind.IMPORTS and one.source in resolver.names.symbols else None
        if lead is not None and lead.target != one.source:
            found[one.file].append(Sure(one.name, one.source, *lead))
    return dict(found)


def carry(leads: Leads, old: Resolver, new: Resolver) -> Carried | None:
    """Those of one snapshot of a folder to another, by their names; None where all are to be looked up."""
    gone, added = old.names.files.keys() - new.names.files.keys(), new.names.files.keys() - old.names.files.keys()
    if {old.names.files[id] for id in gone} != {new.names.files[id] for id in added}:
        return None
    if old.names.roots != new.names.roots or len(added) > MOST:
        return None
    before, after = Defined(old.names, gone), Defined(new.names, added)
    names = frozenset(word for word in {*before.by_word, *after.by_word} if before.by_word[word] != after.by_word[word])
    if len(names) > MOST or (names and names & (joining(old, gone) | joining(new, added))):
        return None
    if imports_of(old, gone) != imports_of(new, added) or before.bases(old, names) != after.bases(new, names):
        return None
    kept: dict[int, Sequence[Sure]] = {}
    for file in leads.keys() - gone:
        of_file = [one for one in leads[file] if one.name not in names]
        moved = {one.target for one in of_file} & before.told.keys()
        if any(before.told[id] not in after.ids for id in moved):
            return None
        to = {id: after.ids[before.told[id]] for id in moved}
        kept[file] = [one._replace(target=to[one.target]) if one.target in to else one for one in of_file]
    return Carried(leads=kept, files=frozenset(added), names=names)


class Defined:
    """What some files define: `by_word` in the order of the text, as the first of several with one name stands."""

    def __init__(self, names: Names, files: Set[int]) -> None:
        self.told: dict[int, Told] = {}
        self.by_word: dict[str, list[Told]] = defaultdict(list)
        self.words: dict[int, set[str]] = {}
        times: Counter[Told] = Counter()
        for one in names.symbols.values():
            if one.file not in files:
                continue
            told: Told = (names.files[one.file].path, *around(one, names))
            times[told] += 1
            self.told[one.id] = (times[told], *told)
            self.words[one.id] = words_of(one)
            for word in self.words[one.id]:
                self.by_word[word].append(told)
        self.ids = {told: id for id, told in self.told.items()}

    def bases(self, resolver: Resolver, names: Set[str]) -> dict[Told, list[tuple[str, str]]]:
        """Of classes that are not themselves among `names`: of those nobody else inherits."""
        return {
            told: [(base.name, base.before) for base in resolver.bases[id]]
            for id, told in self.told.items()
            if id in resolver.bases and not self.words[id] & names
        }


def around(one: Named, names: Names) -> Iterator[tuple[str, str, str]]:
    at: Named | None = one
    while at is not None:
        yield at.kind, at.name, at.qualified
        at = names.symbols.get(at.parent) if at.parent is not None else None


def words_of(one: Named) -> set[str]:
    return {one.name, last_word(one.qualified)}


def last_word(dotted: str) -> str:
    return dotted.rpartition(".")[2]


def joining(resolver: Resolver, changed: Set[int]) -> set[str]:
    """Names by which what one file says depends on another: imported ones, bases, and the classes of methods in files
    that have not changed."""
    names = resolver.names
    written = [one.name for several in (*resolver.imports.values(), *resolver.bases.values()) for one in several]
    methods = (one for one in names.symbols.values() if one.kind == SymbolKind.METHOD and one.file not in changed)
    return {*map(last_word, written), *(last_word(one.qualified.rpartition(".")[0]) for one in methods)}


def imports_of(resolver: Resolver, files: Set[int]) -> dict[str, list[tuple[str, str, str]]]:
    return {
        resolver.names.files[file].path: [(one.name, one.before, one.alias) for one in resolver.imports.get(file, ())]
        for file in files
    }
