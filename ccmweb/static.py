"""Serves the static files where they lie, so that nothing has to be collected before a start."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.conf import settings
from django.contrib.staticfiles.finders import get_finders
from servestatic import ServeStaticASGI


def with_static(application: Any) -> ServeStaticASGI:
    # max_age=0: files keep their names when they change, so browsers ask each time and get 304.
    # allow_all_origins is on by default, and no other site needs these files.
    server = ServeStaticASGI(
        application, autorefresh=settings.DEBUG, max_age=0, allow_all_origins=False, add_headers_function=_no_sniffing
    )
    for folder in _folders():
        server.add_files(folder, prefix=settings.STATIC_URL)
    return server


def _folders() -> Iterator[str]:
    for finder in get_finders():
        for storage in getattr(finder, "storages", {}).values():
            yield storage.location


def _no_sniffing(headers: Any, path: str, url: str) -> None:
    # These answers do not pass Django's SecurityMiddleware, which sets it elsewhere.
    headers["X-Content-Type-Options"] = "nosniff"
