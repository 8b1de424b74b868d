"""The one entry for HTTP and websockets."""

from __future__ import annotations

import os
from importlib.util import find_spec

from channels.auth import AuthMiddlewareStack
from channels.routing import ProtocolTypeRouter, URLRouter
from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "ccmweb.settings")
http = get_asgi_application()

if find_spec("efforts.routing"):
    from efforts.routing import websocket_urlpatterns
else:
    websocket_urlpatterns = []

from ccmweb.origin import SameOrigin  # noqa: E402
from ccmweb.static import with_static  # noqa: E402

application = with_static(
    ProtocolTypeRouter(
        {
            "http": http,
            "websocket": SameOrigin(AuthMiddlewareStack(URLRouter(websocket_urlpatterns))),
        }
    )
)
