"""The stage of turns with a model that drafts and checks, and pieces of work whose summaries are what a test says."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.contrib.auth.models import User

from tests.compaction.review import Room, room_of
from tests.compaction.worth import Bench, bench_of
from tests.fakes.provider import FakeProvider
from tests.turns.conftest import Stage, layer, provider, runner, session, stage

__all__ = ["Stage", "bench", "layer", "provider", "room", "runner", "session", "stage"]


@pytest.fixture
def room(alice: User, provider: FakeProvider) -> Room:
    return room_of(alice, provider)


@pytest.fixture
def bench(alice: User) -> Iterator[Bench]:
    with bench_of(alice) as bench:
        yield bench
