"""What every tool is given, and how it says what went wrong."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from efforts.actions import Place
from efforts.domain.effort.states import Via
from efforts.models import Run
from efforts.retrieval.vectors import Asked

# Tokens that one result may quote: a quarter of the smallest budget.
READ_TOKENS = 1_000


NOTHING_ASKED = Asked()


class ToolError(Exception):
    """What the model did wrong, and what it should do."""


@dataclass(frozen=True, kw_only=True)
class ToolContext:
    """Where a call happens: a tool sees this branch up to this turn, and nothing else.

    `room`: tokens that its result may have in the prompt; `asked`: what a search means, where that is known: it was
    asked before, as no model is waited for while a change is being stored.
    """

    run: Run
    room: int = 2 * READ_TOKENS
    asked: Asked = NOTHING_ASKED

    @property
    def place(self) -> Place:
        return Place(branch=self.run.branch, turn=self.run.turn.number, via=Via.MODEL, run=self.run)

    @property
    def reading(self) -> int:
        """Tokens of text that a result may quote; as JSON it is longer."""
        return min(READ_TOKENS, self.room // 2)


Function = Callable[..., dict[str, Any]]
