"""Daphne in this process, with a sign-in link once the port is ours."""

from __future__ import annotations

import asyncio
import importlib
import ipaddress
import logging
import os
import socket
import sys
from collections.abc import Callable
from typing import Any, NoReturn

from daphne.endpoints import build_endpoint_description_strings
from daphne.server import Server, twisted_loop
from django.conf import settings
from django.urls import reverse
from twisted.internet import reactor
from twisted.internet.defer import Deferred

from ccmweb import sign_in
from efforts.models.threads import keep_for_good, share_among_threads
from efforts.turns.runner import ensure_started, shut_down

HANDSHAKE_SECONDS = 60


class PortTaken(Exception):
    """The address cannot be listened on; the text says which and why."""


def require_port(host: str, port: int) -> None:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        # Tried before anything else, for words that Twisted's error does not have.
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            # As the server will: connections that are still closing do not hold a port.
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((host.strip("[]"), port))
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise PortTaken(f"Cannot listen on {host} port {port}: {reason}. Try another: make run PORT=8001") from error


def is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def welcome(host: str, port: int) -> str:
    """What is printed at start; a link only where no other machine can come in by it."""
    if not is_loopback(host):
        return (
            f"CCM Web listens on http://{host}:{port}/\n"
            "For a sign-in link: manage.py sign_in_link USER --base http://ADDRESS"
        )
    token = sign_in.make_link(sign_in.local_owner())
    link = f"http://{host}:{port}{reverse('sign_in_link', args=[token])}"
    return f"CCM Web is ready. Sign in once, within the hour, by this link:\n\n    {link}\n"


def serve(application: Any, host: str, port: int, announce: Callable[[str], None]) -> None:
    share_among_threads()
    server: Server = Server(
        application=application,
        endpoints=build_endpoint_description_strings(host=host, port=port),
        # The port as it turned out: 0 asks for any free one.
        ready_callable=lambda: announce(welcome(host, server.listening_addresses[0][1])),
        server_name="ccmweb",
        # When all pages come back at once the last wait for the first; who is turned away would only come again.
        websocket_handshake_timeout=HANDSHAKE_SECONDS,
        websocket_connect_timeout=HANDSHAKE_SECONDS,
        # Not X-Forwarded-For: of that a client may have written the first address itself.
        proxy_forwarded_address_header="X-Real-IP" if settings.CCM_REAL_IP else None,
        proxy_forwarded_port_header=None,
    )
    if settings.CCM_RUNNER == "embedded":
        # What waited when the last process ended goes on before anybody looks.
        twisted_loop.call_soon(ensure_started)
    reactor.addSystemEventTrigger("before", "shutdown", end_runner)  # type: ignore[arg-type]  # an interface, no self
    # With the pages, which else the first request would load.
    importlib.import_module(settings.ROOT_URLCONF)
    keep_for_good()
    server.run()


def leave() -> NoReturn:
    """All that counts is stored by now. A page that was still being made waits for a loop that runs no more, and Python
    would wait for its thread for ever."""
    logging.shutdown()
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(0)


def end_runner() -> Deferred[None]:
    """The process waits for this before it ends."""
    return Deferred.fromFuture(asyncio.ensure_future(shut_down()))
