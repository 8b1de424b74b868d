"""A conversation that is played, as for efforts."""

from __future__ import annotations

from tests.efforts.conftest import talk
from tests.turns.conftest import provider

__all__ = ["provider", "talk"]
