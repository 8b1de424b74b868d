"""A database of the first build, migrated to what the code is now."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.db import transaction

from .dumps import migrate_to_newest, restored


@pytest.fixture
def restored_only(django_db_blocker: Any) -> Iterator[None]:
    """Not migrated yet."""
    with django_db_blocker.unblock(), restored():
        yield


@pytest.fixture(scope="package")
def migrated(django_db_blocker: Any) -> Iterator[None]:
    """Once for all tests here, as each takes back what it does."""
    with django_db_blocker.unblock(), restored():
        migrate_to_newest()
        yield


@pytest.fixture
def first_build(migrated: None) -> Iterator[None]:
    with transaction.atomic():
        yield
        transaction.set_rollback(True)
