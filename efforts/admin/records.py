"""What came of model calls: tools, searches, verdicts."""

from __future__ import annotations

from typing import Any

from django.contrib import admin

from efforts.models import RetrievalSet, ToolTrace, Verdict

from .base import ReadOnly, _, link


class OfCalls(ReadOnly):
    """What came of a call: joined to its run and its plan."""

    list_select_related = ("session", "run__turn")

    @admin.display(description=_("Plan"))
    def of_plan(self, row: Any) -> str:
        return link(_("Open"), "plan", row.session_id, row.plan_id) if row.plan_id else "-"


@admin.register(ToolTrace)
class ToolTraceAdmin(OfCalls):
    list_display = ("id", "name", "error", "elapsed_ms", "run", "of_plan", "created_at", "on_page")
    list_filter = ("name",)
    search_fields = ("name", "error", "tool_call_id", "session__title", "session__id")


@admin.register(RetrievalSet)
class RetrievalSetAdmin(OfCalls):
    list_display = ("id", "query", "strategy", "trigger", "found", "run", "of_plan", "created_at", "on_page")
    list_filter = ("strategy", "trigger")
    search_fields = ("id", "query", "result_hash", "session__title", "session__id")


@admin.register(Verdict)
class VerdictAdmin(OfCalls):
    list_display = ("id", "value", "why", "run", "actor", "changed_at", "on_page")
    list_filter = ("value",)
    search_fields = ("why", "session__title", "session__id")
