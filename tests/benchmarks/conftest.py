"""What is imported goes on as a conversation does: the same stage as theirs."""

from tests.turns.conftest import layer, provider, runner, session, stage

__all__ = ["layer", "provider", "runner", "session", "stage"]
