"""A new version migrates the database while the old one still serves: no migration may take away what that reads or
writes. What goes, goes in two versions: the first stops using it, the next removes it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.db import migrations, models
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.operations.base import Operation
from django.db.models import NOT_PROVIDED

# The last of each app from before this was asked; no version has been released with any of them.
UNRELEASED = {"ccmweb": "0001", "efforts": "0024", "compaction": "0006", "workspaces": "0003"}
GOES = (
    migrations.RemoveField,
    migrations.DeleteModel,
    migrations.RenameField,
    migrations.RenameModel,
    migrations.AlterModelTable,
)


def faults(operation: Operation) -> Iterator[str]:
    named = f"{type(operation).__name__} {getattr(operation, 'name', '')}".strip()
    if isinstance(operation, GOES):
        yield f"{named}: the old version still reads it. Stop using it first, and remove it one version later."
    if isinstance(operation, migrations.AddField) and needs_a_value(operation.field):
        yield f"{named}: the old version inserts rows without it. Give it null=True or a db_default."
    if isinstance(operation, migrations.AlterField) and operation.field.unique and not operation.field.primary_key:
        yield f"{named}: what the old version stores may be there twice. Make it unique one version later."
    if isinstance(operation, migrations.RunSQL):
        yield f"{named}: nobody can tell what it does. Use operations."
    if isinstance(operation, migrations.RunPython) and operation.reverse_code is None:
        yield f"{named}: it has no way back. Give it reverse_code."
    if isinstance(operation, migrations.SeparateDatabaseAndState):
        for inner in operation.database_operations:
            yield from faults(inner)


def needs_a_value(field: models.Field[object, object]) -> bool:
    return not (field.null or field.many_to_many or field.db_default is not NOT_PROVIDED)


def test_no_migration_breaks_the_version_that_still_serves() -> None:
    found = [
        f"{app}.{name}: {fault}"
        for (app, name), migration in sorted(MigrationLoader(None).disk_migrations.items())
        if app in UNRELEASED and name[:4] > UNRELEASED[app]
        for operation in migration.operations
        for fault in faults(operation)
    ]
    assert found == []


def test_the_last_ones_before_the_first_release_are_there() -> None:
    """Else a name that was changed would let everything through."""
    known = {(app, name[:4]) for app, name in MigrationLoader(None).disk_migrations}
    assert set(UNRELEASED.items()) <= known


@pytest.mark.parametrize(
    ("operation", "allowed"),
    [
        (migrations.RemoveField("message", "text"), False),
        (migrations.RenameField("message", "text", "words"), False),
        (migrations.DeleteModel("Message"), False),
        (migrations.RunSQL("DROP TABLE efforts_message"), False),
        (migrations.AddField("message", "later", models.IntegerField(default=0)), False),
        (migrations.AddField("message", "later", models.IntegerField(db_default=0)), True),
        (migrations.AddField("message", "later", models.IntegerField(null=True)), True),
        (migrations.AlterField("message", "text", models.TextField(unique=True)), False),
        (migrations.CreateModel("Later", []), True),
    ],
)
def test_what_is_refused(operation: Operation, allowed: bool) -> None:
    assert (list(faults(operation)) == []) is allowed
