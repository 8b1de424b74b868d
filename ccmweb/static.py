"""Serves the static files where they lie, so that nothing has to be collected before a start.

Scripts and styles name one another by relative addresses: what stands in the address of one stands in those of all.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from django.conf import settings
from django.contrib.staticfiles.finders import get_finders
from servestatic import ServeStaticASGI

PLAIN = "/static/"
VERSIONED = re.compile(rf"^{PLAIN}[0-9a-f]{{12}}/")


def with_static(application: Any) -> Any:
    # max_age=0: what lies at the plain address keeps its name when it changes, so that browsers ask each time.
    # allow_all_origins is on by default, and no other site needs these files.
    server = ServeStaticASGI(
        application,
        autorefresh=settings.DEBUG,
        max_age=0,
        allow_all_origins=False,
        add_headers_function=_no_sniffing,
        immutable_file_test=lambda path, url: settings.STATIC_URL != PLAIN and url.startswith(settings.STATIC_URL),
    )
    for folder in _folders():
        for prefix in {PLAIN, settings.STATIC_URL}:
            server.add_files(folder, prefix=prefix)

    async def served(scope: Any, receive: Any, send: Any) -> None:
        path = scope.get("path", "")
        # A page that another version made, before an update or in another process, gets the files that are there.
        if VERSIONED.match(path) and not path.startswith(settings.STATIC_URL):
            scope = {**scope, "path": VERSIONED.sub(PLAIN, path)}
        await server(scope, receive, send)

    return served


def _folders() -> Iterator[str]:
    for finder in get_finders():
        for storage in getattr(finder, "storages", {}).values():
            yield storage.location


def _no_sniffing(headers: Any, path: str, url: str) -> None:
    # These answers do not pass Django's SecurityMiddleware, which sets it elsewhere.
    headers["X-Content-Type-Options"] = "nosniff"
