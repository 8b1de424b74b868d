"""The proofs: each command is there, and prints the lines that stand below it."""

from __future__ import annotations

import os
import re
import shlex
import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

import pytest
from django.core.management import get_commands, load_command_class

from tests.empty import empty_home
from tests.house.process import ROOT

# What the commands of a proof leave behind, and the next one reads.
TRIAL = "/tmp/trial"
DOCUMENT = (ROOT / "docs/proofs.md").read_text()


@dataclass(frozen=True, kw_only=True)
class Shown:
    command: str
    lines: tuple[str, ...]


def shown_in(block: str) -> list[Shown]:
    """Each line with a dollar is a command; what stands below it is expected of it."""
    parts = re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]
    return [Shown(command=command, lines=tuple(lines)) for command, *lines in map(str.splitlines, parts)]


PROOFS = [shown_in(block) for block in re.findall(r"```console\n(.*?)```", DOCUMENT, re.DOTALL)]
ALL = [shown for proof in PROOFS for shown in proof]
IN_A_FOLDER = [proof for proof in PROOFS if TRIAL in proof[0].command]
HERE = [proof for proof in PROOFS if "proof_run" in proof[0].command and proof not in IN_A_FOLDER]


def is_among(expected: tuple[str, ...], printed: str) -> list[str]:
    """The expected lines that are missing, in their order; `…` is whatever there may be."""
    rest = iter(printed.splitlines())
    patterns = [re.sub(r"([*?\[])", r"[\1]", line).replace("…", "*") for line in expected]
    return [
        line
        for line, pattern in zip(expected, patterns, strict=True)
        if not any(fnmatchcase(one.rstrip(), pattern) for one in rest)
    ]


def test_a_missing_line_is_found() -> None:
    assert is_among(("a … c", "d [x]"), "a b c\nmore\nd [x]\n") == []
    assert is_among(("d [x]", "a … c"), "a b c\nd [x]\n") == ["a … c"]


def test_there_are_as_many_proofs_as_are_asked_for() -> None:
    assert (len(PROOFS), len(HERE), len(IN_A_FOLDER)) == (6, 2, 2)
    assert all(shown.lines for proof in PROOFS for shown in proof[-1:])


@pytest.mark.parametrize("shown", [one for one in ALL if "manage.py" in one.command], ids=lambda one: one.command)
def test_each_command_is_there_with_these_options(shown: Shown) -> None:
    _, _, called = shown.command.partition("manage.py ")
    name, *options = shlex.split(called.partition(" || ")[0])
    parser = load_command_class(get_commands()[name], name).create_parser("manage.py", name)
    assert vars(parser.parse_args(options))


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return empty_home(tmp_path_factory.mktemp("readme"))


def prove(proof: list[Shown], home: Path) -> None:
    for shown in proof:
        printed = run(shown.command.replace("/tmp/", f"{home}/"), home)
        assert is_among(shown.lines, printed) == [], printed


@pytest.mark.slow
@pytest.mark.parametrize("proof", HERE, ids=lambda proof: proof[0].command)
def test_each_prints_what_stands_below_it(proof: list[Shown], home: Path) -> None:
    prove(proof, home)


@pytest.mark.slow
@pytest.mark.server
def test_so_do_those_that_read_what_an_earlier_one_left(home: Path) -> None:
    for proof in IN_A_FOLDER:
        prove(proof, home)


def run(command: str, home: Path) -> str:
    if command.startswith("sqlite3 "):
        return change(*shlex.split(command)[1:])
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {"PATH": path, "CCM_HOME": str(home), "HOME": str(home)}
    called = subprocess.run(
        command, shell=True, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300, check=True
    )
    return called.stdout


def change(database: str, statement: str) -> str:
    """As the tool of that name, which need not be there."""
    with closing(sqlite3.connect(database)) as connection, connection:
        assert connection.execute(statement).rowcount == 1
    return ""


def test_what_the_gates_are_worth_is_what_their_document_says() -> None:
    (shown,) = [one for one in ALL if "evaluate_gates" in one.command]
    document = (ROOT / "docs/compaction.md").read_text().splitlines()
    assert [line for line in shown.lines if line not in document] == []


@pytest.mark.parametrize("command", ["recall", "salience"])
@pytest.mark.slow
@pytest.mark.skipif("CCM_DATA" not in os.environ, reason="CCM_DATA is not set: no conversations to measure")
def test_what_is_found_again_is_what_stands_there(command: str, home: Path) -> None:
    for shown in ALL:
        if f"manage.py {command} " in shown.command:
            printed = run(shown.command.replace("$CCM_DATA", os.environ["CCM_DATA"]), home)
            assert is_among(shown.lines, printed) == [], printed
