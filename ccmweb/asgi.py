"""The one entry for HTTP and websockets."""

from __future__ import annotations

import os
from contextlib import nullcontext
from typing import Any

from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "ccmweb.settings")
http = get_asgi_application()

# These need the apps that the line above has loaded.
from channels.routing import ProtocolTypeRouter, URLRouter  # noqa: E402
from channels.security.websocket import WebsocketDenier  # noqa: E402
from django.conf import settings  # noqa: E402
from django.urls import re_path  # noqa: E402

from ccmweb.bodies import BoundedBodies  # noqa: E402
from ccmweb.origin import SameOrigin  # noqa: E402
from ccmweb.static import with_static  # noqa: E402
from efforts.routing import websocket_urlpatterns  # noqa: E402
from efforts.turns.lanes import pages  # noqa: E402
from efforts.turns.runner import ensure_started  # noqa: E402

# A page of another site must not get as far as having its visitor's cookie looked up.
# Last: for an address that no socket has the router would raise.
NO_SOCKET = re_path("", WebsocketDenier.as_asgi())
websocket = SameOrigin(URLRouter([*websocket_urlpatterns, NO_SOCKET]))
routed = with_static(ProtocolTypeRouter({"http": BoundedBodies(http), "websocket": websocket}))


async def application(scope: Any, receive: Any, send: Any) -> None:
    if settings.CCM_RUNNER == "embedded":
        # Here and not at import, where no loop runs yet; a runner that has ended is started again by the next request.
        ensure_started()
    with pages.one() if scope["type"] == "http" else nullcontext():
        await routed(scope, receive, send)
