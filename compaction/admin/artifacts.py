"""Artifacts, what was drafted, what the gates said, and what was accepted."""

from __future__ import annotations

import json
from typing import Any

from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.utils.safestring import SafeString

from compaction.models import Acceptance, Artifact, Check, DraftRun, GateRun
from efforts.admin.base import ReadOnly, link, linked, linked_all, links, pretty, whole
from efforts.models import ContextPointer

from .changing import asked, judge_now, roll_back_all


@admin.register(Artifact)
class ArtifactAdmin(ReadOnly):
    list_display = (
        "short_id",
        "kind",
        "version",
        "state",
        "of_session",
        "of_effort",
        "source_start",
        "source_end",
        "created_at",
        "on_page",
    )
    list_filter = ("state", "kind", "schema_version")
    search_fields = ("id", "session__title", "session__id", "effort__slug")
    date_hierarchy = "created_at"
    list_select_related = ("session", "effort", "run")
    exclude = ("packed",)
    readonly_fields = (
        "of_session",
        "of_effort",
        "of_run",
        "of_checks",
        "of_gate_runs",
        "of_acceptances",
        "of_pointers",
        "of_versions",
        "of_verdicts",
        "of_reviews",
        "of_set_aside",
        "whole_document",
        "on_page",
    )
    actions = ("roll_back", "judge_again")
    of_session, of_effort, of_run = linked("session"), linked("effort"), linked("run")

    @admin.display(description="ID", ordering="id")
    def short_id(self, row: Artifact) -> str:
        """The whole of it would leave no room for what it is of."""
        return row.pk[:12]

    @admin.display(description="Checks")
    def of_checks(self, row: Artifact) -> SafeString:
        return links(Check.objects.filter(family=row.family))

    of_gate_runs = linked_all("gate_runs")
    of_acceptances = linked_all("acceptances")

    @admin.display(description="Pointers")
    def of_pointers(self, row: Artifact) -> SafeString:
        return links(ContextPointer.objects.filter(artifact=row.pk).order_by("pk"))

    @admin.display(description="Versions")
    def of_versions(self, row: Artifact) -> SafeString:
        return links(Artifact.objects.filter(family=row.family).order_by("version"))

    of_verdicts = linked_all("claim_verdicts", "Claim verdicts", "reviewer")
    of_reviews = linked_all("reviews", "Reviews", "reviewer")
    of_set_aside = linked_all("set_aside", "Findings set aside")

    @admin.display(description="Document")
    def whole_document(self, row: Artifact) -> SafeString:
        return pretty(json.loads(row.document))

    @admin.display(description="On the page")
    def on_page(self, row: Artifact) -> str:
        return link("Open", "artifact", row.pk)

    @admin.action(description="Roll back", permissions=["view"])
    def roll_back(self, request: HttpRequest, rows: Any) -> HttpResponse | None:
        return asked(self, request, rows, "roll_back", "Roll back", roll_back_all)

    @admin.action(description="Judge again", permissions=["view"])
    def judge_again(self, request: HttpRequest, rows: Any) -> HttpResponse | None:
        return asked(self, request, rows, "judge_again", "Judge again", judge_now)


@admin.register(DraftRun)
class DraftRunAdmin(ReadOnly):
    list_display = (
        "id",
        "purpose",
        "drafter",
        "model",
        "ended",
        "tokens",
        "elapsed_ms",
        "of_session",
        "of_effort",
        "created_at",
        "on_page",
    )
    list_filter = ("ended", "purpose", "drafter", "model")
    search_fields = ("session__title", "session__id", "effort__slug", "model", "artifacts__id")
    date_hierarchy = "created_at"
    list_select_related = ("session", "effort")
    exclude = ("spent",)
    readonly_fields = ("of_requests", "of_checks", "of_artifacts", "of_gate_runs", "whole_spent", "on_page")
    of_session, of_effort = linked("session"), linked("effort")
    of_artifacts = linked_all("artifacts")
    of_gate_runs = linked_all("gate_runs")
    of_requests = linked_all("requests")
    of_checks = linked_all("checks")
    whole_spent = whole("spent")


@admin.register(GateRun)
class GateRunAdmin(ReadOnly):
    owner_path = "run__session__owner"
    session_path = "run__session"
    list_display = (
        "id",
        "passed",
        "tags",
        "of_artifact",
        "of_run",
        "evaluator_version",
        "policy_version",
        "created_at",
        "on_page",
    )
    list_filter = ("passed", "evaluator_version")
    search_fields = ("artifact__id", "run__session__title", "run__session__id")
    date_hierarchy = "created_at"
    list_select_related = ("artifact", "run__session")
    exclude = ("inputs", "verdicts", "checks")
    readonly_fields = ("of_artifact", "of_run", "of_checks", "whole_verdicts", "whole_inputs", "on_page")
    of_artifact, of_run = linked("artifact"), linked("run")
    whole_verdicts = whole("verdicts")

    @admin.display(description="Checks")
    def of_checks(self, row: GateRun) -> SafeString:
        return links(Check.objects.filter(pk__in=row.checks))

    whole_inputs = whole("inputs", "Judged by")

    @admin.display(description="On the page")
    def on_page(self, row: GateRun) -> str:
        return link("Open", "artifact", row.artifact_id) if row.artifact_id else "-"


@admin.register(Acceptance)
class AcceptanceAdmin(ReadOnly):
    owner_path = "artifact__session__owner"
    session_path = "artifact__session"
    list_display = ("id", "of_artifact", "of_pointer", "of_gate_run", "actor", "via", "created_at", "on_page")
    list_filter = ("via",)
    search_fields = ("artifact__id", "artifact__session__title", "artifact__session__id")
    date_hierarchy = "created_at"
    list_select_related = ("artifact__session", "pointer", "gate_run", "actor")
    of_artifact, of_pointer, of_gate_run = linked("artifact"), linked("pointer"), linked("gate_run")

    @admin.display(description="On the page")
    def on_page(self, row: Acceptance) -> str:
        return link("Open", "artifact", row.artifact_id)
