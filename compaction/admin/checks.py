"""Checks and exams: what was asked of checkers, to the byte, what they answered, and what was planted."""

from __future__ import annotations

from django.contrib import admin
from django.utils.safestring import SafeString

from compaction.models import Artifact, Check, Checker, CheckerRefused, Exam, GateRun, ModelRequest, Planted, Recheck
from efforts.admin.base import ReadOnly, _, link, links, pretty
from efforts.models import Session

from .artifacts import BY_ARTIFACT, OfArtifact, of_family


@admin.register(Check)
class CheckAdmin(ReadOnly):
    session_path = "run__session"
    list_display = (
        "id",
        "model",
        "provider",
        "examined",
        "void",
        "caught",
        "planted",
        "tokens",
        "run",
        of_family,
        "created_at",
        "on_page",
    )
    list_filter = ("examined", "model")
    search_fields = ("family", "void", "run__session__title", "run__session__id")
    readonly_fields = ("of_versions", "of_exams", "requests", "planted_rows", "of_gate_runs", "on_page")
    titles = {"planted_rows": _("Planted"), "listed": _("Listed before")}

    @admin.display(description=_("Versions it was read for"))
    def of_versions(self, row: Check) -> SafeString:
        return links(Artifact.objects.filter(family=row.family).order_by("version") if row.family else ())

    @admin.display(description=_("Exams of its model"))
    def of_exams(self, row: Check) -> SafeString:
        owner = row.run.session.owner_id
        return links(Exam.objects.filter(owner=owner, provider=row.provider, model=row.model, version=row.version))

    @admin.display(description=_("Gate runs of its draft"))
    def of_gate_runs(self, row: Check) -> SafeString:
        return links(GateRun.objects.filter(artifact__family=row.family) if row.family else ())


@admin.register(Exam)
class ExamAdmin(ReadOnly):
    owner_path = "owner"
    session_path = ""
    list_display = (
        "id",
        "owner",
        "model",
        "provider",
        "passed",
        "caught",
        "wrong",
        "doubted",
        "true",
        "tokens",
        "created_at",
        "on_page",
    )
    list_filter = ("passed", "model")
    search_fields = ("model", "provider", "owner__username")
    readonly_fields = ("requests", "of_checks", "on_page")

    @admin.display(description=_("Checks by its model"))
    def of_checks(self, row: Exam) -> SafeString:
        same = {"provider": row.provider, "model": row.model, "version": row.version}
        return links(Check.objects.filter(run__session__owner=row.owner_id, **same))

    @admin.display(description=_("On the page"))
    def on_page(self, row: Exam) -> str:
        return link(_("Open"), "checkers")


@admin.register(ModelRequest)
class ModelRequestAdmin(ReadOnly):
    """Of a draft, a check or an exam."""

    session_path = "run__session"
    other_owner_paths = ("check_made__run__session__owner", "exam__owner")
    list_display = ("id", "step", "place", "run", "check_made", "exam", "stop_reason", "tokens", "elapsed_ms")
    list_filter = ("step", "stop_reason")
    search_fields = ("key", "run__session__title", "check_made__run__session__title")
    list_select_related = ("check_made__run__session",)
    readonly_fields = ("planted", "whole_messages", "on_page")
    titles = {"notes": _("What its numbers stand for")}

    def session_of(self, row: ModelRequest) -> Session | None:
        run = row.run or (row.check_made.run if row.check_made else None)
        return run.session if run else None

    @admin.display(description=_("Messages"))
    def whole_messages(self, row: ModelRequest) -> SafeString:
        return pretty(row.messages or str(_("Not kept any more.")))


@admin.register(Planted)
class PlantedAdmin(ReadOnly):
    session_path = "check_made__run__session"
    list_display = ("id", "role", "kind", "number", "held", "check_made", "request", "on_page")
    list_filter = ("role", "kind", "held")
    search_fields = ("kind", "check_made__model", "check_made__run__session__title")


@admin.register(Recheck)
class RecheckAdmin(OfArtifact):
    list_display = ("id", "state", "why", "artifact", "created_at", "on_page")
    list_filter = ("state",)
    search_fields = (*BY_ARTIFACT, "why")


@admin.register(Checker)
class CheckerAdmin(ReadOnly):
    owner_path = "user"
    session_path = ""
    list_display = ("user", "endpoint", "model", "chosen_at")
    search_fields = ("user__username", "model")


@admin.register(CheckerRefused)
class CheckerRefusedAdmin(ReadOnly):
    list_display = ("id", "session", "on_page")
    search_fields = ("session__title", "session__id")
