"""Addresses of the project; those of the chat are in `efforts.urls`."""

from __future__ import annotations

from django.contrib import admin
from django.contrib.auth.views import LoginView, LogoutView
from django.urls import include, path

from ccmweb import health, views

urlpatterns = [
    path("sign-in/", LoginView.as_view(template_name="sign_in/form.html"), name="sign_in"),
    path("sign-in/<str:token>/", views.sign_in_link, name="sign_in_link"),
    path("sign-out/", LogoutView.as_view(), name="sign_out"),
    path("livez", health.livez, name="livez"),
    path("readyz", health.readyz, name="readyz"),
    path("admin/", admin.site.urls),
    path("", include("compaction.urls")),
    path("", include("efforts.urls")),
]
