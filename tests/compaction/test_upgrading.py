"""A database from before there was review."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from compaction.models import Artifact
from efforts import actions
from efforts.models import ContextPointer
from tests.compaction.artifacts import concluded
from tests.efforts.talk import Talk

Targets = list[tuple[str, str | None]]

BEFORE: Targets = [("compaction", "0001_artifacts"), ("efforts", "0014_pointer_artifact")]


def migrate(targets: Targets) -> None:
    MigrationExecutor(connection).migrate(targets)


def newest() -> Targets:
    return [(app, name) for app, name in MigrationExecutor(connection).loader.graph.leaf_nodes()]


@pytest.fixture
def talk(transactional_db: None, alice: User) -> Iterator[Talk]:
    yield Talk(actions.create_session(alice))
    # The tests after it need today's tables, whatever has become of this one.
    migrate(newest())


def test_what_stood_then_is_a_first_version_that_says_what_stands(talk: Talk) -> None:
    _, artifact = concluded(talk, "harbour", "We moor at pier 4.")
    migrate(BEFORE)
    migrate(newest())
    artifact = Artifact.objects.get(pk=artifact.pk)
    pointer = ContextPointer.objects.get(artifact=artifact.pk)
    assert (artifact.family, artifact.version, artifact.standing) == (artifact.pk, 1, pointer.text)
    assert pointer.text == "All about harbour."
