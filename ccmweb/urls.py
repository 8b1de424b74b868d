"""Addresses of the project; those of the chat are in `efforts.urls`."""

from __future__ import annotations

from django.contrib import admin
from django.urls import include, path

urlpatterns = [
    path("admin/", admin.site.urls),
    path("", include("efforts.urls")),
]
