"""Artifacts, what was drafted, what the gates said, and what was accepted."""

from __future__ import annotations

import json
from typing import Any, ClassVar

from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.utils.safestring import SafeString

from compaction.models import Acceptance, Artifact, Check, DraftRun, GateRun
from efforts.admin.base import ReadOnly, _, artifact_link, column, link, linked_all, links, pretty
from efforts.models import ContextPointer

from .changing import asked, judge_now, roll_back_all

of_family = column("family", _("Artifact"), artifact_link)
BY_ARTIFACT = ("artifact__id", "artifact__session__title", "artifact__session__id")


class OfArtifact(ReadOnly):
    """What was said of an artifact: joined to it, and to its page."""

    session_path = "artifact__session"

    @admin.display(description=_("On the page"))
    def on_page(self, row: Any) -> str:
        return link(_("Open"), "artifact", row.artifact_id) if row.artifact_id else "-"


@admin.register(Artifact)
class ArtifactAdmin(ReadOnly):
    list_display = (
        "short_id",
        "kind",
        "version",
        "state",
        "session",
        "effort",
        "source_start",
        "source_end",
        "created_at",
        "on_page",
    )
    list_filter = ("state", "kind", "schema_version")
    search_fields = ("id", "session__title", "session__id", "effort__slug")
    readonly_fields: ClassVar[Any] = (
        "of_checks",
        "gate_runs",
        "acceptances",
        "of_pointers",
        "of_versions",
        linked_all("claim_verdicts", "", "reviewer"),
        linked_all("reviews", "", "reviewer"),
        "set_aside",
        "whole_document",
        "on_page",
    )
    titles = {"set_aside": _("Findings set aside")}
    actions = ("roll_back", "judge_again")

    @admin.display(description=_("ID"), ordering="id")
    def short_id(self, row: Artifact) -> str:
        """The whole of it would leave no room for what it is of."""
        return row.pk[:12]

    @admin.display(description=_("Checks"))
    def of_checks(self, row: Artifact) -> SafeString:
        return links(Check.objects.filter(family=row.family))

    @admin.display(description=_("Pointers"))
    def of_pointers(self, row: Artifact) -> SafeString:
        return links(ContextPointer.objects.filter(artifact=row.pk).order_by("pk"))

    @admin.display(description=_("Versions"))
    def of_versions(self, row: Artifact) -> SafeString:
        return links(Artifact.objects.filter(family=row.family).order_by("version"))

    @admin.display(description=_("Document"))
    def whole_document(self, row: Artifact) -> SafeString:
        return pretty(json.loads(row.document))

    @admin.display(description=_("On the page"))
    def on_page(self, row: Artifact) -> str:
        return link(_("Open"), "artifact", row.pk)

    @admin.action(description=_("Roll back"), permissions=["view"])
    def roll_back(self, request: HttpRequest, rows: Any) -> HttpResponse | None:
        return asked(self, request, rows, "roll_back", roll_back_all)

    @admin.action(description=_("Judge again"), permissions=["view"])
    def judge_again(self, request: HttpRequest, rows: Any) -> HttpResponse | None:
        return asked(self, request, rows, "judge_again", judge_now)


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
        "session",
        "effort",
        "created_at",
        "on_page",
    )
    list_filter = ("ended", "purpose", "drafter", "model")
    search_fields = ("session__title", "session__id", "effort__slug", "model", "artifacts__id")
    readonly_fields = ("requests", "checks", "artifacts", "gate_runs", "on_page")


@admin.register(GateRun)
class GateRunAdmin(OfArtifact):
    session_path = "run__session"
    list_display = (
        "id",
        "passed",
        "tags",
        "artifact",
        "run",
        "evaluator_version",
        "policy_version",
        "created_at",
        "on_page",
    )
    list_filter = ("passed", "evaluator_version")
    search_fields = ("artifact__id", "run__session__title", "run__session__id")
    exclude = ("checks",)
    readonly_fields = ("of_checks", "on_page")
    titles = {"inputs": _("Judged by")}

    @admin.display(description=_("Checks"))
    def of_checks(self, row: GateRun) -> SafeString:
        return links(Check.objects.filter(pk__in=row.checks))


@admin.register(Acceptance)
class AcceptanceAdmin(OfArtifact):
    list_display = ("id", "artifact", "pointer", "gate_run", "actor", "via", "created_at", "on_page")
    list_filter = ("via",)
    search_fields = BY_ARTIFACT
    readonly_fields = ("on_page",)
