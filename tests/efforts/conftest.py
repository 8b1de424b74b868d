"""Conversations with efforts: those of the turns' stage, with a runner that answers, and one that is played."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.contrib.auth.models import User

from efforts import actions
from tests.efforts.port import Scripted, scripted
from tests.efforts.talk import Talk
from tests.turns.conftest import Stage, layer, provider, runner, session, stage

__all__ = ["Stage", "layer", "provider", "runner", "session", "stage"]


@pytest.fixture
def talk(alice: User) -> Talk:
    return Talk(actions.create_session(alice))


@pytest.fixture
def port() -> Iterator[Scripted]:
    """What efforts have of compaction, as the test tells it."""
    yield from scripted()
