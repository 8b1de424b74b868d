"""How the suite itself runs."""

from __future__ import annotations

import pytest


def test_a_slow_test_does_not_end_its_process(pytestconfig: pytest.Config) -> None:
    """After this many seconds the stacks of running threads would be read without a lock, which may crash (seen)."""
    assert float(pytestconfig.getini("faulthandler_timeout")) == 0
