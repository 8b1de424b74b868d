"""Conversations with efforts: those of the turns' stage, with a runner that answers."""

from __future__ import annotations

from tests.turns.conftest import Stage, layer, provider, runner, session, stage

__all__ = ["Stage", "layer", "provider", "runner", "session", "stage"]
