"""Addresses of compaction."""

from __future__ import annotations

from django.urls import path

from . import views

urlpatterns = [
    path("review/<slug:artifact_id>/", views.artifact, name="artifact"),
]
