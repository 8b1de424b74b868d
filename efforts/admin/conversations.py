"""Conversations: sessions, branches, turns, runs, messages, plans."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db import models
from django.http import HttpRequest
from django.utils.safestring import SafeString

from efforts.models import Branch, ContextPlan, Message, Run, Session, Turn

from .base import ReadOnly, link, linked, linked_all, links, whole


@admin.register(Session)
class SessionAdmin(ReadOnly):
    owner_path = "owner"
    session_path = ""
    list_display = ("__str__", "owner", "model", "budget", "event_seq", "last_activity_at", "archived_at", "on_page")
    list_filter = ("archived_at", "is_example", "model")
    search_fields = ("id", "title", "owner__username")
    date_hierarchy = "created_at"
    list_select_related = ("owner",)


@admin.register(Branch)
class BranchAdmin(ReadOnly):
    list_display = ("id", "name", "of_session", "head", "clock", "parent", "fork_turn", "created_at", "on_page")
    search_fields = ("id", "name", "session__title", "session__id")
    owner_path = "session__owner"
    list_select_related = ("session", "parent")

    of_session = linked("session")


@admin.register(Turn)
class TurnAdmin(ReadOnly):
    list_display = ("id", "number", "of_session", "of_run", "of_efforts", "tokens", "created_at", "on_page")
    list_filter = ("run__state",)
    search_fields = ("session__title", "session__id", "messages__text", "client_id")
    date_hierarchy = "created_at"
    list_select_related = ("session", "run__turn")
    readonly_fields = ("of_efforts",)

    def get_queryset(self, request: HttpRequest) -> models.QuerySet[Any]:
        return super().get_queryset(request).prefetch_related("labels__effort")

    @admin.display(description="Effort")
    def of_efforts(self, row: Turn) -> SafeString:
        return links(label.effort for label in row.labels.all())

    of_session = linked("session")

    of_run = linked("run")


@admin.register(Run)
class RunAdmin(ReadOnly):
    owner_path = "turn__session__owner"
    session_path = "turn__session"
    list_display = (
        "id",
        "state",
        "of_turn",
        "attempt",
        "error_code",
        "created_at",
        "started_at",
        "ended_at",
        "on_page",
    )
    list_filter = ("state", "error_code")
    search_fields = ("id", "turn__session__title", "turn__session__id", "error_text")
    date_hierarchy = "created_at"
    list_select_related = ("turn__session",)
    exclude = ("settings",)
    readonly_fields = ("made_with", "of_turn", "of_plans")

    of_turn = linked("turn")
    made_with = whole("settings", "Made with")
    of_plans = linked_all("plans")


@admin.register(Message)
class MessageAdmin(ReadOnly):
    list_display = ("id", "role", "beginning", "tokens", "of_turn", "of_session", "created_at", "on_page")
    list_filter = ("role", "tool_name")
    search_fields = ("text", "session__title", "session__id", "tool_call_id")
    date_hierarchy = "created_at"
    list_select_related = ("session", "turn")

    @admin.display(description="Text")
    def beginning(self, row: Message) -> str:
        return row.text[:80]

    of_turn = linked("turn")

    of_session = linked("session")


@admin.register(ContextPlan)
class ContextPlanAdmin(ReadOnly):
    list_display = ("id", "call", "tokens", "prompt_tokens", "budget", "of_run", "of_session", "created_at", "opened")
    list_filter = ("planner_version", "encoding")
    search_fields = ("id", "run__id", "session__title", "session__id", "request_sha256")
    date_hierarchy = "created_at"
    list_select_related = ("session", "run__turn")
    exclude = ("body",)
    readonly_fields = ("whole_body",)

    of_run = linked("run")

    of_session = linked("session")

    @admin.display(description="On the page")
    def opened(self, row: ContextPlan) -> str:
        return link("Open", "plan", row.session_id, row.pk)

    whole_body = whole("body")
