"""Conversations: sessions, branches, turns, runs, messages, plans."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db import models
from django.http import HttpRequest
from django.utils.safestring import SafeString

from efforts.models import Branch, ContextPlan, Message, Run, Session, Turn

from .base import ReadOnly, _, link, links


@admin.register(Session)
class SessionAdmin(ReadOnly):
    owner_path = "owner"
    session_path = ""
    list_display = ("__str__", "owner", "model", "budget", "event_seq", "last_activity_at", "archived_at", "on_page")
    list_filter = ("archived_at", "is_example", "model")
    search_fields = ("id", "title", "owner__username")


@admin.register(Branch)
class BranchAdmin(ReadOnly):
    list_display = ("id", "name", "session", "head", "clock", "parent", "fork_turn", "created_at", "on_page")
    search_fields = ("id", "name", "session__title", "session__id")


@admin.register(Turn)
class TurnAdmin(ReadOnly):
    list_display = ("id", "number", "session", "run", "of_efforts", "tokens", "created_at", "on_page")
    list_filter = ("run__state",)
    search_fields = ("session__title", "session__id", "messages__text", "client_id")
    list_select_related = ("session", "run__turn")
    readonly_fields = ("of_efforts",)

    def get_queryset(self, request: HttpRequest) -> models.QuerySet[Any]:
        return super().get_queryset(request).prefetch_related("labels__effort")

    @admin.display(description=_("Effort"))
    def of_efforts(self, row: Turn) -> SafeString:
        return links(label.effort for label in row.labels.all())


@admin.register(Run)
class RunAdmin(ReadOnly):
    session_path = "turn__session"
    list_display = (
        "id",
        "state",
        "turn",
        "attempt",
        "error_code",
        "created_at",
        "started_at",
        "ended_at",
        "on_page",
    )
    list_filter = ("state", "error_code")
    search_fields = ("id", "turn__session__title", "turn__session__id", "error_text")
    readonly_fields = ("plans",)
    titles = {"settings": _("Made with")}


@admin.register(Message)
class MessageAdmin(ReadOnly):
    list_display = ("id", "role", "beginning", "tokens", "turn", "session", "created_at", "on_page")
    list_filter = ("role", "tool_name")
    search_fields = ("text", "session__title", "session__id", "tool_call_id")


@admin.register(ContextPlan)
class ContextPlanAdmin(ReadOnly):
    list_display = ("id", "call", "tokens", "prompt_tokens", "budget", "run", "session", "created_at", "opened")
    list_filter = ("planner_version", "encoding")
    search_fields = ("id", "run__id", "session__title", "session__id", "request_sha256")
    list_select_related = ("session", "run__turn")

    @admin.display(description=_("On the page"))
    def opened(self, row: ContextPlan) -> str:
        return link(_("Open"), "plan", row.session_id, row.pk)
