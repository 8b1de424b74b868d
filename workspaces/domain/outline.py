"""What stands in one file: definitions within each other, and what each refers to. A pure function of path and text."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from tree_sitter import Node

from workspaces.domain.grammars import Grammar, grammar_of
from workspaces.domain.languages import module_of
from workspaces.domain.parsing import Definition, Reference, read_definitions, read_references
from workspaces.domain.states import SymbolKind

# Lines of a section of a text without headings.
SECTION = 60
# Bytes of a text without code, such as a lock file, beyond which it can be read and is not searched by sections.
LARGEST_TEXT = 128 * 1024
LONGEST_NAME = 200
# Brackets, commas and words of the language itself in a row, of which no code has so many.
MOST_MARKS = 5_000
HEADING = re.compile(r"^(?:#{1,4} +(?P<hash>.+)|(?P<line>\S.*)\n(?:={4,}|-{4,}|~{4,}))$", re.MULTILINE)
TEST_NAME = re.compile(
    r"(^|/)(tests?|__tests__|testing|spec)/|(^|/)(test_[^/]*|[^/]*_test|[^/]*[.](test|spec))[.][^/.]+$"
)
SUMMARY = 600


@dataclass(frozen=True, kw_only=True)
class Outline:
    """`definitions[0]` is the file itself; `broken`: the parser found mistakes, and went on behind them."""

    definitions: tuple[Definition, ...]
    references: tuple[Reference, ...] = ()
    broken: bool = False


def outline_of(path: str, language: str, text: str) -> Outline:
    """Whatever stands in the file, it has an outline: at least of its lines."""
    grammar = grammar_of(language)
    return code_outline(path, grammar, language, text) if grammar else text_outline(path, text)


def code_outline(path: str, grammar: Grammar, language: str, text: str) -> Outline:
    data = text.encode(errors="replace")
    root = grammar.parse(data)
    if is_no_code(root):
        return replace(text_outline(path, text), broken=True)
    name = module_of(path, language, text)
    file = Definition(
        kind=SymbolKind.MODULE,
        name=name.rpartition(".")[2][:LONGEST_NAME] or path,
        inside="",
        parent=None,
        lines=(1, max(text.count("\n") + (not text.endswith("\n")), 1)),
        doc=grammar.file_doc(root)[:SUMMARY],
        is_test=bool(TEST_NAME.search(path)),
    )
    definitions, nodes = read_definitions(grammar, root, file)
    references = read_references(grammar, root, nodes)
    return Outline(definitions=tuple(definitions), references=tuple(references), broken=root.has_error)


def is_no_code(root: Node) -> bool:
    """For each of many marks in a row whoever looks for names goes through all that follow."""
    large = [root]
    while large:
        node = large.pop()
        if node.descendant_count <= MOST_MARKS:
            continue
        marks = 0
        for child in node.children:
            marks = 0 if child.is_named else marks + 1
            if marks > MOST_MARKS:
                return True
            large.append(child)
    return False


def text_outline(path: str, text: str) -> Outline:
    """By headings; without any by so many lines."""
    last = max(text.count("\n") + (not text.endswith("\n")), 1)
    name = PurePosixPath(path).name[:LONGEST_NAME]
    file = Definition(kind=SymbolKind.MODULE, name=name, inside="", parent=None, lines=(1, last))
    if len(text.encode(errors="replace")) > LARGEST_TEXT:
        return Outline(definitions=(file,))
    return Outline(definitions=(file, *sections(path, text, last)))


def sections(path: str, text: str, last: int) -> Iterator[Definition]:
    starts = list(headings(text)) if path.lower().endswith((".md", ".markdown", ".rst", ".txt")) else []
    if not starts or starts[0][0] > 1:
        starts.insert(0, (1, ""))
    bounds = [*(line for line, _ in starts[1:]), last + 1]
    for (first, title), end in zip(starts, bounds, strict=True):
        for start in range(first, end, SECTION):
            name = title if start == first and title else f"lines {start}-{min(start + SECTION, end) - 1}"
            span = (start, min(start + SECTION, end) - 1)
            yield Definition(kind=SymbolKind.SECTION, name=name[:LONGEST_NAME], inside=name, parent=0, lines=span)


def headings(text: str) -> Iterator[tuple[int, str]]:
    for found in HEADING.finditer(text):
        title = found["line"] or found["hash"].rstrip(" #") or found["hash"][0]
        yield text.count("\n", 0, found.start()) + 1, title.strip()


def parts_of(definitions: Sequence[Definition]) -> Mapping[int, Sequence[Definition]]:
    """By the place of each definition those that it contains."""
    parts = defaultdict[int, list[Definition]](list)
    for one in definitions:
        if one.parent is not None:
            parts[one.parent].append(one)
    return parts


def own_lines(one: Definition, parts: Sequence[Definition], lines: Sequence[str]) -> str:
    """The lines of a definition without those of its `parts`; of functions all of them."""
    first, last = one.lines
    if one.kind in (SymbolKind.FUNCTION, SymbolKind.METHOD):
        return "\n".join(lines[first - 1 : last])
    taken = {line for part in parts for line in range(part.lines[0], part.lines[1] + 1)}
    return "\n".join(lines[line - 1] for line in range(first, min(last, len(lines)) + 1) if line not in taken)
