"""What is logged, as its lines are written, in the thread and the task that write them."""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ccmweb.logs import JsonLines


class Kept(logging.Handler):
    """`ended` is set when a line begins with `until`."""

    def __init__(self, until: str) -> None:
        super().__init__()
        self.setFormatter(JsonLines())
        self.until = until
        self.ended = threading.Event()
        self.lines: list[dict[str, Any]] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(json.loads(self.format(record)))
        if self.until and self.lines[-1]["message"].startswith(self.until):
            self.ended.set()


@contextmanager
def kept_of(name: str, until: str = "") -> Iterator[Kept]:
    kept = Kept(until)
    logger = logging.getLogger(name)
    logger.addHandler(kept)
    try:
        yield kept
    finally:
        logger.removeHandler(kept)
