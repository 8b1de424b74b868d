"""A database of the first build, migrated to what the code is now."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from .dumps import migrate_to_newest, restored


@pytest.fixture
def restored_only(django_db_blocker: Any) -> Iterator[None]:
    """Not migrated yet."""
    with django_db_blocker.unblock(), restored():
        yield


@pytest.fixture
def first_build(restored_only: None) -> None:
    migrate_to_newest()
