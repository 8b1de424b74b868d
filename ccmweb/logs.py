"""Lines of the log, as text or as JSON: whom they concern is on each, secrets are on none. Closed tabs: no error."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from django.core.exceptions import RequestAborted
from django.http import HttpRequest, HttpResponse
from pythonjsonlogger.json import JsonFormatter

from efforts.domain.text.redaction import redact
from efforts.log.concerned import concern, concerned, concerning

# In the addresses of request lines.
TOKEN = re.compile(r"(/sign-in/)[A-Za-z0-9_-]{16,}")


def masked(text: str) -> str:
    return str(redact(TOKEN.sub(r"\1…", text)).value)


class TextLines(logging.Formatter):
    """One line, and the traceback below it; ids at its end."""

    def formatMessage(self, record: logging.LogRecord) -> str:
        ids = " ".join(f"{name}={value}" for name, value in concerned().items())
        return super().formatMessage(record) + (f" [{ids}]" if ids else "")

    def format(self, record: logging.LogRecord) -> str:
        # The whole of it: a traceback quotes what was sent.
        return masked(super().format(record))


class JsonLines(JsonFormatter):
    """One object a line: time, level, logger, message, ids by name, exc_info."""

    def __init__(self) -> None:
        names = {"levelname": "level", "name": "logger"}
        super().__init__("{levelname}{name}{message}", style="{", rename_fields=names)

    def add_fields(self, log_data: dict[str, Any], record: logging.LogRecord, message_dict: dict[str, Any]) -> None:
        log_data["time"] = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        super().add_fields(log_data, record, message_dict)

    def process_log_record(self, log_data: dict[str, Any]) -> dict[str, Any]:
        # Field by field: a mask over the line might take a quotation mark with it.
        found = {name: masked(value) if isinstance(value, str) else value for name, value in log_data.items()}
        # Django adds the request and its socket, which are no data.
        plain = {name: value for name, value in found.items() if isinstance(value, str | int | float | bool)}
        return {**plain, **concerned()}


class HideClosedTabs(logging.Filter):
    """Where the server gives a request up while Django notices that its browser has gone, asyncio logs a traceback."""

    def filter(self, record: logging.LogRecord) -> bool:
        return not (record.exc_info and isinstance(record.exc_info[1], RequestAborted))


class Concerned:
    """What is logged of a request names who sent it."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        with concerning():
            return self.get_response(request)

    def process_view(self, request: HttpRequest, view: Any, args: Any, values: dict[str, Any]) -> None:
        # Where nobody has to be signed in nobody has been looked up, and a look at the process asks no database.
        if getattr(view, "login_required", True) and request.user.is_authenticated:
            concern(user=request.user.pk, session=values.get("session_id"))
