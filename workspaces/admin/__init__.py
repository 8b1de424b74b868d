"""Workspaces in the admin, to look at."""

from __future__ import annotations

from django.contrib import admin

from efforts.admin.base import ReadOnly
from workspaces.models import CommandRun, ProposedEdit, Snapshot, Workspace


@admin.register(Workspace)
class WorkspaceAdmin(ReadOnly):
    list_display = ("name", "owner", "kind", "state", "root", "created_at")
    list_filter = ("state", "kind")
    search_fields = ("name", "root")
    owner_path = "owner"
    session_path = ""


@admin.register(Snapshot)
class SnapshotAdmin(ReadOnly):
    list_display = ("__str__", "workspace", "stage", "files", "symbols", "created_at")
    owner_path = "workspace__owner"
    session_path = ""
    fields = (
        "workspace",
        "number",
        "sha256",
        "stage",
        "files",
        "lines",
        "symbols",
        "skipped",
        "elapsed_ms",
        "created_at",
    )


@admin.register(ProposedEdit)
class ProposedEditAdmin(ReadOnly):
    list_display = ("__str__", "session", "state", "created_at", "decided_at", "undone_at")
    list_filter = ("state",)
    search_fields = ("path",)
    owner_path = "session__owner"
    fields = ("session", "run", "workspace", "path", "sha256", "why", "state", "accepted", "written", "result")


@admin.register(CommandRun)
class CommandRunAdmin(ReadOnly):
    list_display = ("__str__", "session", "state", "end", "exit_code", "created_at", "ended_at")
    list_filter = ("state", "end", "name")
    search_fields = ("name",)
    owner_path = "session__owner"
    fields = ("session", "turn", "run", "workspace", "name", "line", "state", "end", "exit_code", "problem", "output")
