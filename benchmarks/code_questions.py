"""Questions whose answers are symbols, worded by whoever documented a package: what its pages say of a symbol by name.

Pages of Sphinx name a symbol (`.. method:: QuerySet.filter(...)`) and say below what it does. The first sentence of it,
without the words of the name, asks for the symbol; the pages are no part of what is searched.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from efforts.domain.text.canonical import sha256
from efforts.domain.text.sentences import sentences
from efforts.domain.text.terms import query_terms, terms_of

LEAST_WORDS = 7
DIRECTIVE = re.compile(r"^( *)\.\. (?:class|function|method|classmethod|decorator|exception):: *([\w.]+)")
# `:meth:`~a.b.c`` and `:doc:`text </page>`` as a reader sees them.
ROLE = re.compile(r":[\w:]+:`(?:~[\w.]*?([\w]+)|([^`<]+?)(?: *<[^`]*>)?)`")


@dataclass(frozen=True)
class Question:
    text: str
    path: str
    qualified: str
    # Path and name of others that answer it as well.
    also: tuple[tuple[str, str], ...] = ()

    @property
    def answers_at(self) -> list[tuple[str, str]]:
        return [(self.path, self.qualified), *self.also]

    @property
    def answers(self) -> set[str]:
        return {name for _, name in self.answers_at}

    @property
    def is_held_back(self) -> bool:
        """Half of them, by hash: nobody looks at these while a ranker is changed."""
        return int(sha256(self.qualified)[:8], 16) % 2 == 1


def written(file: Path, package: str) -> Iterator[Question]:
    """Those of a package in a file of questions that somebody has worded."""
    for line in file.read_text().splitlines():
        one = json.loads(line)
        if one["package"] == package:
            also = tuple((other["path"], other["symbol"]) for other in one.get("also", ()))
            yield Question(one["question"], one["path"], one["symbol"], also)


def without_name(sentence: str, name: str) -> str:
    """Empty where too little is left to ask with."""
    taken = set(terms_of(name))
    asked = " ".join(word for word in sentence.split() if not taken & set(terms_of(word)))
    return asked if len(query_terms(asked)) >= LEAST_WORDS else ""


def documented(pages: Path, symbols: Mapping[str, str], most: int) -> Iterator[Question]:
    """`symbols`: path of each, by its qualified name. Those are asked for that a page names so that no other can be
    meant, each once, as drawn by hash."""
    by_name: dict[str, list[str]] = defaultdict(list)
    for qualified in symbols:
        by_name[qualified.rpartition(".")[2]].append(qualified)
    found: dict[str, str] = {}
    for page in sorted(pages.rglob("*.txt")) + sorted(pages.rglob("*.rst")):
        for name, first in said_on(page.read_text(errors="replace").split("\n")):
            meant = [one for one in by_name[name.rpartition(".")[2]] if f".{one}".endswith(f".{name}")]
            if len(meant) == 1 and (text := without_name(first, name)):
                found.setdefault(meant[0], text)
    for qualified in sorted(found, key=sha256)[:most]:
        yield Question(found[qualified], symbols[qualified], qualified)


def said_on(lines: list[str]) -> Iterator[tuple[str, str]]:
    """Each symbol that a page names, and the first sentence that it says of it."""
    holder, depth = "", 0
    for place, line in enumerate(lines):
        if not (named := DIRECTIVE.match(line)):
            continue
        name = named[2]
        inside = len(named[1]) > depth and holder and "." not in name
        if not inside:
            holder, depth = name, len(named[1])
        first = next(iter(sentences(paragraph(lines[place + 1 :]))), "")
        if first:
            yield (f"{holder}.{name}" if inside else name), first


def paragraph(lines: Iterable[str]) -> str:
    """The first one that is text, without what only the makers of pages write."""
    told: list[str] = []
    for line in lines:
        stripped = line.strip()
        if stripped.startswith((".. ", ":")) or DIRECTIVE.match(line):
            if told or DIRECTIVE.match(line):
                break
            continue
        if stripped:
            told.append(stripped)
        elif told:
            break
    return ROLE.sub(lambda found: found[1] or found[2], " ".join(told)).replace("``", "").replace("*", "")
