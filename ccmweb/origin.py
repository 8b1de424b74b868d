"""Refuses websockets opened by other sites' pages; the browser would send our cookie along with them."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from channels.security.websocket import WebsocketDenier
from django.conf import settings
from django.http.request import split_domain_port, validate_host


class SameOrigin:
    """Stricter than the hosts alone: another port of this machine is another program."""

    def __init__(self, application: Any) -> None:
        self.application = application

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        application = self.application if is_same_origin(scope["headers"]) else WebsocketDenier()
        await application(scope, receive, send)


def is_same_origin(headers: list[tuple[bytes, bytes]]) -> bool:
    found = {name: value.decode("latin-1") for name, value in headers if name in (b"origin", b"host")}
    host = found.get(b"host", "").lower()
    domain, _ = split_domain_port(host)
    try:
        origin = urlsplit(found.get(b"origin", "")).netloc
    except ValueError:
        return False
    # Django holds requests against ALLOWED_HOSTS, but no websockets. Who sends no Origin matches no host.
    return validate_host(domain, settings.ALLOWED_HOSTS) and origin == host
