"""docs/specification.md and docs/security.md name what is there: modules, pages, commands, tests. A name that leads
nowhere fails here."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from uuid import UUID

import pytest
from django.core.management import get_commands
from django.urls import Resolver404, URLResolver, resolve
from django.urls.resolvers import RegexPattern

from efforts.routing import websocket_urlpatterns
from tests.house.process import ROOT

NOT_BUILT = "not built yet"
CHANGED = "changed, because "
HEADER = ["Asked for", "Where", "Test"]
STAND_INS = {"token": "abc", "n": "1"}  # everything else in an address is a UUID


@dataclass(frozen=True, kw_only=True)
class Row:
    line: int
    asked: str
    where: str
    test: str

    @property
    def is_open(self) -> bool:
        return NOT_BUILT in self.where or CHANGED in self.where


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def read_rows() -> Iterator[Row]:
    for number, line in enumerate((ROOT / "docs/specification.md").read_text().splitlines(), 1):
        if not line.startswith("|") or cells(line) == HEADER or set(line) <= set("|-: "):
            continue
        asked, where, test = cells(line)
        yield Row(line=number, asked=asked, where=where, test=test)


ROWS = list(read_rows())


def names_in(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


def exists(name: str) -> bool:
    if name.startswith("/"):
        return is_address(name)
    if name.startswith("manage.py "):
        return name.split()[1] in get_commands()
    if name.startswith("make "):
        return f"\n{name.split()[1]}:" in (ROOT / "Makefile").read_text()
    path, _, symbol = name.partition("::")
    return (ROOT / path).exists() and (not symbol or symbol in defined_in(path))


def is_address(address: str) -> bool:
    path = re.sub(r"<(\w+)>", lambda found: STAND_INS.get(found[1], str(UUID(int=1))), address)
    try:
        if path.startswith("/ws/"):
            URLResolver(RegexPattern("^/"), websocket_urlpatterns).resolve(path)
        else:
            resolve(path)
    except Resolver404:
        return False
    return True


@cache
def defined_in(path: str) -> set[str]:
    """What a module defines at its top and in its classes."""
    tree = ast.parse((ROOT / path).read_text())
    inside = [node for top in tree.body if isinstance(top, ast.ClassDef) for node in top.body]
    return {name for node in [*tree.body, *inside] for name in names_of(node)}


def names_of(node: ast.stmt) -> list[str]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return [target.id for target in targets if isinstance(target, ast.Name)]


def test_the_tables_are_read() -> None:
    assert len(ROWS) > 300


def test_every_name_of_a_row_leads_somewhere() -> None:
    wrong = [f"line {row.line}: {name}" for row in ROWS for name in names_in(row.where + row.test) if not exists(name)]
    assert wrong == []


def test_every_row_is_built_and_tested_or_says_that_it_is_not() -> None:
    silent = [
        f"line {row.line}: {row.asked}"
        for row in ROWS
        if not row.is_open and not (names_in(row.where) and names_in(row.test))
    ]
    assert silent == []


def test_the_test_column_names_tests() -> None:
    wrong = [name for row in ROWS for name in names_in(row.test) if not re.match(r"tests/.+\.py(::\w+)?$", name)]
    assert wrong == []


def test_every_row_of_what_was_tried_names_a_test_that_is_there() -> None:
    lines = (ROOT / "docs/security.md").read_text().splitlines()
    rows = [cells(line) for line in lines if line.startswith("| ") and not line.startswith("| Tried ")]
    assert len(rows) > 50
    named = {tried: [name for name in names_in(test) if name.startswith("tests/")] for tried, _, test in rows}
    assert [tried for tried, tests in named.items() if not tests] == []
    assert [name for tests in named.values() for name in tests if not exists(name)] == []


@pytest.mark.parametrize(
    "name",
    [
        "efforts/domain/no_such_module.py",
        "efforts/domain/prompt/planner.py::no_such_function",
        "tests/turns/test_turns.py::test_no_such_thing",
        "/s/<session>/no-such-page/",
        "/ws/s/none/",
        "manage.py no_such_command",
        "make no-such-target",
    ],
)
def test_a_name_that_leads_nowhere_is_noticed(name: str) -> None:
    assert not exists(name)
