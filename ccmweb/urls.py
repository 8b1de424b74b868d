"""Addresses of the project; those of the chat are in `efforts.urls`."""

from __future__ import annotations

from django.contrib import admin
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.views import LoginView, LogoutView
from django.urls import include, path
from django.views.generic import RedirectView

from ccmweb import health, language, operations, prometheus, views
from ccmweb.sign_in import SignInForm

urlpatterns = [
    path(
        "sign-in/", LoginView.as_view(template_name="sign_in/form.html", authentication_form=SignInForm), name="sign_in"
    ),
    path("sign-in/<str:token>/", views.sign_in_link, name="sign_in_link"),
    path("sign-out/", LogoutView.as_view(), name="sign_out"),
    path("settings/language/", language.choose, name="language"),
    path("livez", health.livez, name="livez"),
    path("readyz", health.readyz, name="readyz"),
    path("operations/", operations.operations, name="operations"),
    path("operations/metrics", prometheus.metrics, name="operations_metrics"),
    # One way in: what is throttled there is throttled here.
    path("admin/login/", login_not_required(RedirectView.as_view(pattern_name="sign_in", query_string=True))),
    path("admin/", admin.site.urls),
    path("", include("compaction.urls")),
    path("", include("workspaces.urls")),
    path("", include("efforts.urls")),
]
handler500 = "ccmweb.faults.server_error"
