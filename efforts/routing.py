"""Socket addresses."""

from django.urls import path

from efforts.consumers import SessionConsumer

websocket_urlpatterns = [path("ws/s/<uuid:session_id>/", SessionConsumer.as_asgi())]
