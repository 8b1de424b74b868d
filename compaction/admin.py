"""Artifacts, what was drafted and what the gates said: to look at. Changes go through the page."""

from __future__ import annotations

from django.contrib import admin

from efforts.admin.base import ReadOnly, linked

from .models import Acceptance, Artifact, DraftRun, GateRun


@admin.register(Artifact)
class ArtifactAdmin(ReadOnly):
    list_display = ("id", "kind", "state", "of_effort", "source_start", "source_end", "of_run", "created_at", "on_page")
    list_filter = ("state", "kind")
    search_fields = ("id", "session__title", "session__id", "effort__slug")
    date_hierarchy = "created_at"
    list_select_related = ("session", "effort", "run")
    of_effort, of_run = linked("effort"), linked("run")


@admin.register(DraftRun)
class DraftRunAdmin(ReadOnly):
    list_display = ("id", "drafter", "model", "ended", "tokens", "elapsed_ms", "of_effort", "created_at", "on_page")
    list_filter = ("ended", "drafter", "model")
    search_fields = ("session__title", "session__id", "effort__slug")
    date_hierarchy = "created_at"
    list_select_related = ("session", "effort")
    of_effort = linked("effort")


@admin.register(GateRun)
class GateRunAdmin(ReadOnly):
    list_display = (
        "id",
        "passed",
        "tags",
        "of_artifact",
        "of_run",
        "evaluator_version",
        "policy_version",
        "created_at",
    )
    list_filter = ("passed", "evaluator_version")
    search_fields = ("artifact__id", "run__session__title", "run__session__id")
    date_hierarchy = "created_at"
    list_select_related = ("artifact", "run")
    of_artifact, of_run = linked("artifact"), linked("run")


@admin.register(Acceptance)
class AcceptanceAdmin(ReadOnly):
    list_display = ("id", "of_artifact", "of_pointer", "actor", "via", "created_at")
    list_filter = ("via",)
    search_fields = ("artifact__id", "artifact__session__title", "artifact__session__id")
    date_hierarchy = "created_at"
    list_select_related = ("artifact", "pointer", "actor")
    of_artifact, of_pointer = linked("artifact"), linked("pointer")
