"""Addresses of workspaces."""

from __future__ import annotations

from django.urls import path

from workspaces.pages import views

urlpatterns = [
    path("s/<uuid:session_id>/code/", views.code, name="code"),
    path("s/<uuid:session_id>/code/detach/", views.detach, name="code_detach"),
    path("s/<uuid:session_id>/code/outcomes/", views.code_outcomes, name="code_outcomes"),
    path("s/<uuid:session_id>/code/outcomes.jsonl", views.code_outcomes_lines, name="code_outcomes_lines"),
    path("s/<uuid:session_id>/code/pins/", views.code_pins, name="code_pins"),
    path("s/<uuid:session_id>/code/pins/<int:pk>/", views.code_pin, name="code_pin"),
    path("s/<uuid:session_id>/commands/", views.commands, name="commands"),
    path("s/<uuid:session_id>/commands/<int:pk>/", views.command, name="command"),
    path("s/<uuid:session_id>/edits/<int:pk>/", views.edit, name="edit"),
    path("s/<uuid:session_id>/edits/<int:pk>/undo/", views.undo, name="edit_undo"),
    path("code/<uuid:workspace_id>/", views.workspace, name="workspace"),
    path("code/<uuid:workspace_id>/progress/", views.progress, name="workspace_progress"),
    path("code/<uuid:workspace_id>/download/", views.download, name="workspace_download"),
    path("code/<uuid:workspace_id>/index/", views.index, name="workspace_index"),
    path("code/<uuid:workspace_id>/cancel/", views.cancel, name="workspace_cancel"),
    path("code/<uuid:workspace_id>/<int:number>/<path:path>", views.source, name="source"),
]
