"""Whoever calls a rule or a verb from elsewhere can read in a sentence what comes back."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
APPS = ("ccmweb", "compaction", "efforts", "workspaces")
ROOMS = ("domain", "actions")
TAKEN = re.compile(r"\b(\w+)\.(\w+)")
Function = ast.FunctionDef | ast.AsyncFunctionDef


def sources() -> dict[str, str]:
    paths = (path for app in APPS for path in (ROOT / app).rglob("*.py") if "migrations" not in path.parts)
    return {".".join(path.relative_to(ROOT).with_suffix("").parts): path.read_text() for path in paths}


def home_of(node: ast.ImportFrom, module: str) -> str:
    """The full name of what is imported from."""
    if not node.level:
        return node.module or ""
    return ".".join([*module.split(".")[: -node.level], *([node.module] if node.module else [])])


def called_from(module: str, source: str) -> Iterator[str]:
    """Full names of what it takes from other modules, by import or by way of one."""
    known = {
        one.asname or one.name: f"{home_of(node, module)}.{one.name}"
        for node in ast.parse(source).body
        if isinstance(node, ast.ImportFrom)
        for one in node.names
    }
    yield from known.values()
    yield from (f"{known[of]}.{name}" for of, name in set(TAKEN.findall(source)) if of in known)


@pytest.fixture(scope="module")
def public() -> dict[str, Function]:
    """Rules and verbs that other modules call, by their full names."""
    texts = sources()
    called = {name for module, source in texts.items() for name in called_from(module, source)}
    return {
        f"{module}.{node.name}": node
        for module, source in texts.items()
        if module.split(".")[1] in ROOMS
        for node in ast.parse(source).body
        if isinstance(node, Function) and f"{module}.{node.name}" in called
    }


def test_nine_of_ten_say_what_comes_back(public: dict[str, Function]) -> None:
    silent = sorted(name for name, node in public.items() if not ast.get_docstring(node))
    assert len(public) > 400
    assert len(silent) <= len(public) / 10, silent


def test_those_that_raise_say_when(public: dict[str, Function]) -> None:
    raising = {
        name: ast.get_docstring(node) or ""
        for name, node in public.items()
        if any(isinstance(one, ast.Raise) and one.exc for one in ast.walk(node))
    }
    assert len(raising) > 60
    assert [name for name, said in raising.items() if "aises `" not in said and "refuse" not in said.lower()] == []
