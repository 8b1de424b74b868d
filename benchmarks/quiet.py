"""Conversations played at once, with nobody to follow them and no time between the threads."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeVar
from unittest.mock import patch

from efforts.log import events

R = TypeVar("R")


@contextmanager
def unheard() -> Iterator[None]:
    """Where nobody follows what is written, nobody is told."""
    with patch.object(events.doorbell, "ring", lambda ringing: None):
        yield
