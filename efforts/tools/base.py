"""What every tool is given, and how it says what went wrong."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from efforts.actions import Place
from efforts.domain.effort.states import Via
from efforts.models import Run


class ToolError(Exception):
    """What the model did wrong, and what it should do."""


@dataclass(frozen=True, kw_only=True)
class ToolContext:
    """Where a call happens: a tool sees this branch up to this turn, and nothing else."""

    run: Run

    @property
    def place(self) -> Place:
        return Place(branch=self.run.branch, turn=self.run.turn.number, via=Via.MODEL, run=self.run)


Function = Callable[..., dict[str, Any]]
