from __future__ import annotations

from tests.sockets.conftest import layer, open_tab, provider, runner, session, stage
from tests.sockets.test_layer_lost import redis

__all__ = ["layer", "open_tab", "provider", "redis", "runner", "session", "stage"]
