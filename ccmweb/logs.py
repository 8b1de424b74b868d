"""Keeps sign-in tokens out of the logs: their addresses stand in request lines."""

from __future__ import annotations

import logging
import re

TOKEN = re.compile(r"(/sign-in/)[A-Za-z0-9_-]{16,}")


class HideSignInTokens(logging.Filter):
    def filter(self, record: logging.LogRecord) -> bool:
        # The finished text, because the address is usually an argument and not in the message.
        message = record.getMessage()
        if TOKEN.search(message):
            record.msg, record.args = TOKEN.sub(r"\1…", message), ()
        return True
