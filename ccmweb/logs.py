"""Keeps sign-in tokens out of the logs, whose addresses stand in request lines, and tabs that were closed: no error."""

from __future__ import annotations

import logging
import re

from django.core.exceptions import RequestAborted

TOKEN = re.compile(r"(/sign-in/)[A-Za-z0-9_-]{16,}")


class HideSignInTokens(logging.Filter):
    def filter(self, record: logging.LogRecord) -> bool:
        # The finished text, because the address is usually an argument and not in the message.
        message = record.getMessage()
        if TOKEN.search(message):
            record.msg, record.args = TOKEN.sub(r"\1…", message), ()
        return True


class HideClosedTabs(logging.Filter):
    """Where the server gives a request up while Django notices that its browser has gone, asyncio logs a traceback."""

    def filter(self, record: logging.LogRecord) -> bool:
        return not (record.exc_info and isinstance(record.exc_info[1], RequestAborted))
