"""Socket addresses."""

from django.urls import path

from efforts.turns.consumers import SessionConsumer

websocket_urlpatterns = [path("ws/s/<uuid:session_id>/", SessionConsumer.as_asgi())]
