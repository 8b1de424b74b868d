"""A few rounds of what `make soak` does two hundred times: processes are killed and stopped in the middle of turns."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fakes.provider import FakeProvider
from tests.server.kills import PEOPLE, Matrix

pytestmark = [pytest.mark.server, pytest.mark.slow]


@pytest.mark.parametrize(("workers", "strikes"), [(0, 3), (2, 6)])
async def test_kills_and_stops_lose_nothing_that_was_acknowledged_or_shown(
    home: Path, provider: FakeProvider, workers: int, strikes: int
) -> None:
    await survive(Matrix.of(home, provider, workers, seed=20), strikes)


async def survive(matrix: Matrix, strikes: int) -> None:
    counted = await matrix.play(strikes)
    assert counted["killed"] + counted["stopped"] == strikes
    # In the first round all are met in the middle of a reply.
    assert counted["interrupted"] >= PEOPLE
    assert counted["conversations not whole"] == 0
