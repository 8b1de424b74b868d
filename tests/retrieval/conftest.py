"""A conversation that is played, as for efforts."""

from __future__ import annotations

from tests.efforts.conftest import talk

__all__ = ["talk"]
