"""How the suite itself runs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def test_a_slow_test_does_not_end_its_process(pytestconfig: pytest.Config) -> None:
    """After this many seconds the stacks of running threads would be read without a lock, which may crash (seen)."""
    assert float(pytestconfig.getini("faulthandler_timeout")) == 0


def test_what_make_test_leaves_out_is_run_by_make_test_all() -> None:
    """What needs servers, and what is asked of both databases, by its second half."""
    quick, every, servers = re.findall(r'pytest -n 2 -m "(not [^"]+)"', (ROOT / "Makefile").read_text())
    without = [{part.removeprefix("not ") for part in words.split(" and ")} for words in (quick, every, servers)]
    assert without == [{"slow", "long", "grown", "soak"}, {"grown", "soak"}, {"slow", "soak"}]
