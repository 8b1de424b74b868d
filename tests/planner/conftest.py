from __future__ import annotations

import pytest

from tests.planner.strategies import Log, four_letters


@pytest.fixture
def log() -> Log:
    return Log(count=four_letters)
